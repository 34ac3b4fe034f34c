//! Runs that nobody makes: what comes of each is drawn from its place, in virtual time, and kept in memory.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use fixtures::{OwnStore, ending, failed, new_run};
use plan::Study as Plan;
use record::{Finish, Interval, Outcome, Phase, Tally};
use store::{Ending, Extension, NewRun, Place, Run, RunId, State, StoreError, Study, StudyEnding, Verdict};
use study::{Ahead, Draws, Journal, RunMaker, begin_study, procedure};

/// The plan of a text.
pub(crate) fn plan(text: &str) -> Plan {
    let plan = Plan::from_bytes(text.as_bytes(), "plan.yaml", "plan".to_owned(), "/".into(), false);
    plan.unwrap_or_else(|faults| panic!("{faults}"))
}

/// A study in memory, and runs to copy.
#[derive(Debug)]
pub(crate) struct Memory {
    study: RefCell<Study>,
    runs: RefCell<Vec<Run>>,
    /// The run that counts of each place, by position.
    counting: RefCell<BTreeMap<u32, usize>>,
    samples: Vec<Run>,
}

/// So many answers a second has the slowest run, and so many more each of the others.
const SLOWEST_PER_S: u64 = 1_000;
const STEP_PER_S: u64 = 10;
const SAMPLES: u64 = 64;
const SECOND_NS: u64 = 1_000_000_000;

impl Memory {
    /// A study of this plan that has just begun.
    pub(crate) fn begun(plan: &Plan) -> Self {
        let store = OwnStore::new();
        let id = begin_study(plan, procedure(plan), serde_json::Value::Null, None, &store).expect("a study");
        let new = NewRun { planned_duration_ns: Some(SECOND_NS), ..new_run() };
        let ending = Ending { window_ns: Some(SECOND_NS), ..ending() };
        let sample = |number| {
            let tally = answered(SLOWEST_PER_S + number * STEP_PER_S);
            let interval = Interval { second: 0, phase: Phase::Measured, tally, sampled: Vec::new() };
            store.kept(&new, &[interval], &[], &ending)
        };
        let samples = (0..SAMPLES).map(sample).collect();
        let study = RefCell::new(store.load_study(&id).expect("it is there"));
        Self { study, runs: RefCell::default(), counting: RefCell::default(), samples }
    }

    /// The same study from its beginning, with other draws.
    pub(crate) fn begin_again(&self, seed: u64) {
        let mut study = self.study.borrow_mut();
        (study.new.seed, study.ending) = (seed, None);
        study.new.planned.clear();
        study.extensions.clear();
        self.runs.borrow_mut().clear();
        self.counting.borrow_mut().clear();
    }

    /// Takes it over, as somebody does who resumes it.
    pub(crate) fn resume(&self, within_s: Option<f64>) {
        let mut study = self.study.borrow_mut();
        study.ending = None;
        study.new.compare.within_s = within_s.or(study.new.compare.within_s);
    }

    /// Takes it over when it is finished, and extends it to so many blocks.
    pub(crate) fn extend(&self, blocks: u32) {
        self.resume(None);
        let mut study = self.study.borrow_mut();
        let planned = u32::try_from(study.new.planned.len()).expect("not so many");
        study.extensions.push(Extension { blocks, planned });
    }

    pub(crate) fn ending(&self) -> Option<StudyEnding> {
        self.study.borrow().ending.clone()
    }

    /// What every planned place has, in the order of the study.
    pub(crate) fn made(&self) -> Vec<Made> {
        let study = self.study().expect("it is in memory");
        let verdict = |place: &Place| Some(study.run(place.position)?.ending.as_ref()?.verdict);
        let of = |place: &Place| {
            (place.stage.clone(), place.block, format!("{} {}", place.load, place.variant), verdict(place))
        };
        study.new.planned.iter().map(of).collect()
    }

    /// How many runs there are of each place, in the order of the study.
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

