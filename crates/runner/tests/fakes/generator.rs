//! Fake generator: one user sends one request after another, 100 per second unless the world sets another pace, without real time.

use std::collections::VecDeque;
use std::io;
use std::sync::mpsc::RecvTimeoutError;
use std::time::Duration;

use engine::{Message, StopLevel, WorkerEnd};
use plan::{Fault, Plan, Tables, Transactions};
use progress::{Filling, RunEvent, Stream};
use record::{ConnectionTotals, Finish, Health, Interval, OpenParts, Outcome, Phase, Presence, Pulse, Tally};
use runner::{
    Clock, DatabaseFacts, FillError, Generator, Machine, Prepared, Ready, Refusal, RunningLoad, Share,
    Stopper, Usage,
};

use super::World;

const SECOND_NS: u64 = 1_000_000_000;
/// Time to open the connections.
const OPENING: Duration = Duration::from_millis(30);

/// Port at which the fake lab starts the target that answers at once.
const TARGET_PORT: u16 = 20_001;

impl Generator for World {
    fn machine(&self) -> Machine {
        let cores = (0..self.state().pace.cores).collect();
        Machine { facts: serde_json::json!({ "name": "world" }), processor: "abacus".to_owned(), cores }
    }

    fn usage(&self) -> Usage {
        let percent = self.state().pace.cpu_percent as f64;
        let cpu_user_s = self.elapsed().as_secs_f64() * percent / 100.0;
        Usage { cpu_user_s, cpu_sys_s: 0.0, rss_peak_bytes: 1 << 20 }
    }

    fn load_data(
        &self,
        _plan: &Plan,
        _tables: &Tables,
        _stopper: &Stopper,
        stream: &Stream,
    ) -> Result<(), FillError> {
        stream.publish(None, RunEvent::Filling(Filling::Begins));
        match self.moment("load data") {
            true => Err(Refusal::Plan(Fault::new("tables", "there is no room", "make some")).into()),
            false => Ok(()),
        }
    }

    fn prepare(&self, plan: &Plan, stopper: &Stopper) -> Result<Prepared, Refusal> {
        let pace = self.state().pace;
        let is_target =
            Transactions::in_plan(plan).next().is_none() && plan.endpoint().peer().port == TARGET_PORT;
        let threads = plan.threads.unwrap_or(1);
        let of = if is_target { "target: " } else { "" };
        let per_s = match (is_target, threads) {
            (true, _) => pace.target_per_s,
            (false, 1) => pace.per_s,
            (false, _) => pace.per_s_with_more_threads,
        };
        let fails = self.moment(&format!("{of}prepare"));
        if stopper.level() != StopLevel::Go {
            return Err(Refusal::Stopped);
        }
        if fails {
            return Err(Refusal::Plan(Fault::new("url", "nobody listens", "start it")));
        }
        let length_ns = plan.stop.at_ns.unwrap_or(SECOND_NS);
        Ok(Prepared {
            is_certificate_missing: false,
            threads,
            thread_rule: Some(evidence::ThreadRule::Requested),
            cores: Vec::new(),
            endpoints: Vec::new(),
            memory_bound_bytes: 1 << 20,
            resolved: None,
            tls: None,
            learnt: DatabaseFacts::default(),
            discovered: None,
            replayed: None,
            running: None,
            ready: Box::new(FakeLoad {
                world: self.clone(),
                of,
                threads,
                each_ns: SECOND_NS / per_s,
                cpu_percent: pace.cpu_percent,
                warm_up_ns: plan.warm_up_ns,
                length_ns,
            }),
        })
    }
}

/// A load of a given length.
#[derive(Debug)]
struct FakeLoad {
    world: World,
    /// Prefix of the names of its moments.
    of: &'static str,
    threads: u32,
    each_ns: u64,
    cpu_percent: u64,
    warm_up_ns: u64,
    length_ns: u64,
}

impl FakeLoad {
    fn moment(&self, name: &str) -> bool {
        self.world.moment(&format!("{}{name}", self.of))
    }

