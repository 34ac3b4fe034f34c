//! Judgment of experiments in stored studies.

use evidence::{Change, Changed, Intervention, Procedure, StudyId, StudyPlace, stage};
use judge::{Diagnosis, Gates, Resource};
use stats::{Finding, Undecided};

use crate::stored::{BLOCK, Queue, Stored, invalid, place};

fn changed(rank: u32, name: &str, tests: Resource, factor: f64, can_refute: bool) -> Intervention {
    Intervention::Changed(Changed {
        name: name.to_owned(),
        change: Change::Users { users: 8 },
        rank,
        tests: vec![tests.code.to_owned()],
        can_refute,
        factor,
        limit_from: 0.5,
        prediction: "it moves".to_owned(),
        loses: None,
    })
}

/// An experiment of eight blocks: each has a control, a second control, and the given interventions with their rates.
struct Experiment {
    stored: Stored,
    id: StudyId,
    planned: Vec<(StudyPlace, u64)>,
}

impl Experiment {
    fn begin(rates: &[(Intervention, u64)]) -> Self {
        let stored = Stored::new();
        let mut planned = vec![(place(0, 0, BLOCK, "a"), 1_000)];
        for block in 0..8 {
            let controls = [(Intervention::CONTROL, 1_000), (Intervention::ControlAgain, 1_000)];
            for (of, rate) in controls.iter().chain(rates) {
                let position = planned.len() as u32;
                let place = place(position, block, stage::INTERVENTION, "a");
                // Rates within a block vary slightly.
                let rate = rate + u64::from(block + position) % 5;
                planned.push((StudyPlace { intervention: Some(of.clone()), ..place }, rate));
            }
        }
        let places = planned.iter().map(|(place, _)| place.clone()).collect();
        let id = stored.study(Procedure::Blocks, 1, places);
        Self { stored, id, planned }
    }

    fn make(&self, count: usize, is_invalid: impl Fn(&StudyPlace) -> bool) {
        for (place, rate_per_s) in &self.planned[..count] {
            let queue = Queue {
                rate_per_s: *rate_per_s,
                service_ns: 1_000,
                warm_up_s: 0,
                measured_s: 2,
                ..Queue::default()
            };
            let ending = if is_invalid(place) { invalid() } else { fixtures::ending() };
            self.stored.run(Some((&self.id, place)), Some(&queue), &ending);
        }
    }

    fn diagnosis(&self) -> Option<Diagnosis> {
        Diagnosis::of(&self.stored.load(&self.id)).expect("it can be read")
    }
}

#[test]
fn effective_change_is_confirmed_and_ineffective_one_refuted() {
    let experiment = Experiment::begin(&[
        (changed(1, "users", Resource::LOAD, 2.0, true), 1_001),
        (changed(0, "CPU", Resource::ONE_CORE, 0.8, true), 800),
    ]);
    experiment.make(experiment.planned.len() - 1, |_| false);
    assert!(experiment.diagnosis().is_none(), "who looks before the end finds more than there is");
    experiment.make(experiment.planned.len(), |_| false);
    let diagnosis = experiment.diagnosis().expect("it made an experiment");
    let found: Vec<(&str, Finding, usize)> = diagnosis
        .tried
        .iter()
        .map(|tried| (tried.changed.name.as_str(), tried.effect.finding, tried.effect.blocks))
        .collect();
    assert_eq!(found, [("CPU", Finding::Confirmed, 8), ("users", Finding::Refuted, 8)]);
    assert!(diagnosis.next_limit.is_none(), "less of something shows no next limit");
}

