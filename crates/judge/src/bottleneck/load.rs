//! An offered load below capacity.

use record::{ErrorClass, Loss};

use super::cause::{Bottleneck, Refutation, Scope, suspected};
use super::delayed_ack::REPLIES_AWAIT_DELAYED_ACKS;
use super::evidence::{Evidence, NO_PAUSES_MIN_SHARE};
use super::in_process::USERS_ARE_IN_CALLS;
use super::unserved::USERS_WITHOUT_REPLY;
use super::words::{cpu_in_brackets, percent};
use super::{
    Coverage, LIMIT_REACHED_MIN_SHARE, REPORTED_ERRORS_MIN_SHARE, Rule, Rung, busy_connections, held_lock,
    jvm, pool, threads,
};
use crate::causes::Resource;
use crate::words::{count, counted, decimal, duration, one};

/// Max share of users waiting for an answer at which the pauses of the others limit throughput.
pub(super) const WAITING_USERS_MAX_SHARE: f64 = 0.5;

impl Resource {
    /// The load, which requested no more throughput.
    pub const LOAD: Self = Self::new("load", "none: the offered load was below capacity");
}

/// A saturated system would not do more under a higher load.
pub(super) const RESOURCE_SATURATED: Refutation = Refutation {
    when: "a thread of the system was 90 % busy; or one core was, and the system used 0.75 cores; or all cores were, and the system used half of them",
    is_read: |evidence| evidence.is_exhausted(),
};

/// A user who waits for a connection is part of no request that ended. By Little's law this looks like think time.
const NO_FILE_WAS_LEFT: Refutation = Refutation {
    when: "a process of the system had 95 % of the open files that it may have",
    is_read: |evidence| {
        evidence
            .most(|signals| signals.open_files_share)
            .is_some_and(|share| share >= LIMIT_REACHED_MIN_SHARE)
    },
};

const CONNECTIONS_QUEUED: Refutation = Refutation {
    when: "a queue of connections of the system was 95 % full, or the machine dropped connections at one",
    is_read: |evidence| {
        let is_full = evidence
            .listen_queue()
            .is_some_and(|[waiting, limit]| waiting >= LIMIT_REACHED_MIN_SHARE * limit);
        is_full || evidence.sum(|signals| signals.listen_overflows).is_some_and(|dropped| dropped >= 1.0)
    },
};

const REQUESTS_UNSERVED: Refutation = Refutation {
    when: "1 % of the planned requests did not end *ok*, or connecting failed or took too long",
    is_read: |evidence| {
        let is_of_connecting =
            |class: ErrorClass| class == ErrorClass::TimeoutConnect || Loss::of(class) == Loss::Connect;
        let errors = &evidence.together.errors;
        let is_seen =
            errors.iter().any(|(class, count)| *count > 0 && class.known().is_some_and(is_of_connecting));
        is_seen || evidence.together.error_share() >= REPORTED_ERRORS_MIN_SHARE
    },
};

/// Think time is the limit only if nothing else keeps users waiting.
const REFUTED_BY: &[Refutation] = &[
    RESOURCE_SATURATED,
    NO_FILE_WAS_LEFT,
    CONNECTIONS_QUEUED,
    REQUESTS_UNSERVED,
    REPLIES_AWAIT_DELAYED_ACKS,
    USERS_ARE_IN_CALLS,
    USERS_WITHOUT_REPLY,
];

pub(super) const OPEN_LOAD_SERVED: Rule = Rule {
    finds: &[Resource::LOAD],
    when: "an open load of which 99 % of the planned requests ended *ok*, or were lost to events of the plan; not where a search for a capacity finds that a rate fails, or \
           where requests wait for the pool of an endpoint",
    why: "the load did not ask for more; the sentence says how much capacity was left",
    refuted_by: &[],
    rung: Rung::Runtime,
    covers: Coverage::Runs,
    find: open_load_served,
};

fn open_load_served(evidence: &Evidence<'_>) -> Option<Bottleneck> {
    if !evidence.is_answered_in_full() || busy_connections::is_pool_short(evidence) {
        return None;
    }
    let counts = &evidence.together.counts;
    let asked = match counts.ok {
        ok if ok == counts.planned => {
            format!("all {} were answered ok", counted(ok, evidence.together.unit))
        }
        ok => {
            format!("{} of {} were answered ok", count(ok), counted(counts.planned, evidence.together.unit))
        }
    };
    let lost_to_events = evidence.lost_to_events();
    let lost = match lost_to_events {
        0 => String::new(),
        lost => format!(", and the plan's events cost {}", count(lost)),
    };
    let because = format!("{asked}{lost}{}", cpu_in_brackets(evidence));
    let cause = suspected(Resource::LOAD, Scope::Load, because).first();
    // Errors contradict a load below capacity, unless the sentence names their origin.
    let are_lost = evidence.together.error_share() >= REPORTED_ERRORS_MIN_SHARE && lost_to_events > 0;
    let cause = if are_lost { Bottleneck { what: "none but the plan's events", ..cause } } else { cause };
    Some(cause.next("offer a higher rate"))
}

pub(super) const PAUSES_OF_USERS: Rule = Rule {
    finds: &[Resource::LOAD],
    when: "a closed load of which less than half of the users waited for an answer, on average; not a replay without pauses",
    why: "the think time decides. Users who wait are answers per second × response time",
    refuted_by: REFUTED_BY,
    rung: Rung::Runtime,
    covers: Coverage::Runs,
    find: pauses_of_users,
};

