//! Fake runs and journal: results depend on the place of a run, time is virtual, and everything is in memory.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use evidence::{
    CapacityRules, Cost, Ending, Event, EventCost, Extension, Judged, Model, NewRun, Procedure, Reading, Run,
    RunId, RunState, Study, StudyEnding, StudyPlace, Verdict,
};
use fixtures::{OwnStore, ending, failed, new_run, reading};
use plan::{Amount, SearchOverrides, Study as Plan};
use progress::{Finding, RemainingStudy, RunEvent};
use record::{Finish, Interval, Outcome, Phase, Tally};
use store::StoreError;
use study::{Draws, Journal, RunMaker, begin_study, procedure};

/// Returns the plan of one system in these variants, which differ by a number. `compare` is the value of that key.
pub(crate) fn of(variants: &str, compare: &str) -> Plan {
    let text = format!(
        "scenario: [ get: / ]\nload: {{ users: 1, for: 1s }}\nsystems:\n  web: {{ start: 'web {{port}} {{n}}', \
         vary: {{ n: [{variants}] }} }}\ncompare: {compare}\n"
    );
    let plan = Plan::from_bytes(text.as_bytes(), "plan.yaml", "plan".to_owned(), "/".into(), false);
    plan.unwrap_or_else(|faults| panic!("{faults}"))
}

/// Parses a plan.
pub(crate) fn with_text(text: &str, is_quick: bool) -> Plan {
    let plan = Plan::from_bytes(text.as_bytes(), "plan.yaml", "plan".to_owned(), "/".into(), is_quick);
    plan.unwrap_or_else(|faults| panic!("{faults}"))
}

/// Like `of`, under an open load and with an event.
pub(crate) fn with_event(variants: &str, compare: &str) -> Plan {
    let text = format!(
        "scenario: [ get: / ]\nload: {{ rate: 10/s, for: 10s }}\nevents: {{ deploy: {{ at: 5s }} }}\nsystems:\n  \
         web: {{ start: 'web {{port}} {{n}}', vary: {{ n: [{variants}] }}, events: {{ deploy: {{ signal: HUP }} }} }}\n\
         compare: {compare}\n"
    );
    let plan = Plan::from_bytes(text.as_bytes(), "plan.yaml", "plan".to_owned(), "/".into(), false);
    plan.unwrap_or_else(|faults| panic!("{faults}"))
}

/// Returns the plan of two systems with three variants each, which differ by a number, under two loads. `compare` is
/// the value of that key.
pub(crate) fn of_two_systems(compare: &str) -> Plan {
    let system =
        |name: &str| format!("  {name}: {{ start: '{name} {{port}} {{n}}', vary: {{ n: [1, 2, 3] }} }}\n");
    let loads = "[ { name: full, users: 2, for: 1s }, { name: light, users: 1, for: 1s } ]";
    let systems = [system("a"), system("b")].concat();
    let text = format!("scenario: [ get: / ]\nload: {loads}\nsystems:\n{systems}compare: {compare}\n");
    with_text(&text, false)
}

/// Returns the number at the end of a variant's name.
pub(crate) fn n(place: &StudyPlace) -> u64 {
    place.variant.trim_start_matches("n=").parse().expect("a number")
}

/// Returns a capacity search over these variants.
pub(crate) fn search(variants: &str) -> (Plan, Procedure) {
    let slos = vec!["p50<100ms".to_owned()];
    let searched = SearchOverrides {
        load: None,
        measured_ns: None,
        warm_up_ns: None,
        seed: None,
        conditions: study::slos(&slos).expect("a condition"),
    };
    let plan = of(variants, "{ by: throughput }").searched(&searched).expect("it can be searched");
    let rules = CapacityRules {
        slos,
        resolution: 0.03,
        from_per_s: None,
        to_per_s: None,
        confirm_runs: 3,
        overruled_by: study::OVERRULE_LEAD,
        has_overload: true,
        soak_s: Some(10.0),
        runs_max: 120,
    };
    (plan, Procedure::Capacity(rules))
}

/// A study in memory. Its runs are copies of samples; a store has one sample of each kind.
#[derive(Debug)]
pub(crate) struct Memory {
    study: RefCell<Study>,
    runs: RefCell<Vec<Run>>,
    /// Index of the run that counts for each place, by position.
    counting: RefCell<BTreeMap<u32, usize>>,
    samples: RefCell<BTreeMap<(bool, Figures), Run>>,
    store: OwnStore,
}

const SECOND_NS: u64 = 1_000_000_000;

impl Memory {
    /// Starts a study of this plan.
    pub(crate) fn begun(plan: &Plan) -> Self {
        Self::with_procedure(plan, procedure(plan))
    }

