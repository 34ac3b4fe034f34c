//! First requests of each step as the workers would write them, computed without a peer.

use std::collections::BTreeMap;

use load::Load;
use wire::{Channel, Channels, Event, Next, PeerStep, Ticket};

use crate::iterations::Iterations;
use crate::job::Job;
use crate::user::User;

/// Max iterations that are simulated to find steps that occur rarely.
const ITERATIONS_MAX: u32 = 10_000;
/// Max answers and pauses within one request.
const TURNS_MAX: usize = 10_000;
/// Max bytes of a request that are kept.
const BYTES_MAX: usize = 64 * 1024;

/// First requests of a step.
#[derive(Clone, Debug, Default)]
pub struct FirstRequests {
    /// Bytes of each request, up to 64 KiB, in the order of users, or of arrivals.
    pub sent: Vec<Vec<u8>>,
}

/// Returns up to `max_requests` first requests of each step: from the first iterations of users 1, 2, and so on, or from the first
/// arrivals. `saved` supplies a value for each variable that a reply would set. Conditions are assumed to hold.
pub fn first_requests(
    job: &Job,
    script: &dyn Channels,
    max_requests: usize,
    saved: &[(u16, Vec<u8>)],
) -> Vec<FirstRequests> {
    let is_embedded =
        (0..job.scenarios.steps()).any(|step| script.is_in_process(script.place(step as u16).peer));
    let threads = if is_embedded { job.connections() } else { job.threads }.max(1);
    let workers = (0..threads).map(|thread| {
        let share = job.share_of(thread, is_embedded);
        (Iterations::new(job, script, share), share)
    });
    let mut rehearsal = Simulation {
        script,
        max_requests,
        saved,
        requests: vec![FirstRequests::default(); job.scenarios.steps()],
        channels: BTreeMap::new(),
    };
    let mut workers: Vec<_> = workers.collect();
    let of_whole: u64 = match &job.load {
        Load::Closed(closed) => closed.users.into(),
        Load::Open(open) => open.connections.into(),
    };
    let mut users: BTreeMap<u64, User> = BTreeMap::new();
    for turn in 0..u64::from(ITERATIONS_MAX) {
        // Workers take turns, each with the first of its users or arrivals.
        let (thread, place) = (turn as usize % workers.len(), turn / workers.len() as u64);
        let (iterations, share) = &mut workers[thread];
        let number = share.first_of(of_whole) + place % share.of_total(of_whole).max(1);
        let user = users.entry(number).or_insert_with(|| iterations.user(job, number));
        if !user.has_run_once_steps {
            rehearsal.iterate(iterations, user, number);
            user.has_run_once_steps = true;
        }
        if matches!(job.load, Load::Open(_)) {
            user.chance = iterations.chance(turn);
        }
        rehearsal.iterate(iterations, user, number);
        if rehearsal.is_complete(job) {
            break;
        }
    }
    rehearsal.requests
}

struct Simulation<'a> {
    script: &'a dyn Channels,
    max_requests: usize,
    saved: &'a [(u16, Vec<u8>)],
    requests: Vec<FirstRequests>,
    /// By peer and number of the user.
    channels: BTreeMap<(u16, u64), Box<dyn Channel>>,
}

impl Simulation<'_> {
    fn is_complete(&self, job: &Job) -> bool {
        job.scenarios
            .visits()
            .all(|visit| self.requests[usize::from(visit.step)].sent.len() >= self.max_requests)
    }

    /// Runs one iteration of a user.
    fn iterate(&mut self, iterations: &mut Iterations, user: &mut User, number: u64) {
        iterations.begin(number as u32, user, 0);
        self.saved.iter().for_each(|(variable, value)| user.values.set(*variable, value));
        loop {
            let step = iterations.visit(user.place).step;
            if self.requests[usize::from(step)].sent.len() < self.max_requests {
                let sent = self.exchange(step, user, number);
                self.requests[usize::from(step)].sent.push(sent);
            }
            match iterations.place_after(user) {
                Some(place) => user.place = place,
                None => return,
            }
        }
    }

    /// Returns the bytes of one request, or of all statements of a transaction.
    fn exchange(&mut self, step: u16, user: &User, number: u64) -> Vec<u8> {
        let peer = self.script.route(step, &user.values);
        let PeerStep { step, .. } = self.script.place(step);
        let script = self.script;
        let channel = self.channels.entry((peer, number)).or_insert_with(|| script.open(peer, number as u32));
        let (mut bytes, ticket) = (Vec::new(), Ticket(0));
        let mut next = channel.begin(ticket, step, &user.values);
        for _ in 0..TURNS_MAX {
            next = match next {
                Next::Send => {
                    take_outgoing(&mut **channel, &mut bytes);
                    Next::Await
                }
                // The session that records SQL as text answers immediately. Other channels have no answer here and end the loop.
                Next::Await => match channel.received(&[]) {
                    Ok(Some((_, Event::PartReplied { next, .. }))) => next,
                    Ok(
                        Some((_, Event::Replied { .. } | Event::Redirected { .. } | Event::Failed { .. }))
                        | None,
                    )
                    | Err(_) => break,
                },
                Next::Pause { .. } => channel.resume(ticket),
                Next::Done(_) | Next::Reopen | Next::Broken(_) => break,
            };
        }
        if !channel.is_idle() {
            channel.forget();
        }
        bytes
    }
}

fn take_outgoing(channel: &mut dyn Channel, bytes: &mut Vec<u8>) {
    loop {
        let outgoing = channel.outgoing();
        let count = outgoing.len();
        if count == 0 {
            return;
        }
        let room = BYTES_MAX.saturating_sub(bytes.len());
        bytes.extend_from_slice(&outgoing[..count.min(room)]);
        channel.sent(count);
    }
}
