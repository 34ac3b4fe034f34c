//! How long the runs of a study take, and whether there is time for more.

use std::time::Duration;

use plan::Study as Plan;
use store::{Place, Procedure, Study, stage};

/// What is known of the time that runs take.
pub(crate) struct Pace<'a> {
    plan: &'a Plan,
    /// Runs that were noted, and how long they took beyond their loads.
    noted: u32,
    beyond: Duration,
    /// Of loads whose end no clock decides: how often each was run, and how long that took.
    untimed: Vec<(String, u32, Duration)>,
    budget: Option<Budget>,
    /// Of a search that ends with a run for long: how long.
    soak: Option<Duration>,
}

/// The time that a study may take.
struct Budget {
    within: Duration,
    /// What it took before it was interrupted.
    spent_before: Duration,
}

impl<'a> Pace<'a> {
    /// Of a study with so many runs as `kept` has.
    pub(crate) fn of(plan: &'a Plan, kept: &Study) -> Self {
        let within = kept.new.compare.within_s.and_then(|s| Duration::try_from_secs_f64(s).ok());
        let spent_before = kept.runs.iter().map(took).sum();
        let budget = within.map(|within| Budget { within, spent_before });
        let soak_s = match &kept.new.compare.procedure {
            Procedure::Capacity(rules) => rules.soak_s,
            _ => None,
        };
        let soak = soak_s.and_then(|s| Duration::try_from_secs_f64(s).ok());
        Self { plan, noted: 0, beyond: Duration::ZERO, untimed: Vec::new(), budget, soak }
    }

    /// A run took so long.
    pub(crate) fn note(&mut self, place: &Place, took: Duration) {
        let Some(load) = self.load_of(place) else {
            match self.untimed.iter_mut().find(|(load, ..)| *load == place.load) {
                Some((_, runs, sum)) => (*runs, *sum) = (*runs + 1, *sum + took),
                None => self.untimed.push((place.load.clone(), 1, took)),
            }
            return;
        };
        self.noted += 1;
        self.beyond += took.saturating_sub(load);
    }

    /// How long these runs will take, and so many more like them; `None`: nobody can say.
    pub(crate) fn expected(&self, places: &[Place], later: usize) -> Option<Duration> {
        let each: Option<Duration> = places.iter().map(|place| self.of_one(place)).sum();
        let mean = each?.checked_div(places.len() as u32).unwrap_or_default();
        Some(each? + mean * later as u32)
    }

    /// Whether these runs can end within the study's time, of which so much has gone since it was begun or gone on with.
    pub(crate) fn is_time_for(&self, places: &[Place], gone: Duration) -> bool {
        let expected = self.expected(places, 0).unwrap_or_default();
        self.left(gone).is_none_or(|left| expected <= left)
    }

    /// What is left of the study's time; `None` if it has no bound.
    pub(crate) fn left(&self, gone: Duration) -> Option<Duration> {
        self.budget.as_ref().map(|budget| budget.within.saturating_sub(budget.spent_before + gone))
    }

    /// That the time of the study does not last for these runs, and what it lacks: so many runs at most may follow them.
    pub(crate) fn spent(&self, next: &[Place], later: Option<usize>, gone: Duration) -> String {
        let left = self.left(gone).unwrap_or_default().as_secs_f64();
        let takes = self.expected(next, 0).unwrap_or_default().as_secs_f64();
        let next_words = if next.len() == 1 { "run" } else { "runs" };
        let missing = match later {
            Some(0) => format!("{} are missing", next.len()),
            Some(later) => format!("up to {} are missing", next.len() + later),
            None => "some are missing".to_owned(),
        };
        format!(
            "the time is spent: {left:.1} s are left, and the next {} {next_words} would take {takes:.1} s; {missing}, which need \
             a longer `within`",
            next.len()
        )
    }

    fn of_one(&self, place: &Place) -> Option<Duration> {
        let beyond = self.beyond.checked_div(self.noted).unwrap_or_default();
        self.load_of(place).map(|load| load + beyond).or_else(|| {
            let (_, runs, sum) = self.untimed.iter().find(|(load, ..)| *load == place.load)?;
            sum.checked_div(*runs)
        })
    }

    /// How long the load of a run goes on, if time ends it.
    fn load_of(&self, place: &Place) -> Option<Duration> {
        if place.stage == stage::SOAK {
            return self.soak;
        }
        // A search has one load, at levels that are named for themselves.
        let is_level = place.users.is_some() || place.rate_per_s.is_some();
        let load = self.plan.loads.iter().find(|load| is_level || load.name == place.load)?;
        load.run_ns.map(Duration::from_nanos)
    }
}

/// How long a stored run took.
fn took(run: &store::Run) -> Duration {
    let ended = run.ending.as_ref().map_or(run.new.started_at_unix_ms, |ending| ending.ended_at_unix_ms);
    Duration::from_millis(u64::try_from(ended - run.new.started_at_unix_ms).unwrap_or_default())
}
