//! Runs loads to their end within a time limit, and adds up their results.
#![allow(dead_code, reason = "each test file uses its own part")]

pub(crate) mod acceptor;
pub(crate) mod acts;
pub(crate) mod lines;
pub(crate) mod scenario;
pub(crate) mod tagged;
pub(crate) mod tls;
pub(crate) mod witness;

use std::net::SocketAddr;
use std::sync::mpsc::RecvTimeoutError;
use std::time::{Duration, Instant};

use engine::{Endpoint, Job, Message, Peer, Running, TlsPeer, TlsTrust, WorkerEnd};
use load::open::Profile;
use load::{Closed, Load, Open, Scenarios, Schedule, Share, Spacing, Stop, ThinkTime};
use record::{Moment, Moments, Phase, Pulse, Sampled, Tally, Whole};
use target::scripted::{self, Script, Scripted, Step};
use wire::http1::{Checks, Http1, Request};

pub(crate) const MS: u64 = 1_000_000;
pub(crate) const SECOND: u64 = 1_000 * MS;

/// Max time that a load may take beyond its duration and the deadline of its last request.
const GRACE: Duration = Duration::from_secs(5);
/// Time limit of a load that only a count ends.
const COUNTED: Duration = Duration::from_secs(30);

/// Result of a finished load, after all accounts were checked to add up.
#[derive(Debug)]
pub(crate) struct Done {
    /// Tally of the measured phase, over all steps.
    pub(crate) tally: Tally,
    /// Tallies of the measured phase, by step. The accounting identity holds for each.
    pub(crate) steps: Vec<Tally>,
    pub(crate) warm_up: Tally,
    pub(crate) ends: Vec<WorkerEnd>,
    /// Windows in order of arrival, each with the number of its worker.
    pub(crate) pulses: Vec<(u32, Pulse)>,
    /// Windows of 100 ms over all workers, if the job asked for them.
    pub(crate) moments: Vec<Moment>,
    /// Logged requests, by intended start.
    pub(crate) sampled: Vec<Sampled>,
    /// Logged requests with their steps, by intended start.
    pub(crate) logged: Vec<(u16, Sampled)>,
    /// Time from the start of the load to the end of the last worker.
    pub(crate) took: Duration,
}

/// Starts a job, waits for its end, and asserts that it ended in time and that every account adds up.
pub(crate) fn run(job: Job, script: impl wire::Channels + 'static) -> Done {
    let limit = limit(&job);
    finish(engine::start(job, script).expect("threads"), limit)
}

/// Returns the max duration of a job, from its start.
pub(crate) fn limit(job: &Job) -> Duration {
    let load = job.stop.at_ns.map_or(COUNTED, Duration::from_nanos);
    Duration::from_nanos(job.connect_timeout_ns) + load + Duration::from_nanos(job.timeout_ns) + GRACE
}

/// Waits for the end of a running load.
pub(crate) fn finish(running: Running, limit: Duration) -> Done {
    let (done, broke) = finish_with(running, limit);
    assert!(broke.is_empty(), "a worker broke: {broke:?}");
    done
}

/// Waits for the end of a running load. Also returns the reasons of workers that could not continue.
pub(crate) fn finish_with(running: Running, limit: Duration) -> (Done, Vec<String>) {
    let deadline = Instant::now() + limit;
    let mut begun = Instant::now();
    let mut wholes: Vec<[Whole; 2]> = Vec::new();
    let (mut ends, mut pulses, mut moments) = (Vec::new(), Vec::new(), Moments::default());
    let (mut logged, mut broke) = (Vec::new(), Vec::new());
    loop {
        match running.messages.recv_timeout(deadline.saturating_duration_since(Instant::now())) {
            Ok(Message::Begins(origin)) => begun = origin,
            Ok(Message::Interval { step, interval }) => {
                wholes.resize_with(wholes.len().max(usize::from(step) + 1), Default::default);
                let whole = &mut wholes[usize::from(step)][interval.phase as usize];
                whole.absorb(&interval.tally).expect("the identity, up to now");
                logged.extend(interval.sampled.into_iter().map(|request| (step, request)));
            }
            Ok(Message::Pulse { worker, pulse }) => pulses.push((worker, pulse)),
            Ok(Message::Moments(parts)) => parts.iter().for_each(|part| moments.note(part)),
            Ok(Message::Ended(end)) => ends.push(*end),
            Ok(Message::Broke(what) | Message::Unrecoverable(what)) => broke.push(what),
            Err(RecvTimeoutError::Timeout) => panic!("the load did not end within {limit:?}"),
            Err(RecvTimeoutError::Disconnected) => break,
        }
    }
    let took = begun.elapsed();
    running.join().expect("no thread died");
    let (mut tally, mut warm_up, mut steps) = (Tally::default(), Tally::default(), Vec::new());
    for whole in wholes {
        let [before, measured] = whole.map(|whole| whole.settle().expect("the identity, at the end"));
        warm_up.merge(&before);
        tally.merge(&measured);
        steps.push(measured);
    }
    logged.sort_by_key(|(_, request): &(u16, Sampled)| request.finish.intended_ns);
    let sampled = logged.iter().map(|(_, request)| *request).collect();
    let moments = moments.into_windows();
    let done = Done { tally, steps, warm_up, ends, pulses, moments, sampled, logged, took };
    done.assert_errors_add_up();
    (done, broke)
}