    /// Starts a study of this plan with another procedure.
    pub(crate) fn with_procedure(plan: &Plan, procedure: Procedure) -> Self {
        let store = OwnStore::new();
        let id = begin_study(plan, procedure, serde_json::Value::Null, None, None, &store).expect("a study");
        let study = RefCell::new(store.load_study(&id).expect("it is there"));
        let (runs, counting, samples) = Default::default();
        Self { study, runs, counting, samples, store }
    }

    /// Returns a run with these figures.
    fn sample(&self, is_open: bool, figures: Figures) -> Run {
        let mut samples = self.samples.borrow_mut();
        let sample = samples.entry((is_open, figures)).or_insert_with(|| {
            let model = if is_open { Model::Open } else { Model::Closed };
            let new = NewRun { model, planned_duration_ns: Some(SECOND_NS), ..new_run() };
            let ending = Ending { window_ns: Some(SECOND_NS), ..ending() };
            let tally = answered(figures);
            let interval = Interval { second: 0, phase: Phase::Measured, tally, sampled: Vec::new() };
            let readings: Vec<_> = figures.busy_percent.map(|busy| (0, cores(busy))).into_iter().collect();
            let run = self.store.kept(&new, &[interval], &readings, &ending);
            figures.outage_ms.map_or(run.clone(), |outage_ms| self.with_event(&run.id, outage_ms))
        });
        sample.clone()
    }

    /// Adds an event with this outage, and without lost requests, to a run.
    fn with_event(&self, run: &RunId, outage_ms: u64) -> Run {
        let event =
            Event { name: "deploy".to_owned(), begun_ns: Some(1), ended_ns: Some(2), ..Event::default() };
        self.store.keep_events(run, &[event]).expect("an event");
        let cost = Cost { outage_ns: outage_ms * 1_000_000, ..Cost::default() };
        let cost =
            EventCost { name: "deploy".to_owned(), occurrence: 0, judged: Judged::Cost(Box::new(cost)) };
        let mut run = self.store.load(run).expect("it is kept");
        self.store.keep_event_costs(&mut run, vec![cost]).expect("a cost");
        run
    }

    /// Restarts the study with another seed.
    pub(crate) fn begin_again(&self, seed: u64) {
        let mut study = self.study.borrow_mut();
        (study.new.seed, study.ending) = (seed, None);
        study.new.planned.clear();
        study.extensions.clear();
        self.runs.borrow_mut().clear();
        self.counting.borrow_mut().clear();
    }

    /// Claims the study, as a command that resumes it does.
    pub(crate) fn resume(&self, within_s: Option<f64>) {
        let mut study = self.study.borrow_mut();
        study.ending = None;
        study.new.compare.within_s = within_s.or(study.new.compare.within_s);
    }

    /// Removes the time limit.
    pub(crate) fn no_time_limit(&self) {
        self.study.borrow_mut().new.compare.within_s = None;
    }

    pub(crate) fn ending(&self) -> Option<StudyEnding> {
        self.study.borrow().ending.clone()
    }

    /// Returns the state of every planned place, in the order of the study.
    pub(crate) fn made(&self) -> Vec<Made> {
        let study = self.study().expect("it is in memory");
        let verdict = |place: &StudyPlace| Some(study.run(place.position)?.ending.as_ref()?.verdict);
        let of = |place: &StudyPlace| {
            let load = study::level_words(place).unwrap_or_else(|| place.load.clone());
            (place.stage.clone(), place.block, format!("{load} {}", place.variant), verdict(place))
        };
        study.new.planned.iter().map(of).collect()
    }

    /// Returns the number of runs of each place, in the order of the study.
    pub(crate) fn runs_of_places(&self) -> Vec<usize> {
        let (study, runs) = (self.study.borrow(), self.runs.borrow());
        let is_of =
            |run: &&Run, at: u32| run.new.place.as_ref().is_some_and(|(_, place)| place.position == at);
        study
            .new
            .planned
            .iter()
            .map(|place| runs.iter().filter(|run| is_of(run, place.position)).count())
            .collect()
    }

    /// Returns whether the counted runs of each block were made consecutively.
    pub(crate) fn are_blocks_of_one_start(&self) -> bool {
        let study = self.study().expect("it is in memory");
        let block = |run: &Run| run.new.place.as_ref().map(|(_, place)| place.block);
        study.runs.windows(2).all(|two| {
            block(&two[0]) != block(&two[1]) || two[0].new.started_at_unix_ms < two[1].new.started_at_unix_ms
        })
    }

