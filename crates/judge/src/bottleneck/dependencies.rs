//! Calls from a system to others, as counted by the kernel per address: round trips, new connections, and awaited
//! replies.

use super::cause::{Bottleneck, Refutation, Scope, suspected};
use super::evidence::Evidence;
use super::words::cpu_in_brackets;
use super::{Coverage, Rule, Rung, database, statements};
use crate::causes::Resource;
use crate::databases;
use crate::dependencies::{Called, Dependencies, RENEWED_MIN_PER_S};
use crate::words::{Share, decimal, duration, one};

/// Min number of round trips to one address per request at which their number delays requests.
const ROUND_TRIPS_MIN: f64 = 5.0;
/// Min number of connections opened to one address per request. Pools also renew connections now and then.
const OPENED_MIN: f64 = 0.5;
/// Min share of request time spent on one address.
const SHARE_MIN: f64 = 0.3;
/// Min share of request time at which an address is reported after another cause.
const FURTHER_MIN_SHARE: f64 = 0.2;
/// Min share of request time at which one address accounts for most of it.
const MOST_MIN_SHARE: f64 = 0.6;
/// Min share of connections to an address that await a reply at which all are in use.
const ALL_TAKEN_MIN_SHARE: f64 = 0.85;
/// Min mean number of threads that is not noise.
const THREADS_MIN: f64 = 0.5;
/// Min ratio of the reply times of a slow server and its peers.
const SLOW_MIN_RATIO: f64 = 3.0;
/// Min mean number of running or runnable threads of the system at which requests wait for its own work.
const COMPUTING_MIN: f64 = 0.6;
/// Min mean number of awaited replies that is not noise.
const AWAITED_MIN: f64 = 0.2;
/// Min share of time in which connections had data to send, and min share of that time for which a buffer held it back.
const SENDING_MIN: f64 = 0.3;
const KEPT_BACK_MIN_SHARE: f64 = 0.5;
/// Min reply time that a sentence states. Shorter ones are lost in the kernel's tick.
const REPLY_MIN_NS: f64 = 4e6;

impl Resource {
    /// Many round trips to one server per request.
    pub const ROUND_TRIPS: Self = Self::new("round_trips", "round trips to what the system calls");
    /// A new connection to another server per request.
    pub const NEW_CONNECTIONS: Self = Self::new("new_connections", "new connections to what the system calls").next(
        "keep connections open between requests: a pool in the application, keep-alive to an upstream, or a pooler in front of a database",
    );
    /// Buffers of connections to other servers.
    pub const SOCKET_BUFFERS: Self =
        Self::new("socket_buffers", "buffers of connections to what the system calls");
}

/// A process, an address that it calls, and the traffic.
struct Call<'a> {
    key: &'a (String, String),
    called: &'a Called,
}

impl Call<'_> {
    fn process(&self) -> &str {
        &self.key.0
    }

    /// Returns the address with the program that listens there: `127.0.0.1:5432 (postgres)`.
    fn place(&self) -> String {
        let (address, program) = (&self.key.1, &self.called.program);
        if program.is_empty() { address.clone() } else { format!("{address} ({program})") }
    }

    fn scope(&self) -> Scope {
        Scope::Dependency(self.key.1.clone())
    }

    /// Returns the mean number of awaited replies, on connections or by threads, whichever is larger. Threads miss
    /// event loops, and connections miss replies within a kernel tick.
    fn awaited(&self, evidence: &Evidence<'_>) -> f64 {
        let workers = evidence.workers();
        let reads = workers.get(self.process()).and_then(|workers| workers.dependencies.get(&self.key.1));
        self.called.awaited.max(reads.copied().unwrap_or(0.0))
    }

    /// Returns whether all connections awaited a reply nearly all the time, so that further requests wait for one.
    /// Connections opened per request do not count, because they always await a reply.
    fn is_fully_used(&self) -> bool {
        let is_kept = self.called.seen_opened_per_s < RENEWED_MIN_PER_S;
        is_kept && self.called.awaited >= ALL_TAKEN_MIN_SHARE * self.called.connections.max(THREADS_MIN)
    }

    /// Returns the share of the response time spent waiting for this address. If all workers or connections are in use,
    /// requests wait for what these wait for, so the share is relative to the requests at work or waiting inside the
    /// process. Otherwise it is relative to the requests in flight.
    fn share(&self, evidence: &Evidence<'_>, all: &Dependencies) -> f64 {
        let awaited = self.awaited(evidence);
        let of_flight = evidence.in_flight_share(awaited).unwrap_or(0.0);
        let workers = evidence.workers();
        let Some(workers) = workers.get(self.process()) else { return of_flight };
        let reads: f64 = workers.dependencies.values().sum();
        let idle = workers.in_state("poll") + (workers.in_state("socket_read") - reads).max(0.0);
        if idle >= THREADS_MIN && !self.is_fully_used() {
            return of_flight;
        }
        let calls = all.called.iter().map(|(key, called)| Call { key, called });
        let of_process = calls.filter(|call| call.process() == self.process());
        let awaited_by_process: f64 = of_process.map(|call| call.awaited(evidence)).sum();
        let at_work = awaited_by_process + workers.at_work();
        // Threads at a futex hold further requests, as if slots inside the process were taken.
        let in_flight = evidence.in_flight().unwrap_or(0.0);
        let queued = (in_flight - at_work).clamp(0.0, workers.in_state("futex").max(0.0));
        of_flight.max(awaited / (at_work + queued).max(MOST_MIN_SHARE))
    }
}