impl Done {
    /// Returns the number of errors of a class, including those that affected no request.
    pub(crate) fn errors(&self, class: &str) -> u64 {
        let entries = self.tally.errors.entries().iter();
        entries.filter(|entry| entry.class.as_str() == class).map(|entry| entry.count).sum()
    }

    /// Returns the number of errors by class, in the order of class names.
    pub(crate) fn classes(&self) -> Vec<(String, u64)> {
        let mut classes: Vec<(String, u64)> = Vec::new();
        for entry in self.tally.errors.entries() {
            match classes.iter_mut().find(|(class, _)| class == entry.class.as_str()) {
                Some((_, count)) => *count += entry.count,
                None => classes.push((entry.class.to_string(), entry.count)),
            }
        }
        classes.sort();
        classes
    }

    /// Returns all messages of a class.
    pub(crate) fn messages(&self, class: &str) -> Vec<&str> {
        let entries = self.tally.errors.entries().iter();
        entries.filter(|entry| entry.class.as_str() == class).map(|entry| entry.message.as_str()).collect()
    }

    /// Returns the number of `excess_bytes` errors on connections that carried no request.
    pub(crate) fn idle_excess(&self) -> u64 {
        idle_excess(&self.tally)
    }

    /// Asserts that all requests failed with this class.
    #[track_caller]
    pub(crate) fn assert_all_failed(&self, class: &str, requests: u64) {
        let counts = self.tally.counts;
        assert_eq!((counts.sent, counts.failed, counts.ok), (requests, requests, 0), "{:?}", self.classes());
        assert_eq!(self.errors(class) - self.idle_excess_of(class), requests, "{:?}", self.classes());
    }

    /// Asserts that all requests timed out with this class.
    #[track_caller]
    pub(crate) fn assert_all_timed_out(&self, class: &str, requests: u64) {
        let counts = self.tally.counts;
        assert_eq!(
            (counts.sent, counts.timed_out, counts.ok),
            (requests, requests, 0),
            "{:?}",
            self.classes()
        );
        assert_eq!(self.errors(class), requests, "{:?}", self.classes());
    }

    /// Asserts that all requests were answered with OK, without any error.
    #[track_caller]
    pub(crate) fn assert_all_ok(&self, requests: u64) {
        let counts = self.tally.counts;
        assert_eq!((counts.sent, counts.ok), (requests, requests), "{:?}", self.classes());
        assert_eq!(self.classes(), [], "{:?}", self.tally.errors);
    }

    fn idle_excess_of(&self, class: &str) -> u64 {
        let entries = self.tally.errors.entries().iter();
        entries
            .filter(|entry| entry.class.as_str() == class && entry.code == u32::MAX)
            .map(|entry| entry.count)
            .sum()
    }

    /// Asserts that each rejected, failed, or timed-out request has exactly one error, and that there are no other errors.
    fn assert_errors_add_up(&self) {
        for tally in [&self.tally, &self.warm_up] {
            let counts = tally.counts;
            assert_eq!(
                tally.errors.total() - idle_excess(tally),
                counts.rejected + counts.failed + counts.timed_out,
                "{:?}",
                tally.errors
            );
        }
    }
}

fn idle_excess(tally: &Tally) -> u64 {
    let entries = tally.errors.entries().iter();
    entries.filter(|entry| entry.code == u32::MAX).map(|entry| entry.count).sum()
}