fn pauses_of_users(evidence: &Evidence<'_>) -> Option<Bottleneck> {
    // Sessions of a log replayed without pauses wait only for their end, or their turn.
    if evidence.runs.iter().any(|run| run.run.new.is_replay_without_pauses()) {
        return None;
    }
    let [users, waiting] =
        evidence.users().filter(|[users, waiting]| *waiting < WAITING_USERS_MAX_SHARE * users)?;
    let because = format!(
        "on average {} of {} users waited for an answer, the others were in think time or held back{}",
        decimal(waiting, 1),
        decimal(users, 0),
        cpu_in_brackets(evidence)
    );
    let cause = suspected(Resource::LOAD, Scope::Load, because).first();
    Some(cause.next("use more users, or a shorter think time"))
}

pub(super) const SINGLE_USER: Rule = Rule {
    finds: &[Resource::LOAD],
    when: "a closed load of one user",
    why: "one request is in flight at a time",
    refuted_by: REFUTED_BY,
    rung: Rung::Runtime,
    covers: Coverage::Runs,
    find: single_user,
};

fn single_user(evidence: &Evidence<'_>) -> Option<Bottleneck> {
    evidence.users().filter(|[users, _]| *users <= 1.0)?;
    let because = format!(
        "one user has one {} in flight at a time{}",
        one(evidence.together.unit),
        cpu_in_brackets(evidence)
    );
    let cause = suspected(Resource::LOAD, Scope::Load, because).first();
    // A user without pauses requests as much as one user can, so the offered load is not below capacity.
    Some(Bottleneck { what: "none seen: one user waits for each answer", ..cause.next("use more users") })
}

pub(super) const ON_THE_WAY: Rule = Rule {
    finds: &[Resource::LOAD],
    when: "a closed load without pauses whose answers are sent at once (20 % of the time or less after the first byte), and on half of its \
           connections or more the system had sent last, so that it waited for their clients, less the time for which the generator ran or was \
           ready to run; a further cause where a request always waits for a lock or a pool of the system",
    why: "the kernel stores for each connection when data was last sent and received. Such requests wait for the network or a proxy, and more \
          users find the system idle, unless those that have arrived wait for each other",
    refuted_by: REFUTED_BY,
    rung: Rung::Kernel,
    covers: Coverage::Runs,
    find: on_the_way,
};

fn on_the_way(evidence: &Evidence<'_>) -> Option<Bottleneck> {
    let share = Some(evidence.on_the_way_share()).filter(|share| *share > 0.0)?;
    let ok_ns = evidence.together.ok_ns?;
    let because = format!(
        "on {} of the connections of the load or more, the system waited for its client while the generator had nothing to do: of {}, \
         which a request took on average, {} or more passed on the way or in a proxy{}",
        percent(share),
        duration(ok_ns),
        duration(share * ok_ns),
        cpu_in_brackets(evidence)
    );
    let cause = suspected(Resource::LOAD, Scope::Load, because);
    if is_awaited_in_the_system(evidence) {
        let next = "shorten the way between load and system, for shorter response times only";
        return Some(Bottleneck {
            what: "the way between load and system",
            ..cause.further(share).next(next)
        });
    }
    let next =
        "use more users: the system is not busy with these; or shorten the way between load and system";
    let cause = cause.direct(Some(share)).next(next);
    Some(Bottleneck { what: "none seen: requests are on the way most of the time", ..cause })
}

/// Returns whether some request always waits for a lock or a slot of the system, so that more users get nothing.
fn is_awaited_in_the_system(evidence: &Evidence<'_>) -> bool {
    let rules = [pool::POOL, threads::PROCESS_LOCK, jvm::MONITORS];
    held_lock::is_always_awaited(evidence) || rules.iter().any(|rule| rule.cause(evidence).is_some())
}

/// Min number of users; a single user does not queue.
const USERS_MIN: f64 = 2.0;

pub(super) const USERS_INDEPENDENT: Rule = Rule {
    finds: &[Resource::LOAD],
    when: "a closed load of two users or more without pauses, each with a connection, the fastest answer took 85 % of the mean or more, and the first answers \
           were not slower",
    why: "requests did not wait for each other, so each user gets as much as one alone. More users may meet a limit",
    refuted_by: REFUTED_BY,
    rung: Rung::Arithmetic,
    covers: Coverage::Runs,
    find: users_independent,
};

fn users_independent(evidence: &Evidence<'_>) -> Option<Bottleneck> {
    let [users, waiting] = evidence
        .users()
        .filter(|[users, waiting]| *users >= USERS_MIN && *waiting >= NO_PAUSES_MIN_SHARE * users)?;
    // Users who share connections wait for each other before they send.
    let is_shared = evidence.shared_connections().is_some();
    if is_shared || !evidence.is_uncontended() || !evidence.is_system_read() {
        return None;
    }
    let (fastest_ns, ok_ns) = (evidence.pace(|pace| pace.fastest_ns)?, evidence.together.ok_ns?);
    let because = format!(
        "the fastest answer took {}, the mean one {}: {} of {} users did not wait for each other{}",
        duration(fastest_ns),
        duration(ok_ns),
        decimal(waiting, 1),
        decimal(users, 0),
        cpu_in_brackets(evidence)
    );
    let next = format!("use more than {} users, until answers take longer", decimal(users, 0));
    let cause = suspected(Resource::LOAD, Scope::Load, because).indirect(None).without_share();
    Some(Bottleneck { what: "none seen: requests did not wait for each other", ..cause.next(next) })
}