    fn keep(&self, place: &StudyPlace, simulate: &SimulatedRun, began_ms: i64, ended_ms: i64) {
        let mut run = self.sample(place.rate_per_s.is_some(), simulate.figures);
        run.id = format!("20261121-142501-{:04}", self.runs.borrow().len()).parse().expect("a name");
        run.new.started_at_unix_ms = began_ms;
        run.new.place = Some((self.study.borrow().id.clone(), place.clone()));
        if let (Some(verdict), Some(ending)) = (simulate.verdict, &mut run.ending) {
            (ending.verdict, ending.ended_at_unix_ms) = (verdict, ended_ms);
            ending.failure = failed("ready").failure.filter(|_| verdict == Verdict::Aborted);
            run.state = RunState::Ended(verdict);
        } else {
            (run.ending, run.state) = (None, RunState::Partial);
        }
        let (mut runs, mut counting) = (self.runs.borrow_mut(), self.counting.borrow_mut());
        let is_done = |run: &Run| run.ending.as_ref().is_some_and(Ending::is_done);
        let counts = match counting.get(&place.position) {
            _ if run.ending.is_none() => false,
            Some(earlier) => is_done(&run) || !is_done(&runs[*earlier]),
            None => true,
        };
        if counts {
            counting.insert(place.position, runs.len());
        }
        runs.push(run);
    }
}

impl Journal for Memory {
    fn study(&self) -> Result<Study, StoreError> {
        let mut study = self.study.borrow().clone();
        self.reload(&mut study)?;
        Ok(study)
    }

    fn reload(&self, before: &mut Study) -> Result<(), StoreError> {
        let (study, all) = (self.study.borrow(), self.runs.borrow());
        let planned = before.new.planned.len();
        before.new.planned.extend_from_slice(&study.new.planned[planned..]);
        before.ending.clone_from(&study.ending);
        let mut known = std::mem::take(&mut before.runs).into_iter().peekable();
        let position = |run: &Run| run.new.place.as_ref().map(|(_, place)| place.position);
        let read = |(at, number): (&u32, &usize)| {
            while known.next_if(|run| position(run) < Some(*at)).is_some() {}
            let run = &all[*number];
            known.next_if(|known| known.id == run.id).unwrap_or_else(|| run.clone())
        };
        before.runs = self.counting.borrow().iter().map(read).collect();
        Ok(())
    }

    fn run(&self, run: &RunId) -> Result<Run, StoreError> {
        let runs = self.runs.borrow();
        let kept = runs.iter().find(|kept| kept.id == *run);
        kept.cloned()
            .ok_or_else(|| StoreError::UnknownRun { path: self.store.path().into(), text: run.to_string() })
    }

    fn plan_more(&self, places: &[StudyPlace]) -> Result<(), StoreError> {
        self.study.borrow_mut().new.planned.extend_from_slice(places);
        Ok(())
    }

    fn finish(&self, ending: &StudyEnding) -> Result<(), StoreError> {
        self.study.borrow_mut().ending = Some(ending.clone());
        Ok(())
    }

    fn extend(
        &self,
        kept: &Study,
        within_s: Option<f64>,
        blocks: u32,
        places: &[StudyPlace],
    ) -> Result<(), StoreError> {
        assert!(kept.ending.is_some(), "it has ended");
        self.resume(within_s);
        let planned = u32::try_from(kept.new.planned.len()).expect("not so many");
        self.study.borrow_mut().extensions.push(Extension { blocks, planned });
        self.plan_more(places)
    }
}

/// State of a place: stage, block, load and variant, and the verdict of its last run.
pub(crate) type Made = (String, u32, String, Option<Verdict>);

/// Result of a fake run.
#[derive(Clone, Debug)]
pub(crate) struct SimulatedRun {
    pub(crate) figures: Figures,
    /// Verdict; `None` if the run was never completed.
    pub(crate) verdict: Option<Verdict>,
    pub(crate) takes: Duration,
}

/// Figures of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Figures {
    pub(crate) per_s: u64,
    /// Response time of each answer, in milliseconds.
    pub(crate) response_ms: u64,
    /// CPU usage of the machine's cores by the system, in percent. `None` if nothing was read.
    pub(crate) busy_percent: Option<u32>,
    /// Outage caused by the event of the run, in milliseconds. `None` without an event.
    pub(crate) outage_ms: Option<u64>,
}

impl SimulatedRun {
    /// Returns a successful run that took two seconds.
    pub(crate) fn successful(per_s: u64) -> Self {
        Self::of(Figures { per_s, response_ms: 10, busy_percent: None, outage_ms: None })
    }

    /// Returns a successful run with these figures that took two seconds.
    pub(crate) fn of(figures: Figures) -> Self {
        Self { figures, verdict: Some(Verdict::Complete), takes: Duration::from_secs(2) }
    }
}

/// Failure of the run maker, as opposed to a failure of the system.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Interruption {
    /// Tenbin is killed during the run.
    Killed,
    /// The system rejects everything. The study can be resumed.
    Rejected,
}

