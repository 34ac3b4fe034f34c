//! Tests of the effect of an experiment's result on the list of causes.

use evidence::Change;
use stats::{Effect, Undecided};

use super::*;

fn tried(change: Change, tests: Resource, can_refute: bool, finding: Finding) -> TriedIntervention {
    let changed = Changed {
        name: "change".to_owned(),
        change,
        rank: 0,
        tests: vec![tests.code.to_owned()],
        can_refute,
        factor: 2.0,
        limit_from: 0.5,
        prediction: "it moves".to_owned(),
        loses: None,
    };
    let effect = Effect {
        blocks: 8,
        ratio: Some(1.9),
        interval: Some([1.8, 2.0]),
        elasticity: Some(0.9),
        p: Some(1.0 / 256.0),
        finding,
    };
    TriedIntervention { changed, effect, ratios: Vec::new(), planned: 8 }
}

fn diagnosis(tried: Vec<TriedIntervention>) -> Diagnosis {
    let setting = Setting { system: "web".to_owned(), variant: String::new() };
    Diagnosis {
        load: "steady".to_owned(),
        setting,
        controls: None,
        of_controls: Vec::new(),
        spread: None,
        tried,
        ladder: None,
        next_limit: None,
        left_out: Vec::new(),
        runtimes: None,
    }
}

fn cause(resource: Resource) -> Bottleneck {
    let certainty = if resource == Resource::UNKNOWN { Certainty::Unknown } else { Certainty::Suspected };
    Bottleneck { certainty, ..suspected(resource, Scope::System, "readings".to_owned()) }
}

fn judged(tried: Vec<TriedIntervention>, causes: &[Resource]) -> Vec<(Resource, Certainty)> {
    let judged = diagnosis(tried).judged(causes.iter().copied().map(cause).collect());
    judged.iter().map(|cause| (cause.resource, cause.certainty)).collect()
}

const CPU: Change = Change::Cpu { millicores: 800 };
const USERS: Change = Change::Users { users: 16 };

fn workers() -> Change {
    Change::Parameter { name: "workers".to_owned(), value: "4".to_owned() }
}

#[test]
fn confirmed_causes_come_first_and_refuted_ones_last() {
    let experiment = vec![
        tried(CPU, Resource::MACHINE_CPU, true, Finding::Refuted),
        tried(USERS, Resource::LOAD, true, Finding::Confirmed),
    ];
    let causes = [Resource::MACHINE_CPU, Resource::DISK, Resource::LOAD];
    assert_eq!(
        judged(experiment.clone(), &causes),
        [
            (Resource::LOAD, Certainty::Confirmed),
            (Resource::DISK, Certainty::Suspected),
            (Resource::MACHINE_CPU, Certainty::Refuted)
        ]
    );
    let list = diagnosis(experiment).judged(causes.map(cause).into());
    assert_eq!(list[0].what, "the load: more users get more");
    assert_eq!(list[0].because, "in an experiment, change: throughput ×1.90 (1.80–2.00)");
    assert!(list[2].against[0].contains("an experiment refutes it: change"), "{:?}", list[2]);
}

#[test]
fn lock_of_thread_dumps_replaces_the_unknown_cause_and_joins_others() {
    let dumped = Bottleneck {
        because: "in instrumented runs, on average 14.8 threads waited".to_owned(),
        ..cause(Resource::LOCK).on(Rung::Runtime)
    };
    let runtimes = RuntimeReport { dumped: Some(dumped), ..RuntimeReport::default() };
    let diagnosis = Diagnosis { runtimes: Some(runtimes), ..diagnosis(Vec::new()) };
    let codes = |causes: &[Resource]| {
        let judged = diagnosis.judged(causes.iter().copied().map(cause).collect());
        judged.iter().map(|cause| cause.resource).collect::<Vec<_>>()
    };
    assert_eq!(codes(&[Resource::UNKNOWN]), [Resource::LOCK]);
    assert_eq!(codes(&[Resource::DEPENDENCY]), [Resource::LOCK, Resource::DEPENDENCY]);
    let known = diagnosis.judged(vec![cause(Resource::LOCK)]);
    assert!(
        known.len() == 1 && known[0].for_.iter().any(|reading| reading.starts_with("in instrumented runs"))
    );
}