#[test]
fn other_numbers_of_users_form_a_ladder_and_are_no_change() {
    let users = |users| Intervention::Users { name: format!("users 4 → {users}"), from: 4, users };
    let rungs = [(1, 300), (2, 580), (6, 1_200), (12, 1_200), (16, 1_200)];
    let rates: Vec<(Intervention, u64)> = rungs
        .map(|(of, per_s)| (users(of), per_s))
        .into_iter()
        .chain([(changed(0, "users 4 → 8", Resource::LOAD, 2.0, true), 1_200)])
        .collect();
    let experiment = Experiment::begin(&rates);
    experiment.make(experiment.planned.len(), |_| false);
    let diagnosis = experiment.diagnosis().expect("an experiment");
    assert_eq!(diagnosis.tried.len(), 1);
    let ladder = diagnosis.ladder.as_ref().expect("six numbers of users and those of the load");
    let by_users: Vec<(u32, usize)> = ladder.rungs.iter().map(|rung| (rung.users, rung.runs)).collect();
    assert_eq!(by_users, [(1, 8), (2, 8), (4, 16), (6, 8), (8, 8), (12, 8), (16, 8)]);
    let at = ladder.saturated_at.expect("it stops to grow");
    assert!(ladder.law.is_some() && (at.users - 7.0).abs() < 0.1, "7 users get 95 % by the law: {at:?}");
    assert!(
        diagnosis
            .scaling()
            .is_some_and(|words| words.contains("at about 7 users: more users get a little more")),
        "{:?}",
        diagnosis.scaling()
    );
}

#[test]
fn block_with_an_invalid_control_is_ignored() {
    let workers = changed(0, "workers", Resource::PARAMETER, 2.0, true);
    let experiment = Experiment::begin(&[(workers, 1_900)]);
    let is_control = |place: &StudyPlace| place.intervention == Some(Intervention::CONTROL);
    experiment.make(experiment.planned.len(), |place| is_control(place) && place.block >= 5);
    let diagnosis = experiment.diagnosis().expect("an experiment");
    let effect = diagnosis.tried[0].effect;
    assert_eq!((effect.blocks, effect.finding), (5, Finding::Undecided(Undecided::TooFewBlocks)));
}

#[test]
fn runs_of_an_experiment_do_not_count_in_the_study() {
    let workers = changed(0, "workers", Resource::PARAMETER, 2.0, true);
    let experiment = Experiment::begin(&[(workers, 1_900)]);
    experiment.make(experiment.planned.len(), |_| false);
    let study = experiment.stored.load(&experiment.id);
    let counted: Vec<_> = judge::counted(&study, "steady").collect();
    assert_eq!((counted.len(), counted[0].places.len(), counted[0].others.len()), (1, 1, 0));
    assert!(Gates::of(&study).held());
    let next = experiment.diagnosis().expect("an experiment").next_limit.expect("workers were raised");
    assert_eq!(next.with, "workers");
}

#[test]
fn change_with_restart_is_compared_with_a_restarted_control() {
    let workers = |rate| match changed(0, "workers", Resource::PARAMETER, 2.0, true) {
        Intervention::Changed(of) => {
            let change = Change::Parameter { name: "workers".to_owned(), value: "4".to_owned() };
            (Intervention::Changed(Changed { change, ..of }), rate)
        }
        other => panic!("{other:?}"),
    };
    let cpu = (changed(1, "users", Resource::LOAD, 2.0, true), 500);
    let experiment = Experiment::begin(&[(Intervention::ControlRestarted, 500), workers(1_000), cpu]);
    experiment.make(experiment.planned.len(), |_| false);
    let diagnosis = experiment.diagnosis().expect("an experiment");
    let found: Vec<(Finding, bool)> = diagnosis
        .tried
        .iter()
        .map(|tried| (tried.effect.finding, tried.effect.ratio.is_some_and(|ratio| ratio > 1.9)))
        .collect();
    assert_eq!(found, [(Finding::Confirmed, true), (Finding::Refuted, false)]);
    // Without other controls it is still compared with the restarted control, but the noise between controls is unknown.
    let is_of_others = |place: &StudyPlace| {
        place.intervention.as_ref().is_some_and(|of| of.name().starts_with("control") && !of.needs_restart())
    };
    let experiment = Experiment::begin(&[(Intervention::ControlRestarted, 500), workers(1_000)]);
    experiment.make(experiment.planned.len(), is_of_others);
    let effect = experiment.diagnosis().expect("an experiment").tried[0].effect;
    assert_eq!((effect.blocks, effect.finding), (8, Finding::Undecided(Undecided::Noise)));
    // An earlier version planned no restarted control.
    let experiment = Experiment::begin(&[workers(1_900)]);
    experiment.make(experiment.planned.len(), |_| false);
    let ratio = experiment.diagnosis().expect("an experiment").tried[0].effect.ratio;
    assert!(ratio.is_some_and(|ratio| ratio > 1.8), "{ratio:?}");
}
