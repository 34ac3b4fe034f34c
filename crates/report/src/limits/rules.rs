//! The rules in their order: who did not ask for more, then what ran short, then who waited without anything being short.

use super::evidence::{Evidence, share};
use super::{Certainty, Limit};
use crate::units::{count, decimal, duration};

type Rule = fn(&Evidence<'_>) -> Option<Limit>;

/// Every rule; the first that fires speaks. A queue is full because what empties it is short, so queues come after resources.
const RULES: &[Rule] = &[
    the_generator,
    an_open_load_that_was_answered,
    hardly_anything_but_refusals,
    cores_taken_by_the_host,
    all_cores,
    one_thread,
    memory,
    disks,
    open_files,
    one_core,
    one_core_in_turns,
    a_queue_of_connections,
    some_refusals,
    pauses_of_users,
    waits_for_a_core,
    a_lone_user,
    its_own_waiting,
];

/// From this share of the time on, cores, threads and disks are called busy all the time: what is left is between two
/// requests.
const BUSY: f64 = 0.9;
/// Below it there is room enough to say that cores were not short.
const ROOMY: f64 = 0.75;
/// Of what may be held, files and connections.
const FULL: f64 = 0.95;
/// Shares of the time in which tasks waited. Some disks serve many requests at once, and are busy long before they are short.
const MEMORY_PRESSURE: f64 = 0.1;
const DISK_PRESSURE: f64 = 0.2;
/// Taken by other guests of the host.
const STEAL: f64 = 0.05;
/// Of the seconds in which pages were swapped.
const SWAPPING: f64 = 0.5;
/// Cores of a system whose threads run in turns: one, and what runs beside them.
const ONE_CORE: std::ops::RangeInclusive<f64> = 0.9..=1.15;
/// Of all cores, what system and generator use at least where they keep the cores busy.
const OWN: f64 = 0.5;
/// Of the time that its threads ran, what they waited for a core where others keep the cores busy.
const KEPT_WAITING: f64 = 0.25;
/// Of the response time, what its threads waited for a core.
const WAITED_OF_RESPONSE: f64 = 0.2;
/// Of all cores, what others may use before the system's part is no longer called that of the machine.
const TAKEN: f64 = 0.1;
/// Of the requests that ended.
const REFUSED: f64 = 0.01;
const MOSTLY_REFUSED: f64 = 0.9;
/// What is read of the machine that the load comes from.
const OF_THE_MACHINE: [&str; 4] = ["steal", "machine_cpu", "memory", "disk"];
/// What tells of errors itself.
const REFUSALS: [&str; 2] = ["request_queue", "rate_limit"];
/// Refusals that took less than this share of what good answers took were not waited for.
const AT_ONCE: f64 = 0.5;
/// Of the users, how many wait for an answer when the pauses of the others decide.
const PAUSED: f64 = 0.5;

/// What the first rule says that fires, or that none did.
pub(super) fn first(evidence: &Evidence<'_>) -> Limit {
    let mut limit = RULES.iter().find_map(|rule| rule(evidence)).unwrap_or_else(|| unknown(evidence));
    if OF_THE_MACHINE.contains(&limit.resource) && !evidence.is_system_read() {
        limit.because.push_str("; the system itself was not read");
        if !evidence.is_on_this_machine() {
            limit.because.push_str(", and may run elsewhere");
        }
    }
    let errors = share(evidence.figures.errors_counted(), evidence.figures.counts.planned);
    if errors >= REFUSED && !REFUSALS.contains(&limit.resource) {
        let many = evidence.noun().many;
        limit.because.push_str(&format!("; besides, {} of the {many} did not end ok", percent(errors)));
    }
    limit
}

fn suspected(resource: &'static str, what: &'static str, because: String) -> Option<Limit> {
    Some(Limit { resource, what, because, certainty: Certainty::Suspected })
}

/// Its own signals have judged already.
fn the_generator(evidence: &Evidence<'_>) -> Option<Limit> {
    let causes = [
        "generator_cpu",
        "generator_bound",
        "wake_lag",
        "generator_lag",
        "generator_stalled",
        "throttled",
        "generator_fault",
        "internal",
    ];
    let (sentence, in_runs) = evidence.causes(&causes)?;
    let of_runs = match evidence.views.len() {
        runs if in_runs == runs => String::new(),
        runs if in_runs * 2 >= runs => format!(" (in {in_runs} of {runs} runs)"),
        _ => return None,
    };
    suspected("generator", "the generator", format!("{sentence}{of_runs}"))
}

fn an_open_load_that_was_answered(evidence: &Evidence<'_>) -> Option<Limit> {
    if !evidence.is_answered_in_full() {
        return None;
    }
    let counts = &evidence.figures.counts;
    let asked = match counts.ok {
        ok if ok == counts.planned => {
            format!("all {} that it asked for were answered ok", evidence.noun().counted(ok))
        }
        ok => format!(
            "{} of the {} that it asked for were answered ok",
            count(ok),
            evidence.noun().counted(counts.planned)
        ),
    };
    suspected("load", "the load", format!("{asked}, and it asked for no more{}", cpu_in_brackets(evidence)))
}

fn cores_taken_by_the_host(evidence: &Evidence<'_>) -> Option<Limit> {
    let steal = evidence.signal(|signals| signals.steal).filter(|share| *share >= STEAL)?;
    let because = format!("other guests of the host took {} of the machine's processor time", percent(steal));
    suspected("steal", "the host of this machine", because)
}

fn all_cores(evidence: &Evidence<'_>) -> Option<Limit> {
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
        return suspected("machine_cpu", "CPU of the machine", because);
    }
    let not_its_own = cores.others.unwrap_or(0.0) + cores.generator.unwrap_or(0.0);
    match not_its_own / cores.all as f64 {
        taken if taken < TAKEN => suspected("machine_cpu", "CPU of the machine", because),
        _ => suspected(
            "machine_cpu",
            "CPU of the machine, which it had to share",
            format!("{because}; alone it would have had more"),
        ),
    }
}

