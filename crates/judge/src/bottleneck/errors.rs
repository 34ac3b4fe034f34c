//! Errors by status or class for which no other rule names a limit.

use record::{ClassName, ErrorClass, Loss};

use super::cause::{Bottleneck, Refutation, Scope, suspected};
use super::evidence::{Evidence, share};
use super::refusals::EQUAL_TIMES_MAX_SPREAD;
use super::words::percent;
use super::{Coverage, REPORTED_ERRORS_MIN_SHARE, Rule, Rung, in_process};
use crate::causes::Resource;
use crate::words::{Share, duration};

/// Min share of planned requests at which errors rank before every other cause.
const ERRORS_MIN_SHARE: f64 = 0.1;
/// Min unavailable share of the measured time that explains a run without another explanation.
const UNAVAILABLE_MIN_SHARE: f64 = 0.2;
/// Ratio of the times of rejections and of ok answers above which rejections are time-outs. The cause is then the
/// resource that they waited for.
const TIMEOUT_MIN_RATIO: f64 = 2.0;
/// Min share of requests with one status at which a system that served nothing is reported to reject them.
const REJECTED_MIN_SHARE: f64 = 0.5;
/// Min ratio of the times of rejections and of ok answers at which rejections waited.
const WAITED_MIN_RATIO: f64 = 0.5;
/// Statuses that other rules handle.
const STATUSES_OF_OTHER_RULES: [u16; 2] = [429, 503];

impl Resource {
    /// Requests that the system did not serve.
    pub const ERRORS: Self = Self::new("errors", "errors of the system").with_error_share();
}

pub(super) const ERRORS: Rule = Rule {
    finds: &[Resource::ERRORS, Resource::DATABASE_LOCK],
    when: "1 % of the planned requests or more ended with one status (but 429 and 503), or with one class of error that is not about \
           connecting; or nothing else explains a run with errors or a time without an answer in which the system was gone for 20 % of \
           the time. Deadlocks and time-outs of locks are `database_lock`",
    why: "what fails is not measured. From 10 % on it comes first, but rejections that took twice as long as good answers, or of a system \
          that has used up a thread or the cores, are a symptom",
    refuted_by: &[LOST_TO_EVENTS],
    rung: Rung::Runtime,
    covers: Coverage::Runs,
    find: errors,
};

/// Errors caused by the plan's own events are no limit of the system.
const LOST_TO_EVENTS: Refutation = Refutation {
    when: "events of the plan cost 90 % of what did not end *ok*",
    is_read: |evidence| evidence.is_lost_to_events(),
};

fn errors(evidence: &Evidence<'_>) -> Option<Bottleneck> {
    let together = &evidence.together;
    let planned = together.counts.planned;
    let statuses =
        together.statuses.keys().copied().filter(|status| !STATUSES_OF_OTHER_RULES.contains(status));
    let of_status = statuses
        .map(|status| (status, evidence.share_of_status(status)))
        .filter(|(status, _)| *status >= 400)
        .max_by(|one, other| one.1.total_cmp(&other.1));
    if let Some((status, of_all)) = of_status.filter(|(_, of_all)| *of_all >= REPORTED_ERRORS_MIN_SHARE) {
        let gives_up = evidence.rejected_spread().is_some_and(|spread| spread <= EQUAL_TIMES_MAX_SPREAD);
        let when = if gives_up { "each time" } else { "on average" };
        let took = match (together.rejected_ns, together.ok_ns) {
            (Some(rejected), Some(ok)) => {
                format!(" after {} {when}, the good ones after {}", duration(rejected), duration(ok))
            }
            _ => String::new(),
        };
        // Errors that come at once have no wait to give up.
        let is_wait = gives_up
            && together.rejected_ns.zip(together.ok_ns).is_some_and(|(bad, ok)| bad >= WAITED_MIN_RATIO * ok);
        let limit = "they took equally long, as where a wait has a time limit: for a connection of a pool, or for a call";
        let because = format!("{} of the requests were answered {status}{took}", percent(of_all));
        let next = format!("read the log of the system for what it answers {status} to");
        let cause = suspected(Resource::ERRORS, Scope::System, because).next(next);
        return Some(standing(evidence, cause.and(is_wait.then(|| limit.to_owned())), of_all));
    }
    let classes = together.errors.iter().filter_map(|(class, count)| Some((class.known()?, *count)));
    let (class, count) =
        classes.filter(|(class, _)| is_system_error(*class)).max_by_key(|(_, count)| *count)?;
    let of_all = share(count, planned);
    if of_all < REPORTED_ERRORS_MIN_SHARE {
        return None;
    }
    let resource = if is_lock_error(class) { Resource::DATABASE_LOCK } else { Resource::ERRORS };
    let (name, words) = (class.name(), class.words());
    // Failures to connect are counted per connection, and may outnumber requests.
    let because = match Share::of_count(count, planned) {
        Some(of_all) => {
            format!("{} of the requests ended with the error {name}: {words}", percent(of_all.get()))
        }
        None => {
            let [count, planned] = [count, planned].map(crate::words::count);
            format!("the error {name} was met {count} times, with {planned} requests planned: {words}")
        }
    };
    let next = match resource == Resource::DATABASE_LOCK && evidence.is_in_process() {
        true => in_process::wait_advice(resource),
        false => class.help().to_owned(),
    };
    Some(standing(evidence, suspected(resource, Scope::System, because).next(next), of_all))
}

