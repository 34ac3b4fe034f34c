//! Processor time of the machine.

use super::evidence::Evidence;
use super::words::percent;
use super::{BUSY, Bottleneck, ROOMY, Rule, suspected};
use crate::causes::Resource;
use crate::words::decimal;

/// Of all cores, what system and generator use at least where they keep the cores busy.
const OWN: f64 = 0.5;
/// Of the time that its threads ran, what they waited for a core where others keep the cores busy.
const KEPT_WAITING: f64 = 0.25;
/// Of the response time, what its threads waited for a core.
const WAITED_OF_RESPONSE: f64 = 0.2;
/// Of all cores, what others may use before the system's part is no longer called that of the machine.
const TAKEN: f64 = 0.1;

impl Resource {
    /// Processor time of the machine.
    pub const MACHINE_CPU: Self = Self::new("machine_cpu", "CPU of the machine").of_the_machine();
}

pub(super) const ALL_CORES: Rule = Rule {
    finds: &[Resource::MACHINE_CPU],
    when: "all cores together were 90 % busy or more",
    why: "the rest lies between two requests. Where system and generator together used less than half of the cores, threads \
          of the system must have been running or ready nearly all the time, too, and without a core for a fourth of the time \
          that they ran: cores that others keep busy limit only threads that wait for them. If the system did not use 10 % of the cores or more, \
          the limit is called shared",
    find: all_cores,
};

fn all_cores(evidence: &Evidence<'_>) -> Option<Bottleneck> {
    let busy = evidence.signal(|signals| signals.busy).filter(|busy| *busy >= BUSY)?;
    let cores = evidence.cores()?;
    // Cores that others keep busy are its limit only if it waits for them. One that was not read may be among them.
    let own = cores.system.map(|system| system + cores.generator.unwrap_or(0.0));
    let is_theirs = own.is_some_and(|own| own < OWN * cores.all as f64);
    let is_kept_waiting = |[ran, waited]: [f64; 2]| ran + waited >= BUSY && waited >= KEPT_WAITING * ran;
    if is_theirs && !evidence.ran_and_waited().is_some_and(is_kept_waiting) {
        return None;
    }
    let all = match cores.all {
        1 => "the one core was".to_owned(),
        2 => "both cores were".to_owned(),
        all => format!("all {all} cores were"),
    };
    let of = |name: &str, used: Option<f64>| used.map(|used| format!("{name} {}", decimal(used, 2)));
    let (system, others) = match cores.system {
        Some(used) => (Some(format!("the system used {}", decimal(used, 2))), "other processes"),
        None => (None, "all other processes"),
    };
    let who = [system, of("the generator", cores.generator), of(others, cores.others)];
    let who = who.into_iter().flatten().collect::<Vec<_>>().join(", ");
    let because = format!("{all} {} busy: {who}", percent(busy));
    if cores.system.is_none() {
        return suspected(Resource::MACHINE_CPU, because);
    }
    let not_its_own = cores.others.unwrap_or(0.0) + cores.generator.unwrap_or(0.0);
    match not_its_own / cores.all as f64 {
        taken if taken < TAKEN => suspected(Resource::MACHINE_CPU, because),
        _ => suspected(Resource::MACHINE_CPU, format!("{because}; alone it would have had more"))
            .map(|found| Bottleneck { what: "CPU of the machine, shared with other processes", ..found }),
    }
}

pub(super) const WAITS_FOR_A_CORE: Rule = Rule {
    finds: &[Resource::MACHINE_CPU],
    when: "cores were 75 % busy or more, and threads of the system waited for one for a fifth of the response time",
    why: "cores were short at times",
    find: waits_for_a_core,
};

fn waits_for_a_core(evidence: &Evidence<'_>) -> Option<Bottleneck> {
    let busy = evidence.signal(|signals| signals.busy).filter(|busy| *busy >= ROOMY)?;
    let wait = evidence.core_wait_of_response().filter(|wait| *wait >= WAITED_OF_RESPONSE)?;
    let because = format!(
        "threads of the system waited for a core for {} of the response time, while the cores were {} busy",
        percent(wait.min(1.0)),
        percent(busy)
    );
    suspected(Resource::MACHINE_CPU, because)
}