#[test]
fn confirmed_parameter_replaces_the_unknown_cause() {
    let experiment = vec![tried(workers(), Resource::PARAMETER, true, Finding::Confirmed)];
    let list = diagnosis(experiment.clone()).judged(vec![cause(Resource::UNKNOWN)]);
    let [parameter] = &list[..] else { panic!("{list:?}") };
    assert_eq!(
        (parameter.resource, parameter.certainty, parameter.scope.to_string().as_str()),
        (Resource::PARAMETER, Certainty::Confirmed, "parameter workers")
    );
    assert_eq!(parameter.next, "set `workers` to 4 or more");
    assert_eq!(parameter.rung, Rung::Experiment);
    // The change itself is the proof. Its effect does not show which resource lies behind it.
    for resource in [Resource::LOCK, Resource::POOL, Resource::ONE_CORE] {
        assert_eq!(
            judged(experiment.clone(), &[resource]),
            [(Resource::PARAMETER, Certainty::Confirmed), (resource, Certainty::Suspected)]
        );
    }
    let nothing = vec![tried(workers(), Resource::PARAMETER, true, Finding::Refuted)];
    assert_eq!(judged(nothing, &[Resource::POOL]), [(Resource::POOL, Certainty::Suspected)], "another pool");
    assert!(diagnosis(Vec::new()).judged(Vec::new()).is_empty(), "nothing was answered");
}

#[test]
fn refuted_cause_is_never_confirmed() {
    // For a quota, a lower value has an effect, and a higher one does not.
    let quota = vec![
        tried(CPU, Resource::CPU_QUOTA, true, Finding::Confirmed),
        tried(Change::Cpu { millicores: 1_250 }, Resource::CPU_QUOTA, true, Finding::Refuted),
    ];
    assert_eq!(judged(quota.clone(), &[Resource::CPU_QUOTA]), [(Resource::CPU_QUOTA, Certainty::Suspected)]);
    let list = diagnosis(quota.clone()).judged(vec![cause(Resource::CPU_QUOTA)]);
    assert!(list[0].for_[0].starts_with("an experiment speaks for it: "), "{list:?}");
    assert!(list[0].against[0].starts_with("another one refutes it: "), "{list:?}");
    assert!(judged(quota, &[Resource::DISK]).iter().all(|(_, certainty)| *certainty != Certainty::Confirmed));
    // More workers have an effect, and CPU time has none: the shortage is workers, not a core.
    let workers = vec![
        tried(CPU, Resource::ONE_CORE, true, Finding::Refuted),
        tried(workers(), Resource::PARAMETER, true, Finding::Confirmed),
    ];
    assert_eq!(
        judged(workers, &[Resource::ONE_CORE]),
        [(Resource::PARAMETER, Certainty::Confirmed), (Resource::ONE_CORE, Certainty::Refuted)]
    );
}

#[test]
fn effective_word_value_is_not_recommended() {
    let off = Change::Parameter { name: "fsync".to_owned(), value: "off".to_owned() };
    let experiment = vec![tried(off, Resource::PARAMETER, true, Finding::Confirmed)];
    let list = diagnosis(experiment).judged(vec![cause(Resource::UNKNOWN)]);
    assert_eq!(list[0].next, "see what `fsync` costs: off gets more, and may promise less");
}

#[test]
fn less_durability_confirms_database_log_with_a_warning() {
    let off = Change::Parameter { name: "fsync".to_owned(), value: "off".to_owned() };
    let mut fsync = tried(off, Resource::PARAMETER, true, Finding::Confirmed);
    fsync.changed.tests.push(Resource::DATABASE_LOG.code.to_owned());
    fsync.changed.loses = Some("a crash loses all".to_owned());
    let costs = "do not keep `fsync: off`, which only shows what the wait costs: a crash loses all; ";
    for (suggested, found) in
        [(Resource::DATABASE_LOG, Resource::DATABASE_LOG), (Resource::UNKNOWN, Resource::PARAMETER)]
    {
        let list = diagnosis(vec![fsync.clone()]).judged(vec![cause(suggested)]);
        let [confirmed] = &list[..] else { panic!("{list:?}") };
        assert_eq!((confirmed.resource, confirmed.certainty), (found, Certainty::Confirmed));
        assert!(
            confirmed.next.starts_with(costs) && confirmed.next.contains("commit less often"),
            "{confirmed:?}"
        );
    }
}

#[test]
fn two_effective_parameters_are_two_causes() {
    let other = Change::Parameter { name: "connections".to_owned(), value: "8".to_owned() };
    let experiment = vec![
        tried(workers(), Resource::PARAMETER, true, Finding::Confirmed),
        tried(other, Resource::PARAMETER, true, Finding::Confirmed),
    ];
    let list = diagnosis(experiment).judged(vec![cause(Resource::UNKNOWN)]);
    let scopes: Vec<String> = list.iter().map(|cause| cause.scope.to_string()).collect();
    assert_eq!(scopes, ["parameter workers", "parameter connections"]);
}

#[test]
fn cause_is_unknown_if_all_are_refuted() {
    let experiment = vec![tried(USERS, Resource::LOAD, true, Finding::Refuted)];
    assert_eq!(
        judged(experiment, &[Resource::LOAD]),
        [(Resource::UNKNOWN, Certainty::Unknown), (Resource::LOAD, Certainty::Refuted)]
    );
}