    fn fails_at(&self, name: &str) -> bool {
        self.world.state().trouble == Some(format!("{}{name}", self.of)).as_deref()
    }
}

impl Ready for FakeLoad {
    fn with_quoted_replies(self: Box<Self>) -> Box<dyn Ready> {
        self
    }

    fn start(self: Box<Self>, share: Share) -> io::Result<Box<dyn RunningLoad>> {
        if self.moment("load starts") {
            return Err(io::Error::other("no thread"));
        }
        self.world.state().loads_running += 1;
        self.world.pass(OPENING);
        let began = self.world.elapsed();
        let mut messages = VecDeque::new();
        messages.push_back((0, Message::Begins(self.world.now())));
        let mut load = Fake { load: *self, share, began, messages, at_ns: 0, ends_ns: 0, is_over: false };
        load.ends_ns = load.load.length_ns;
        Ok(Box::new(load))
    }
}

#[derive(Debug)]
struct Fake {
    load: FakeLoad,
    /// Share of the requests that is sent here.
    share: Share,
    /// Start of the load in the time of the world.
    began: Duration,
    /// Messages with the time at which they are due, since the start of the load.
    messages: VecDeque<(u64, Message)>,
    /// Time up to which messages were returned or are queued.
    at_ns: u64,
    ends_ns: u64,
    is_over: bool,
}

impl Fake {
    fn elapsed_ns(&self) -> u64 {
        (self.load.world.elapsed() - self.began).as_nanos() as u64
    }

    /// Queues the messages at the end of the next second, or of the load.
    fn go_on(&mut self) {
        let from_ns = self.at_ns;
        let to_ns = self.ends_ns.min((from_ns / SECOND_NS + 1) * SECOND_NS).max(from_ns);
        self.at_ns = to_ns;
        for (phase, begin_ns, end_ns) in [
            (Phase::WarmUp, from_ns, to_ns.min(self.load.warm_up_ns)),
            (Phase::Measured, from_ns.max(self.load.warm_up_ns), to_ns),
        ] {
            if begin_ns < end_ns {
                let tally = self.tally(begin_ns, end_ns, phase);
                let interval = Interval { second: from_ns / SECOND_NS, phase, tally, sampled: Vec::new() };
                self.messages.push_back((to_ns, Message::Interval { step: 0, interval: Box::new(interval) }));
            }
        }
        if to_ns < self.ends_ns {
            return;
        }
        self.is_over = true;
        if self.load.moment("worker breaks") {
            self.messages.push_back((to_ns, Message::Broke("load thread 0 cannot go on".to_owned())));
        } else if self.load.moment("load is hopeless") {
            self.messages.push_back((to_ns, Message::Unrecoverable("no user may log in".to_owned())));
        } else if !self.load.moment("worker vanishes") {
            self.end(to_ns);
        }
    }

    /// Reports the end of every worker. The first worker has the connection.
    fn end(&mut self, to_ns: u64) {
        let (each_ns, requests) = (self.load.each_ns, self.requests(0, to_ns).count() as u64);
        let connection = ConnectionTotals {
            requests,
            response_sum_ns: requests * each_ns,
            response_max_ns: each_ns,
            has_request: true,
            has_reply: requests > 0,
        };
        let cpu_ns = to_ns / 100 * self.load.cpu_percent;
        for worker in 0..self.load.threads {
            let end = WorkerEnd {
                connections: if worker == 0 { vec![connection] } else { Vec::new() },
                health: Health { wall_ns: to_ns, cpu_ns, ..Health::default() },
                stopped_at_ns: Some(to_ns),
                ..WorkerEnd::default()
            };
            self.messages.push_back((to_ns, Message::Ended(Box::new(end))));
        }
    }

    /// Numbers of the complete requests between two times, within the share.
    fn requests(&self, from_ns: u64, to_ns: u64) -> impl Iterator<Item = u64> + use<> {
        let (each_ns, Share { index, of }) = (self.load.each_ns, self.share);
        let all = from_ns.div_ceil(each_ns)..to_ns / each_ns;
        all.filter(move |number| number % u64::from(of) == u64::from(index))
    }