/// Returns advice to declare a database that the plan does not declare. Empty if it does, or if the program is not a
/// known database.
fn declare_database_advice(evidence: &Evidence<'_>, call: &Call<'_>) -> String {
    let Some(scheme) = databases::scheme_of_program(&call.called.program) else { return String::new() };
    if evidence.is_database_read() {
        return String::new();
    }
    let address = &call.key.1;
    format!(
        "; to see what it waits for and which statements it runs, name it in the plan: `database: {scheme}://USER@{address}/DATABASE`"
    )
}

impl Evidence<'_> {
    /// Returns the program that listens at an address called by a process; `None` if it is unknown or elsewhere. The name
    /// comes from outside: escape it.
    pub(super) fn callee(&self, process: &str, address: &str) -> Option<String> {
        let key = (process.to_owned(), address.to_owned());
        let programs = self.runs.iter().filter_map(|run| run.signals?.dependencies.called.get(&key));
        programs.map(|called| called.program.clone()).find(|program| !program.is_empty())
    }
}

/// Averages the calls over all runs.
fn dependencies(evidence: &Evidence<'_>) -> Dependencies {
    Dependencies::mean(evidence.runs.iter().filter_map(|run| Some(&run.signals?.dependencies)))
}

/// Returns the call with the largest figure.
fn largest<'a>(all: &'a Dependencies, figure: impl Fn(&Call<'a>) -> Option<f64>) -> Option<(Call<'a>, f64)> {
    let calls = all.called.iter().map(|(key, called)| Call { key, called });
    let rated = calls.filter_map(|call| figure(&call).map(|figure| (call, figure)));
    rated.filter(|(_, figure)| figure.is_finite()).max_by(|(_, one), (_, other)| one.total_cmp(other))
}

pub(super) const ROUND_TRIPS: Rule = Rule {
    finds: &[Resource::ROUND_TRIPS],
    when: "a process made five round trips or more to one address for each request, and 30 % of the response time went to waiting for its replies, \
           or its threads computed most of the time; otherwise the cause is listed with less weight",
    why: "the kernel counts segments with data on each connection. Each question waits for the answer to the one before, on both sides of the \
          network",
    refuted_by: &[],
    rung: Rung::Kernel,
    covers: Coverage::Runs,
    find: round_trips,
};