fn one_thread(evidence: &Evidence<'_>) -> Option<Limit> {
    let thread = evidence.signal(|signals| signals.busiest_thread).filter(|share| *share >= BUSY)?;
    let because =
        format!("one thread of it ran {} of the time{}", percent(thread.min(1.0)), cpu_in_brackets(evidence));
    suspected("one_core", "one core", because)
}

fn memory(evidence: &Evidence<'_>) -> Option<Limit> {
    if let Some(swapping) = evidence.signal(|signals| signals.swapping).filter(|share| *share >= SWAPPING) {
        let because = format!("pages were swapped in or out in {} of the seconds", percent(swapping));
        return suspected("memory", "memory", because);
    }
    let waited =
        evidence.signal(|signals| signals.memory_pressure).filter(|share| *share >= MEMORY_PRESSURE)?;
    suspected(
        "memory",
        "memory",
        format!("something on the machine waited for memory {} of the time", percent(waited)),
    )
}

fn disks(evidence: &Evidence<'_>) -> Option<Limit> {
    let waited = evidence.signal(|signals| signals.disk_pressure);
    let busy = evidence.signal(|signals| signals.disk_busy);
    let is_short = match (waited, busy) {
        (Some(waited), Some(busy)) => waited >= DISK_PRESSURE && busy >= ROOMY,
        (Some(waited), None) => waited >= DISK_PRESSURE,
        (None, busy) => busy.is_some_and(|busy| busy >= BUSY),
    };
    let busy = busy.map(|busy| format!("a disk was busy {} of the time", percent(busy)));
    let waited =
        waited.map(|waited| format!("something on the machine waited for disks {} of it", percent(waited)));
    let because = [busy, waited].into_iter().flatten().collect::<Vec<_>>().join(", and ");
    is_short.then(|| suspected("disk", "disks", because)).flatten()
}

fn open_files(evidence: &Evidence<'_>) -> Option<Limit> {
    let share = evidence.most(|signals| signals.open_files_share).filter(|share| *share >= FULL)?;
    let because = format!("a process of it had {} of the files open that it may have", percent(share));
    suspected("open_files", "open files", because)
}

/// Several threads on one core: the only one that they may use.
fn one_core(evidence: &Evidence<'_>) -> Option<Limit> {
    let (name, busy) = evidence.busiest_core().filter(|(_, busy)| *busy >= BUSY)?;
    let cores = evidence.cores()?;
    let used = cores.system.filter(|used| *used >= ROOMY)?;
    let because = format!(
        "{name} was {} busy, and the system used {} of {}",
        percent(busy),
        decimal(used, 2),
        cores_of(cores.all)
    );
    suspected("one_core", "one core", because)
}

/// Threads that run in turns use one core together, and wander over all of them.
fn one_core_in_turns(evidence: &Evidence<'_>) -> Option<Limit> {
    let is_waited_for = evidence.users().is_none_or(|[users, waiting]| waiting >= PAUSED * users);
    let cores = evidence.cores().filter(|cores| cores.all > 1 && is_waited_for)?;
    let (name, used) = evidence.busiest_process().filter(|(_, used)| ONE_CORE.contains(used))?;
    let because = format!(
        "its process {name} used {} of {}, as if only one of its threads or workers could run at a time",
        decimal(used, 2),
        cores_of(cores.all)
    );
    suspected("one_core", "one core", because)
}

fn a_queue_of_connections(evidence: &Evidence<'_>) -> Option<Limit> {
    let queue = evidence.listen_queue().filter(|[waiting, limit]| *waiting >= FULL * limit);
    let dropped = evidence.sum(|signals| signals.listen_overflows).filter(|dropped| *dropped >= 1.0);
    let refused = |class: &str| {
        let of_class = evidence.figures.errors.iter().filter(|error| error.class == class);
        of_class.fold(0u64, |sum, error| sum.saturating_add(error.count))
    };
    let refused = refused("connect_backlog_full");
    let because = match (queue, dropped) {
        (Some([waiting, limit]), Some(dropped)) => format!(
            "{} of at most {} connections waited to be accepted, and {} were dropped at a full queue",
            decimal(waiting, 0),
            decimal(limit, 0),
            decimal(dropped, 0)
        ),
        _ if refused > 0 => format!("{} connections were turned away at a full queue", count(refused)),
        _ => return None,
    };
    suspected("listen_queue", "the queue of connections", because)
}