/// Reports that the system was unavailable, if no rule explains a run. Based on time, because an unavailable system
/// receives few requests. Excludes starved users who were answered in the end.
pub(super) fn gone(evidence: &Evidence<'_>) -> Option<Bottleneck> {
    let gone = gone_share(evidence);
    if gone < UNAVAILABLE_MIN_SHARE || !has_losses(evidence) {
        return None;
    }
    let classes = evidence.together.errors.iter().filter_map(|(class, count)| Some((class.known()?, *count)));
    let is_lost = |(class, _): &(ErrorClass, u64)| {
        class.outcome().is_some() && !matches!(Loss::of(*class), Loss::StaleReuse)
    };
    let class = classes.filter(is_lost).max_by_key(|(_, count)| *count).map(|(class, _)| class);
    let most = class.map_or_else(String::new, |class| {
        format!("; most errors were {}: {}", ClassName::from(class).as_str(), class.words())
    });
    let because = format!("the system was gone for {} of the time{most}", percent(gone));
    let next = class.map_or("read the log of the system for why it did not answer", ErrorClass::help);
    Some(suspected(Resource::ERRORS, Scope::System, because).next(next).first())
}

/// Returns the mean unavailable share of time over all runs; 0 if unknown.
fn gone_share(evidence: &Evidence<'_>) -> f64 {
    let shares =
        evidence.runs.iter().map(|run| run.measured.outage.as_ref().map_or(0.0, |outage| outage.gone_share));
    shares.sum::<f64>() / evidence.runs.len().max(1) as f64
}

/// Returns whether a request was lost, or there was an outage.
fn has_losses(evidence: &Evidence<'_>) -> bool {
    let longest_s =
        evidence.runs.iter().filter_map(|run| run.measured.outage.as_ref()).map(|of| of.longest_s);
    evidence.together.error_share() > 0.0
        || !evidence.together.errors.is_empty()
        || longest_s.sum::<f64>() > 0.0
}

/// Returns a sentence about users who waited long for an answer while others were answered, without a lost request;
/// `None` if that took less than 20 % of their time.
pub(super) fn late_answers(evidence: &Evidence<'_>) -> Option<String> {
    let late = gone_share(evidence);
    let is_late = late >= UNAVAILABLE_MIN_SHARE && !has_losses(evidence);
    is_late.then(|| {
        format!(
            "users spent {} of their time on answers that came very late, while others were answered",
            percent(late)
        )
    })
}

/// Reports a system that served nothing because it is dead or rejects every request. `None` if no request ended.
pub(super) fn nothing_served(evidence: &Evidence<'_>) -> Option<Bottleneck> {
    let together = &evidence.together;
    let status = together.statuses.iter().max_by_key(|(_, count)| **count).map(|(status, _)| *status);
    let rejected = status.map(|status| (status, evidence.share_of_status(status)));
    let (because, next) = match rejected.filter(|(_, share)| *share >= REJECTED_MIN_SHARE) {
        Some((status, share)) => (
            format!("no request ended ok: {} were answered {status}", percent(share)),
            format!("read the log of the system for what it answers {status} to"),
        ),
        None => {
            let classes = together.errors.iter().filter_map(|(class, count)| Some((class.known()?, *count)));
            let (class, _) = classes.max_by_key(|(_, count)| *count)?;
            let because =
                format!("no request ended ok: most errors were {}: {}", class.name(), class.words());
            (because, class.help().to_owned())
        }
    };
    let cause = suspected(Resource::ERRORS, Scope::System, because).on(Rung::Runtime).first();
    Some(Bottleneck { what: "the system, which served no request", ..cause.next(next) })
}

fn is_lock_error(class: ErrorClass) -> bool {
    [ErrorClass::Deadlock, ErrorClass::LockTimeout, ErrorClass::SerializationFailure].contains(&class)
}

/// Returns whether errors of `class` belong to this rule. Other rules handle connection errors, time-outs, and failed
/// status checks.
fn is_system_error(class: ErrorClass) -> bool {
    class.outcome().is_some()
        && !matches!(Loss::of(class), Loss::Connect | Loss::TimedOut | Loss::StaleReuse)
        && ![ErrorClass::TooManyConnections, ErrorClass::Status, ErrorClass::ConnectBacklogFull]
            .contains(&class)
}

fn standing(evidence: &Evidence<'_>, cause: Bottleneck, of_all: f64) -> Bottleneck {
    let times = evidence.together.rejected_ns.zip(evidence.together.ok_ns);
    let is_slow = times.is_some_and(|(rejected, ok)| rejected > TIMEOUT_MIN_RATIO * ok);
    match of_all >= ERRORS_MIN_SHARE {
        _ if is_slow || evidence.is_exhausted() => cause.symptom(),
        true => cause.first(),
        false => cause.direct(Some(of_all)).without_share(),
    }
}