fn round_trips(evidence: &Evidence<'_>) -> Option<Bottleneck> {
    let all = dependencies(evidence);
    let per_s = evidence.ended_per_s().filter(|per_s| *per_s > 0.0)?;
    let (call, per_request) = largest(&all, |call| Some(call.called.round_trips_per_s()? / per_s))?;
    if per_request < ROUND_TRIPS_MIN {
        return None;
    }
    let (awaited, share) = (call.awaited(evidence), call.share(evidence, &all));
    let one = one(evidence.together.unit);
    let because = format!(
        "{} made {} round trips to {} for each {one}; {} replies were awaited on average{}",
        call.process(),
        decimal(per_request, 1),
        call.place(),
        decimal(awaited, 1),
        cpu_in_brackets(evidence)
    );
    let repeated = evidence.repeated_statement();
    let next = match &repeated {
        Some(_) => {
            "read all rows with one statement (a join, or a list of keys), or send the statements together as a pipeline"
        }
        None => {
            "ask for several things at once (a join, a list of keys, a batch, or a pipeline), or cache what seldom changes"
        }
    };
    let next = format!("{next}{}", declare_database_advice(evidence, &call));
    let cause = suspected(Resource::ROUND_TRIPS, call.scope(), because).next(next);
    let cause = cause.and(repeated.map(|repeated| format!("repeated statement: {repeated} for each {one}")));
    // CPU work for the calls is part of their cost. If the system has no idle worker, requests wait for that work.
    let is_work = evidence.is_exhausted()
        || evidence.awake_share() >= MOST_MIN_SHARE && evidence.computing() >= COMPUTING_MIN;
    Some(match share >= SHARE_MIN {
        true => cause.direct(Some(share)),
        false if is_work => cause.direct(None),
        false => cause.indirect(Some(share)),
    })
}

pub(super) const CONNECTION_PER_REQUEST: Rule = Rule {
    finds: &[Resource::NEW_CONNECTIONS],
    when: "the machine opened a connection for every second request or more, without those of the generator, and a process had new connections to \
           one address in nearly every look",
    why: "the kernel counts connections that are opened. Each costs a round trip, and a log-in or a process where the server needs one",
    refuted_by: &[],
    rung: Rung::Kernel,
    covers: Coverage::Runs,
    find: connection_per_request,
};

fn connection_per_request(evidence: &Evidence<'_>) -> Option<Bottleneck> {
    let all = dependencies(evidence);
    let per_s = evidence.ended_per_s().filter(|per_s| *per_s > 0.0)?;
    let (call, per_request) = largest(&all, |call| Some(all.opened_per_s(call.key)? / per_s))?;
    if per_request < OPENED_MIN || call.called.seen_opened_per_s < RENEWED_MIN_PER_S {
        return None;
    }
    let because = format!(
        "{} opened {} connections to {} for each {}{}",
        call.process(),
        decimal(per_request, 1),
        call.place(),
        one(evidence.together.unit),
        cpu_in_brackets(evidence)
    );
    let advice = declare_database_advice(evidence, &call);
    let cause = suspected(Resource::NEW_CONNECTIONS, call.scope(), because)
        .next(format!("{}{advice}", Resource::NEW_CONNECTIONS.next));
    let share = call.share(evidence, &all);
    // A log-in takes several round trips, and usually a process start. Otherwise, a connection costs little compared
    // with the request.
    let has_log_in = !advice.is_empty() || evidence.is_database_read();
    Some(if has_log_in {
        cause.direct(Some(share)).without_share()
    } else {
        cause.indirect(Some(share)).without_share()
    })
}

/// Threads that wait for a database wait for the work of its sessions.
pub(super) const DATABASE_SAYS_WHY: Refutation = Refutation {
    when: "the database of the plan itself says what its sessions wait for, or that they read rows without an index",
    is_read: |evidence| {
        database::waits_inside(evidence).is_some() || statements::without_index(evidence).is_some()
    },
};

pub(super) const SLOW_SERVER: Rule = Rule {
    finds: &[Resource::DEPENDENCY],
    when: "replies from one address were awaited for 60 % of the time at work; or for 30 %, and one of several servers of a process took three times as \
           long for a reply as the others; from 20 % on as a further cause, where another one comes first",
    why: "a connection whose last data was sent awaits a reply. The kernel keeps both times for each connection, also in an event loop",
    refuted_by: &[DATABASE_SAYS_WHY],
    rung: Rung::Kernel,
    covers: Coverage::Runs,
    find: slow_server,
};