/// Then processor time goes into refusing, and is no cause of it.
fn hardly_anything_but_refusals(evidence: &Evidence<'_>) -> Option<Limit> {
    refusals(evidence, MOSTLY_REFUSED)
}

fn some_refusals(evidence: &Evidence<'_>) -> Option<Limit> {
    refusals(evidence, REFUSED)
}

/// What refuses this share of the requests or more at once.
fn refusals(evidence: &Evidence<'_>, share_min: f64) -> Option<Limit> {
    let figures = evidence.figures;
    let (refused_ns, ok_ns) = (figures.service.rejected.mean_ns?, figures.service.ok.mean_ns?);
    let status = [503, 429].into_iter().find(|status| evidence.share_of_status(*status) >= share_min)?;
    if refused_ns > AT_ONCE * ok_ns {
        return None;
    }
    let because = format!(
        "{} of the requests were answered {status} after {} on average, the good ones after {}{}",
        percent(evidence.share_of_status(status)),
        duration(refused_ns),
        duration(ok_ns),
        cpu_in_brackets(evidence)
    );
    match status {
        429 => suspected(REFUSALS[1], "a limit of its own on requests (429)", because),
        _ => suspected(REFUSALS[0], "a limit of its own on what may wait (503)", because),
    }
}

fn pauses_of_users(evidence: &Evidence<'_>) -> Option<Limit> {
    let [users, waiting] = evidence.users().filter(|[users, waiting]| *waiting < PAUSED * users)?;
    let because = format!(
        "on average {} of its {} users waited for an answer, the others paused or were held back{}",
        decimal(waiting, 1),
        decimal(users, 0),
        cpu_in_brackets(evidence)
    );
    suspected("load", "the load", because)
}

fn waits_for_a_core(evidence: &Evidence<'_>) -> Option<Limit> {
    let busy = evidence.signal(|signals| signals.busy).filter(|busy| *busy >= ROOMY)?;
    let wait = evidence.core_wait_of_response().filter(|wait| *wait >= WAITED_OF_RESPONSE)?;
    let because = format!(
        "threads of the system waited for a core for {} of the response time, while the cores were {} busy",
        percent(wait.min(1.0)),
        percent(busy)
    );
    suspected("machine_cpu", "CPU of the machine", because)
}

fn a_lone_user(evidence: &Evidence<'_>) -> Option<Limit> {
    evidence.users().filter(|[users, _]| *users <= 1.0)?;
    let because =
        format!("one user has one {} under way at a time{}", evidence.noun().one, cpu_in_brackets(evidence));
    suspected("load", "the load", because)
}

fn its_own_waiting(evidence: &Evidence<'_>) -> Option<Limit> {
    evidence.signal(|signals| signals.busy).filter(|busy| *busy < ROOMY)?;
    let cores = evidence.cores()?;
    let used = cores.system?;
    let waiting = match evidence.users() {
        Some([users, waiting]) => {
            format!("on average {} of {} users waited for it", decimal(waiting, 1), decimal(users, 0))
        }
        None => format!(
            "{} of {} that were asked for ended ok",
            percent(share(evidence.figures.counts.ok, evidence.figures.counts.planned)),
            evidence.noun().counted(evidence.figures.counts.planned)
        ),
    };
    let too_few = if evidence.users().is_some() { "; or more users would get more" } else { "" };
    let because = format!(
        "{waiting}, while it used {} of {} and nothing that was read ran short: it may wait for its workers, threads or \
         locks, or for what it calls{too_few}",
        decimal(used, 2),
        cores_of(cores.all)
    );
    suspected("waiting", "the system's own waiting", because)
}

fn unknown(evidence: &Evidence<'_>) -> Limit {
    let because = match evidence.signal(|signals| signals.busy) {
        Some(busy) => format!(
            "the cores were {} busy{}, and nothing that was read clearly ran short",
            percent(busy),
            cpu_in_brackets(evidence)
        ),
        None => "nothing was read while it was measured".to_owned(),
    };
    Limit { resource: "unknown", what: "not known", because, certainty: Certainty::Unknown }
}

/// ` (the system used 0.35 of 2 cores)`, if it was read.
fn cpu_in_brackets(evidence: &Evidence<'_>) -> String {
    let used = evidence.cores().and_then(|cores| Some((cores.system?, cores.all)));
    used.map_or_else(String::new, |(used, all)| {
        format!(" (the system used {} of {})", decimal(used, 2), cores_of(all))
    })
}

fn cores_of(cores: usize) -> String {
    if cores == 1 { "1 core".to_owned() } else { format!("{cores} cores") }
}

fn percent(share: f64) -> String {
    let decimals = usize::from(share < 0.1 || share > 0.99 && share < 1.0);
    format!("{} %", decimal(share * 100.0, decimals))
}
