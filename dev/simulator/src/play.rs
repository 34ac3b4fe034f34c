//! Simulates a load on a queue, from its first request to its last reply.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use load::{Closed, Load, Open, Share};
use record::{Finish, Outcome, Recorder};

use crate::connections::Connections;
use crate::freeze::Freeze;
use crate::played::Played;
use crate::queue::{Queue, Serving};

/// Times of a load, in nanoseconds since its start.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LoadTimes {
    /// End of the warm-up. Requests scheduled earlier are excluded from figures.
    pub warm_up_ns: u64,
    /// End of the load. Requests scheduled at this time or later are not sent; requests in flight finish.
    pub stop_ns: u64,
}

/// Simulates a load on a queue. Equal load, queue, and seed give equal runs. `seed` seeds the service times.
pub fn play(load: &Load, queue: &Queue, times: LoadTimes, seed: u64) -> Played {
    play_frozen(load, queue, Freeze::default(), times, seed)
}

/// Simulates a load like [`play`], with a freeze of the queue.
pub fn play_frozen(load: &Load, queue: &Queue, freeze: Freeze, times: LoadTimes, seed: u64) -> Played {
    let mut notebook = Notebook {
        recorder: Recorder::new((times.warm_up_ns, times.stop_ns), 0),
        played: Played::new(times.warm_up_ns, times.stop_ns),
    };
    let mut serving = Serving::new(queue, freeze, seed);
    match load {
        Load::Open(open) => play_open(open, &mut serving, times, &mut notebook),
        Load::Closed(closed) => play_closed(closed, &mut serving, times, &mut notebook),
    }
    notebook.close()
}

fn play_open(open: &Open, serving: &mut Serving, times: LoadTimes, notebook: &mut Notebook) {
    let mut connections = Connections::new(open.connections);
    for intended_ns in open.arrivals(Share::WHOLE).take_while(|intended_ns| *intended_ns < times.stop_ns) {
        let sent_ns = connections.take(intended_ns);
        if open.shed_after_ns.is_some_and(|after_ns| sent_ns - intended_ns > after_ns) {
            connections.occupy_until(sent_ns);
            notebook.not_sent(intended_ns);
            continue;
        }
        let finished_ns = serving.serve(sent_ns);
        connections.occupy_until(finished_ns);
        notebook.note(intended_ns, sent_ns, finished_ns);
    }
}

fn play_closed(closed: &Closed, serving: &mut Serving, times: LoadTimes, notebook: &mut Notebook) {
    let mut cadence = closed.cadence(Share::WHOLE);
    // Users ordered by the time of their next requests.
    let mut users: BinaryHeap<Reverse<u64>> = (0..u64::from(closed.users))
        .map(|number| Reverse(cadence.first(closed.arrival_ns(number))))
        .collect();
    while let Some(mut soonest) = users.peek_mut() {
        let intended_ns = soonest.0;
        if intended_ns >= times.stop_ns {
            break;
        }
        let finished_ns = serving.serve(intended_ns);
        notebook.note(intended_ns, intended_ns, finished_ns);
        soonest.0 = cadence.next(intended_ns, finished_ns);
    }
}

struct Notebook {
    recorder: Recorder,
    played: Played,
}

impl Notebook {
    #[inline]
    fn note(&mut self, intended_ns: u64, sent_ns: u64, finished_ns: u64) {
        self.recorder.tally(intended_ns).note_sent(sent_ns);
        let finish = Finish {
            intended_ns,
            sent_ns,
            first_byte_ns: None,
            finished_ns,
            outcome: Outcome::Ok,
            status: 0,
        };
        self.recorder.finished(&finish);
        self.played.note(intended_ns, sent_ns, finished_ns);
    }

    fn not_sent(&mut self, intended_ns: u64) {
        self.recorder.tally(intended_ns).note_not_sent(1);
    }

    fn close(mut self) -> Played {
        self.recorder.close(&mut |interval| self.played.absorb(interval));
        self.played
    }
}