fn slow_server(evidence: &Evidence<'_>) -> Option<Bottleneck> {
    let all = dependencies(evidence);
    let (call, awaited) = largest(&all, |call| Some(call.called.awaited))?;
    let share = call.share(evidence, &all);
    if awaited < AWAITED_MIN || share < FURTHER_MIN_SHARE {
        return None;
    }
    let slow = slower_than_peers(&all, &call);
    let is_further = share < if slow.is_some() { SHARE_MIN } else { MOST_MIN_SHARE };
    let took = call.called.reply_ns().filter(|ns| *ns >= REPLY_MIN_NS);
    let took = took.map_or_else(String::new, |ns| format!(", which took {} each or more", duration(ns)));
    let others = slow.as_ref().map_or_else(String::new, |equals| format!("; {equals}"));
    let because = format!(
        "{} awaited {} replies from {} on average{took}{others}{}",
        call.process(),
        decimal(awaited, 1),
        call.place(),
        cpu_in_brackets(evidence)
    );
    let next = match slow {
        Some(_) => format!("see what differs at {}, or send it fewer requests", call.place()),
        None => Resource::DEPENDENCY.next.to_owned(),
    };
    let next = format!("{next}{}", declare_database_advice(evidence, &call));
    let cause = suspected(Resource::DEPENDENCY, call.scope(), because).next(next);
    let cause = match slow {
        Some(_) => Bottleneck { what: "one slow server of several", ..cause },
        None => cause,
    };
    Some(match evidence.is_exhausted() && slow.is_none() {
        _ if is_further => cause.further(share),
        true => cause.indirect(Some(share)),
        false => cause.direct(Some(share)),
    })
}

/// Returns a sentence about peers of the server of `call` that the same process calls as often, if that server is
/// clearly slower; otherwise `None`.
fn slower_than_peers(all: &Dependencies, call: &Call<'_>) -> Option<String> {
    let trips_per_s = call.called.round_trips_per_s()?;
    let mut others = all.called.iter().filter(|(key, _)| key.0 == call.key.0 && key.1 != call.key.1);
    // Peers get a similar share of the calls. A slow one may get fewer.
    let mut equals = 0_u32;
    let slowest = others.try_fold(0.0_f64, |slowest, (_, called)| {
        let per_s = called.round_trips_per_s().unwrap_or(0.0);
        if per_s < trips_per_s * 0.5 {
            return Some(slowest);
        }
        equals += 1;
        Some(slowest.max(called.reply_ns()?))
    })?;
    if equals == 0 || slowest * SLOW_MIN_RATIO > call.called.reply_ns()? {
        return None;
    }
    let took = if slowest < REPLY_MIN_NS { "less than 4 ms".to_owned() } else { duration(slowest) };
    Some(match equals {
        1 => format!("the other server took {took}"),
        equals => format!("the {equals} other servers took {took}"),
    })
}

pub(super) const BUFFERS: Rule = Rule {
    finds: &[Resource::SOCKET_BUFFERS],
    when: "connections of a process to one address had data to send 30 % of the time, and a full window of the peer or a full send buffer kept it back \
           for half of that",
    why: "the kernel counts why a connection does not send",
    refuted_by: &[SERVED],
    rung: Rung::Kernel,
    covers: Coverage::Any,
    find: buffers,
};

/// Buffers do not limit a load that is served in full.
const SERVED: Refutation = Refutation {
    when: "an open load was answered in full",
    is_read: |evidence| evidence.is_answered_in_full(),
};

fn buffers(evidence: &Evidence<'_>) -> Option<Bottleneck> {
    let all = dependencies(evidence);
    let kept_back = |call: &Call<'_>| Some(call.called.sending[1].max(call.called.sending[2]));
    let (call, kept_back) = largest(&all, kept_back)?;
    let [sending, by_peer, by_buffer] = call.called.sending;
    if sending < SENDING_MIN * call.called.connections.max(1.0) || kept_back < KEPT_BACK_MIN_SHARE * sending {
        return None;
    }
    let (what, next) = if by_peer >= by_buffer {
        (
            "the receive window of the peer was full",
            "read faster at the peer, or raise its receive buffer (net.ipv4.tcp_rmem, SO_RCVBUF)",
        )
    } else {
        ("the send buffer was full", "raise the send buffer of the system (net.ipv4.tcp_wmem, SO_SNDBUF)")
    };
    let because = format!(
        "{} had data to send to {}, and for {} of that time {what}",
        call.process(),
        call.place(),
        Share::of_measured(kept_back, sending).map_or_else(String::new, Share::percent)
    );
    let cause = suspected(Resource::SOCKET_BUFFERS, call.scope(), because).next(next);
    Some(cause.direct(evidence.in_flight_share(kept_back)))
}