/// Makes runs in virtual time.
pub(crate) struct Maker<'a> {
    pub(crate) memory: &'a Memory,
    pub(crate) simulate: &'a dyn Fn(&StudyPlace) -> SimulatedRun,
    began: Instant,
    now: Duration,
    /// Number of runs that were started.
    pub(crate) made: usize,
    /// Run during which a stop is requested, counted from 1. 0 stops before the first run.
    pub(crate) stopped_in: Option<usize>,
    /// Number of the failing run, and its failure.
    pub(crate) wrong: Option<(usize, Interruption)>,
    pub(crate) lines: Vec<String>,
    pub(crate) events: Vec<RunEvent>,
    pub(crate) ahead: Vec<RemainingStudy>,
    pub(crate) seeds: Vec<u64>,
    pub(crate) amounts: Vec<Option<Amount>>,
    pub(crate) stays_up: Vec<bool>,
}

impl<'a> Maker<'a> {
    pub(crate) fn new(memory: &'a Memory, simulate: &'a dyn Fn(&StudyPlace) -> SimulatedRun) -> Self {
        Self {
            memory,
            simulate,
            began: Instant::now(),
            now: Duration::ZERO,
            made: 0,
            stopped_in: None,
            wrong: None,
            lines: Vec::new(),
            events: Vec::new(),
            ahead: Vec::new(),
            seeds: Vec::new(),
            amounts: Vec::new(),
            stays_up: Vec::new(),
        }
    }

    /// Like `new`, at `now` after the start of the study.
    pub(crate) fn later(
        memory: &'a Memory,
        simulate: &'a dyn Fn(&StudyPlace) -> SimulatedRun,
        now: Duration,
    ) -> Self {
        Self { now, ..Self::new(memory, simulate) }
    }

    pub(crate) fn elapsed(&self) -> Duration {
        self.now
    }
}

impl RunMaker for Maker<'_> {
    type Error = Interruption;

    fn make(
        &mut self,
        place: &StudyPlace,
        draws: &Draws,
        ahead: &RemainingStudy,
    ) -> Result<(), Interruption> {
        self.made += 1;
        self.ahead.push(*ahead);
        self.seeds.push(draws.seed);
        self.amounts.push(draws.amount);
        self.stays_up.push(draws.stays_up);
        let mut simulate = (self.simulate)(place);
        let wrong = self.wrong.filter(|(at, _)| *at == self.made).map(|(_, wrong)| wrong);
        if wrong.is_some() {
            simulate.verdict = None;
        } else if self.stopped_in == Some(self.made) {
            simulate.verdict = Some(Verdict::Partial);
        }
        let began = self.now;
        self.now += simulate.takes;
        self.memory.keep(place, &simulate, began.as_millis() as i64, self.now.as_millis() as i64);
        wrong.map_or(Ok(()), Err)
    }

    fn is_resumable(&self, error: &Interruption) -> bool {
        *error == Interruption::Rejected
    }

    fn publish(&mut self, event: RunEvent) {
        match &event {
            RunEvent::Remark(remark) => self.lines.push(remark.clone()),
            RunEvent::Finding(Finding::Bottleneck { limit, variants }) => {
                self.lines.push(format!("likely bottleneck so far: {limit}: {}", variants.join(", ")));
            }
            _ => {}
        }
        self.events.push(event);
    }

    fn is_stopped(&self) -> bool {
        self.stopped_in.is_some_and(|at| self.made >= at)
    }

    fn now(&self) -> Instant {
        self.began + self.now
    }
}

/// Returns the readings of two cores in a second.
fn cores(busy_percent: u32) -> Vec<Reading> {
    let busy = f64::from(busy_percent) / 100.0;
    let of_core = |core| {
        [reading("machine", "cpu_user_s", core, busy), reading("machine", "cpu_idle_s", core, 1.0 - busy)]
    };
    let mut readings: Vec<Reading> = ["core0", "core1"].into_iter().flat_map(of_core).collect();
    readings.push(reading("system", "cpu_user_s", "", 2.0 * busy));
    readings
}

/// Builds a second of at most 100 recorded answers. Counters are then raised to `per_s`, because figures are computed
/// from counts.
fn answered(Figures { per_s, response_ms, .. }: Figures) -> Tally {
    let mut tally = Tally::default();
    for number in 0..per_s.min(100) {
        let sent_ns = number * 10_000_000;
        tally.note_sent(sent_ns);
        let finished_ns = sent_ns + response_ms * 1_000_000;
        tally.note_finished(&Finish {
            intended_ns: sent_ns,
            sent_ns,
            first_byte_ns: None,
            finished_ns,
            outcome: Outcome::Ok,
            status: 200,
        });
    }
    let more = per_s.saturating_sub(100);
    tally.counts.planned += more;
    tally.counts.sent += more;
    tally.counts.ok += more;
    tally.window.ok = per_s;
    tally
}