    fn keep(&self, place: &Place, comes: &Comes, began_ms: i64, ended_ms: i64) {
        let sample = comes.per_s.saturating_sub(SLOWEST_PER_S) / STEP_PER_S;
        let mut run = self.samples[sample.min(SAMPLES - 1) as usize].clone();
        run.id = format!("20261121-142501-{:04}", self.runs.borrow().len()).parse().expect("a name");
        run.new.started_at_unix_ms = began_ms;
        run.new.place = Some((self.study.borrow().id.clone(), place.clone()));
        if let (Some(verdict), Some(ending)) = (comes.verdict, &mut run.ending) {
            (ending.verdict, ending.ended_at_unix_ms) = (verdict, ended_ms);
            ending.failure = failed("ready").failure.filter(|_| verdict == Verdict::Aborted);
            run.state = State::Ended(verdict);
        } else {
            (run.ending, run.state) = (None, State::Partial);
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
        self.by_now(self.study.borrow().clone())
    }

    fn by_now(&self, mut before: Study) -> Result<Study, StoreError> {
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
        Ok(before)
    }

    fn run(&self, run: &RunId) -> Result<Run, StoreError> {
        let runs = self.runs.borrow();
        Ok(runs.iter().find(|kept| kept.id == *run).unwrap_or(&self.samples[0]).clone())
    }

    fn plan_more(&self, places: &[Place]) -> Result<(), StoreError> {
        self.study.borrow_mut().new.planned.extend_from_slice(places);
        Ok(())
    }

    fn finish(&self, ending: &StudyEnding) -> Result<(), StoreError> {
        self.study.borrow_mut().ending = Some(ending.clone());
        Ok(())
    }
}

/// A place: its stage, its block, its load and variant, and how its last run went.
pub(crate) type Made = (String, u32, String, Option<Verdict>);

/// What comes of a run.
#[derive(Clone, Debug)]
pub(crate) struct Comes {
    pub(crate) per_s: u64,
    /// `None`: it never came to its end.
    pub(crate) verdict: Option<Verdict>,
    pub(crate) takes: Duration,
}

impl Comes {
    /// A run that went well, and took two seconds.
    pub(crate) fn well(per_s: u64) -> Self {
        Self { per_s, verdict: Some(Verdict::Complete), takes: Duration::from_secs(2) }
    }
}

/// How a run goes wrong for whoever makes it, not for the system.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Wrong {
    /// Tenbin is killed while it goes on.
    Killed,
    /// The system rejects everything: the study can be resumed.
    Rejected,
}

/// Makes runs in no time.
pub(crate) struct Maker<'a> {
    pub(crate) memory: &'a Memory,
    pub(crate) comes: &'a dyn Fn(&Place) -> Comes,
    began: Instant,
    now: Duration,
    /// Runs that were begun.
    pub(crate) made: usize,
    /// Somebody asks to stop while this run goes on; the first has number 1, and 0 is before it.
    pub(crate) stopped_in: Option<usize>,
    /// What goes wrong in which run.
    pub(crate) wrong: Option<(usize, Wrong)>,
    pub(crate) lines: Vec<String>,
    pub(crate) ahead: Vec<Ahead>,
    pub(crate) seeds: Vec<u64>,
}

impl<'a> Maker<'a> {
    pub(crate) fn new(memory: &'a Memory, comes: &'a dyn Fn(&Place) -> Comes) -> Self {
        Self {
            memory,
            comes,
            began: Instant::now(),
            now: Duration::ZERO,
            made: 0,
            stopped_in: None,
            wrong: None,
            lines: Vec::new(),
            ahead: Vec::new(),
            seeds: Vec::new(),
        }
    }

    pub(crate) fn elapsed(&self) -> Duration {
        self.now
    }
}

impl RunMaker for Maker<'_> {
    type Error = Wrong;

    fn make(&mut self, place: &Place, draws: &Draws, ahead: &Ahead) -> Result<(), Wrong> {
        self.made += 1;
        self.ahead.push(*ahead);
        self.seeds.push(draws.seed);
        let mut comes = (self.comes)(place);
        let wrong = self.wrong.filter(|(at, _)| *at == self.made).map(|(_, wrong)| wrong);
        if wrong.is_some() {
            comes.verdict = None;
        } else if self.stopped_in == Some(self.made) {
            comes.verdict = Some(Verdict::Partial);
        }
        let began = self.now;
        self.now += comes.takes;
        self.memory.keep(place, &comes, began.as_millis() as i64, self.now.as_millis() as i64);
        wrong.map_or(Ok(()), Err)
    }

    fn is_resumable(&self, error: &Wrong) -> bool {
        *error == Wrong::Rejected
    }

    fn says(&mut self, line: &str) {
        self.lines.push(line.to_owned());
    }

    fn is_stopped(&self) -> bool {
        self.stopped_in.is_some_and(|at| self.made >= at)
    }

    fn now(&self) -> Instant {
        self.began + self.now
    }
}

/// A second of a hundred answers, each of which counts as so many: figures are made of counts.
fn answered(per_s: u64) -> Tally {
    let mut tally = Tally::default();
    for number in 0..100 {
        let sent_ns = number * 10_000_000;
        tally.note_sent(sent_ns);
        let finished_ns = sent_ns + 10_000_000;
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