    /// Tally of the complete requests between two times. Also queues the pulses of that time.
    fn tally(&mut self, from_ns: u64, to_ns: u64, phase: Phase) -> Tally {
        let mut tally = Tally::default();
        let rejects = self.load.world.state().rejects;
        let outcome = if rejects { Outcome::Rejected } else { Outcome::Ok };
        let each_ns = self.load.each_ns;
        for number in self.requests(from_ns, to_ns) {
            let sent_ns = number * each_ns;
            let finished_ns = sent_ns + each_ns;
            tally.note_sent(sent_ns);
            tally.note_finished(&Finish {
                intended_ns: sent_ns,
                sent_ns,
                first_byte_ns: Some(finished_ns),
                finished_ns,
                outcome,
                status: if rejects { 400 } else { 200 },
            });
            if phase == Phase::Measured {
                *(if rejects { &mut tally.window.rejected } else { &mut tally.window.ok }) += 1;
            }
        }
        let mut at_ns = from_ns;
        while at_ns < to_ns {
            let lasting_ns = (to_ns - at_ns).min(Pulse::WINDOW_NS - at_ns % Pulse::WINDOW_NS);
            let ended = self.requests(at_ns, at_ns + lasting_ns).count() as u64;
            let ok = if rejects { 0 } else { ended };
            let presence = Presence {
                first_ok_ns: (ok > 0).then_some(at_ns + each_ns),
                last_ok_ns: (ok > 0).then_some(at_ns + lasting_ns),
                asked_ns: Some(at_ns),
                asked: OpenParts::ALL,
                ..Presence::default()
            };
            let pulse = Pulse {
                at_ns: at_ns / Pulse::WINDOW_NS * Pulse::WINDOW_NS,
                lasting_ns,
                ended,
                response_sum_ns: ended * each_ns,
                ok,
                ok_response_sum_ns: ok * each_ns,
                in_flight_ns: ended * each_ns,
                cpu_ns: lasting_ns / 100 * self.load.cpu_percent,
                presence,
                ..Pulse::default()
            };
            self.messages.push_back((at_ns + lasting_ns, Message::Pulse { worker: 0, pulse }));
            at_ns += lasting_ns;
        }
        tally
    }
}

impl RunningLoad for Fake {
    fn next(&mut self, wait: Duration) -> Result<Message, RecvTimeoutError> {
        let world = self.load.world.clone();
        if self.messages.is_empty() && !self.is_over {
            self.go_on();
        }
        let Some((due_ns, _)) = self.messages.front() else { return Err(RecvTimeoutError::Disconnected) };
        let left = Duration::from_nanos(due_ns.saturating_sub(self.elapsed_ns()));
        if left > wait || self.load.fails_at("load hangs") {
            world.pass(wait);
            self.load.moment("quiet");
            return Err(RecvTimeoutError::Timeout);
        }
        world.pass(left);
        let message = self.messages.pop_front().map(|(_, message)| message);
        if matches!(message, Some(Message::Interval { .. })) {
            self.load.moment("second");
        }
        message.ok_or(RecvTimeoutError::Disconnected)
    }

    fn stop(&mut self, level: StopLevel) {
        if level == StopLevel::Go {
            return;
        }
        // Messages that are not queued yet end at the current time.
        let now_ns = self.elapsed_ns();
        if level == StopLevel::Abort && self.load.fails_at("load hangs") {
            self.load.world.state().trouble = None;
        }
        if !self.is_over && now_ns < self.ends_ns {
            self.ends_ns = now_ns.max(self.at_ns);
        }
    }

    fn join(self: Box<Self>) -> Result<(), Vec<String>> {
        let vanished = self.load.fails_at("worker vanishes");
        match self.load.moment("load is joined") || vanished {
            true => Err(vec!["thread load-0 died of an internal fault".to_owned()]),
            false => Ok(()),
        }
    }
}

impl Drop for Fake {
    fn drop(&mut self) {
        self.load.world.state().loads_running -= 1;
    }
}