/// Returns an unencrypted peer.
pub(crate) fn tcp(address: SocketAddr) -> Peer {
    Peer::of(Endpoint::Tcp(address), None)
}

/// Returns a TLS peer with this name and trust.
pub(crate) fn secure(address: SocketAddr, name: &str, trust: &TlsTrust) -> Peer {
    let tls = TlsPeer::new(name, trust).expect("a TLS peer");
    Peer::of(Endpoint::Tcp(address), Some(tls))
}

/// Returns a closed load of users without pauses, until `stop`, with a request time-out of one second.
pub(crate) fn closed(peer: Peer, users: u32, stop: Stop) -> Job {
    let closed = Closed {
        users,
        ramp_up_ns: 0,
        think_time: ThinkTime::None,
        pacing_ns: 0,
        throughput_per_s: None,
        seed: 1,
        schedule: None,
        is_unpaced: false,
    };
    job(peer, Load::Closed(closed), stop)
}

/// Returns an open load at a constant, evenly spaced rate.
pub(crate) fn open(peer: Peer, per_s: f64, for_ns: u64, connections: u32) -> Job {
    let open = Open {
        schedule: Schedule::Rate(Profile::constant(per_s), Spacing::EVEN),
        connections,
        shed_after_ns: None,
    };
    job(peer, Load::Open(open), lasting(for_ns))
}

fn job(peer: Peer, load: Load, stop: Stop) -> Job {
    Job {
        load,
        share: Share::WHOLE,
        stop,
        warm_up_ns: 0,
        peers: vec![peer],
        timeout_ns: SECOND,
        connect_timeout_ns: SECOND,
        threads: 1,
        cores: Vec::new(),
        log_per_second: 0,
        keeps_timeline: false,
        scenarios: Scenarios::single(),
        parts: 0,
        pool: None,
        initial_connections: None,
        choosers: Vec::new(),
        data: Vec::new(),
        seed: 1,
    }
}

/// Returns a stop condition by number of requests.
pub(crate) fn count(requests: u64) -> Stop {
    Stop { at_ns: None, requests: Some(requests) }
}

/// Returns a stop condition by time.
pub(crate) fn lasting(for_ns: u64) -> Stop {
    Stop { at_ns: Some(for_ns), requests: None }
}

/// Returns a script of a GET of this target.
pub(crate) fn get(target: &str) -> Http1 {
    Http1::single(&Request::get("localhost", target), Checks::default()).expect("a request")
}

/// Returns a script of a POST with this many bytes.
pub(crate) fn post(target: &str, body_bytes: usize) -> Http1 {
    let request = Request {
        method: "POST".to_owned(),
        body: Some(vec![b'x'; body_bytes]),
        ..Request::get("localhost", target)
    };
    Http1::single(&request, Checks::default()).expect("a request")
}

/// Returns a complete HTTP reply with this status and body.
pub(crate) fn reply(status: u16, body: &str) -> Vec<u8> {
    format!("HTTP/1.1 {status} X\r\nContent-Length: {}\r\n\r\n{body}", body.len()).into_bytes()
}

/// Starts a server whose connections all follow the same script.
pub(crate) fn server(steps: Vec<Step>) -> Scripted {
    let script = Script(steps);
    scripted::start(move |_| script.clone()).expect("a scripted server")
}

/// Repeats the same steps for each request of a connection.
pub(crate) fn each_request(steps: Vec<Step>) -> Vec<Step> {
    vec![Step::Loop(Box::new(Script(steps)))]
}

/// Sends requests by one user to a server of this script. Also returns the number of connections to the server.
pub(crate) fn exchange(steps: Vec<Step>, requests: u64) -> (Done, usize) {
    let server = server(steps);
    let done = run(closed(tcp(server.address()), 1, count(requests)), get("/"));
    let connections = server.connections();
    server.stop();
    (done, connections)
}

/// Returns the resident memory of this process, in bytes.
pub(crate) fn rss_bytes() -> u64 {
    let statm = std::fs::read_to_string("/proc/self/statm").expect("statm");
    let pages: u64 = statm.split(' ').nth(1).expect("a field").parse().expect("a number");
    pages * rustix::param::page_size() as u64
}

/// Asserts that no request belongs to the warm-up.
#[track_caller]
pub(crate) fn assert_no_warm_up(done: &Done) {
    assert_eq!(done.warm_up.counts.planned, 0, "{:?}", Phase::WarmUp);
}