#[test]
fn more_users_show_whether_something_is_saturated() {
    let scaling = |finding| diagnosis(vec![tried(USERS, Resource::LOAD, true, finding)]).scaling();
    let bound = scaling(Finding::Confirmed).expect("it was tried");
    assert_eq!(
        bound,
        "latency-bound: each user waits, and more users get more (change: throughput ×1.90 (1.80–2.00))"
    );
    assert!(scaling(Finding::Refuted).is_some_and(|words| words.starts_with("saturated: ")));
    assert_eq!(scaling(Finding::Undecided(Undecided::Wide)), None);
    assert_eq!(diagnosis(vec![tried(CPU, Resource::MACHINE_CPU, true, Finding::Confirmed)]).scaling(), None);
}

#[test]
fn undecided_experiment_changes_no_certainty() {
    for (finding, can_refute) in [(Finding::Undecided(Undecided::Wide), true), (Finding::Refuted, false)] {
        let experiment = vec![tried(CPU, Resource::MACHINE_CPU, can_refute, finding)];
        assert_eq!(
            judged(experiment, &[Resource::MACHINE_CPU]),
            [(Resource::MACHINE_CPU, Certainty::Suspected)],
            "{finding:?}"
        );
    }
    let experiment = vec![tried(CPU, Resource::MACHINE_CPU, true, Finding::Contributing)];
    let list = diagnosis(experiment).judged(vec![cause(Resource::MACHINE_CPU)]);
    assert!(list[0].certainty == Certainty::Suspected && list[0].for_[1].contains("contributes"), "{list:?}");
}

#[test]
fn busy_thread_next_to_a_small_pool_is_refuted_and_the_change_confirmed() {
    let experiment = vec![
        tried(CPU, Resource::ONE_CORE, true, Finding::Refuted),
        tried(workers(), Resource::PARAMETER, true, Finding::Confirmed),
    ];
    assert_eq!(
        judged(experiment.clone(), &[Resource::ONE_CORE, Resource::POOL]),
        [
            (Resource::PARAMETER, Certainty::Confirmed),
            (Resource::POOL, Certainty::Suspected),
            (Resource::ONE_CORE, Certainty::Refuted)
        ]
    );
    let conclusion = diagnosis(experiment).conclusion();
    assert_eq!(conclusion.outcome, Outcome::Confirmed);
    let effect = "change: throughput ×1.90 (1.80–2.00)";
    assert_eq!(conclusion.sentence, format!("confirmed: {effect}; no limit: {effect}"));
}

#[test]
fn conclusion_is_confirmed_refuted_or_open() {
    let conclusion = |tried, left_out: &[&str]| {
        let left_out = left_out.iter().map(|why| (*why).to_owned()).collect();
        Diagnosis { left_out, ..diagnosis(tried) }.conclusion()
    };
    let quota = |finding, millicores| tried(Change::Cpu { millicores }, Resource::CPU_QUOTA, true, finding);
    let contested = conclusion(vec![quota(Finding::Confirmed, 800), quota(Finding::Refuted, 1_250)], &[]);
    assert_eq!(contested.outcome, Outcome::Open, "a lower quota has an effect, and a higher one has none");
    assert!(contested.sentence.contains("contradictory: change"), "{}", contested.sentence);
    let refuted = conclusion(vec![quota(Finding::Refuted, 800)], &["workers: the time does not suffice"]);
    assert_eq!(refuted.outcome, Outcome::Refuted);
    let left = "; what limits the system was not found; not tested: workers: the time does not suffice";
    assert!(refuted.sentence.ends_with(left), "{}", refuted.sentence);
    let wide = conclusion(vec![quota(Finding::Undecided(Undecided::Wide), 800)], &[]);
    assert_eq!(wide.outcome, Outcome::Open);
    assert!(wide.sentence.ends_with("(the interval is too wide)"), "{}", wide.sentence);
    assert_eq!(conclusion(Vec::new(), &[]).sentence, "open: no change was tried");
}

#[test]
fn limit_that_a_raised_one_uncovers_is_the_second_cause() {
    let experiment = || {
        let raised = tried(workers(), Resource::PARAMETER, true, Finding::Confirmed);
        let next = NextLimit { with: "workers 2 → 4".to_owned(), causes: vec![cause(Resource::LOCK)] };
        Diagnosis { next_limit: Some(next), ..diagnosis(vec![raised]) }
    };
    let judged = experiment().judged([Resource::POOL, Resource::LOCK].map(cause).into());
    let codes: Vec<_> = judged.iter().map(|cause| (cause.resource, cause.certainty)).collect();
    let expected = [
        (Resource::PARAMETER, Certainty::Confirmed),
        (Resource::LOCK, Certainty::Suspected),
        (Resource::POOL, Certainty::Suspected),
    ];
    assert_eq!(codes, expected);
    assert_eq!(judged[1].because, "with workers 2 → 4, readings");
    let unknown = NextLimit { with: String::new(), causes: vec![cause(Resource::UNKNOWN)] };
    let none = Diagnosis { next_limit: Some(unknown), ..experiment() };
    assert_eq!(none.judged(vec![cause(Resource::POOL)]).len(), 2);
}
