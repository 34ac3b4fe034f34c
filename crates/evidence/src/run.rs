//! A stored run: description, ending, and all events, second by second or summed up.

use std::collections::BTreeSet;

use record::{
    Counts, Histogram, IdentityBroken, Interval, Ledger, Malformed, Phase, Sampled, Statuses, Tally, Whole,
    WindowCounts,
};

use crate::Result;
use crate::baseline::Baseline;
use crate::description::NewRun;
use crate::ending::{Ending, Verdict};
use crate::error::EvidenceError;
use crate::event::Event;
use crate::monitored::{GateResult, Monitored, Output};
use crate::reading::StoredReading;
use crate::run_id::RunId;
use crate::validity::GeneratorEffect;
use crate::window::{self, WindowLength};

/// State of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RunState {
    /// A live process is still writing the run.
    Running,
    /// The run has no ending, and its process is gone.
    Partial,
    /// The run ended with this verdict.
    Ended(Verdict),
}

/// A stored run. Histograms of its seconds are unpacked on demand, so that a long run fits in memory.
#[derive(Clone, Debug)]
pub struct Run {
    /// Name of the run.
    pub id: RunId,
    /// Description when it began.
    pub new: NewRun,
    /// Facts at its end; `None` if it is still running or was cut short.
    pub ending: Option<Ending>,
    /// State of the run.
    pub state: RunState,
    /// Stored baseline that the run is compared with; `None` if none was asked for.
    pub baseline: Option<Baseline>,
    /// Intervals, in order of step, phase, second.
    pub(crate) parts: Vec<StoredSecond>,
    /// Indexes into `parts`, in order of second, phase, step.
    pub(crate) by_second: Vec<usize>,
    /// Whether the seconds were summed up, so that `parts` are sums over the run.
    pub(crate) is_summed_up: bool,
    /// Length of the measured window, and whether its answers were counted by whole seconds.
    pub(crate) window: Option<WindowLength>,
    pub(crate) monitored: Monitored,
}

/// A stored interval with packed histograms.
#[derive(Clone, Debug)]
pub struct StoredSecond {
    /// Number of the step, or of a part of a step.
    pub step: u16,
    /// Whole seconds since the load began.
    pub second: u64,
    /// Warm-up or measured.
    pub phase: Phase,
    /// Counts.
    pub counts: Counts,
    /// Bytes read from sockets.
    pub received_bytes: u64,
    /// Bytes written to sockets.
    pub sent_bytes: u64,
    /// Connections opened.
    pub connections: u64,
    /// Time at which the first request was sent, since the load began; `None` if none was sent.
    pub first_sent_ns: Option<u64>,
    /// Time at which the last request ended, since the load began; `None` if none ended.
    pub last_finished_ns: Option<u64>,
    /// Requests that ended in the measured window; `None` if an earlier version stored the run without counting them.
    pub window: Option<WindowCounts>,
    /// Replies by status.
    pub statuses: Statuses,
    /// Errors by kind.
    pub errors: Ledger,
    /// Packed histograms, as written by [`Tally::encode_histograms`].
    pub histograms: Vec<u8>,
    /// Requests that were sampled one by one.
    pub sampled: Vec<Sampled>,
}

/// A stored interval with packed histograms, for reading.
#[derive(Clone, Copy, Debug)]
pub struct PackedSecond<'a> {
    run: &'a Run,
    part: &'a StoredSecond,
}

/// Upper bound of all counts of a run together, so that no sum of them overflows.
const WEIGHT_MAX: u64 = 1 << 62;

impl Run {
    /// Assembles a run from its parts, in any order, and checks that they unpack and add up.
    pub fn assemble(
        id: RunId,
        new: NewRun,
        ending: Option<Ending>,
        state: RunState,
        mut parts: Vec<StoredSecond>,
        monitored: Monitored,
    ) -> Result<Self> {
        let window = window::settle(&new, ending.as_ref(), &mut parts);
        parts.sort_by_key(|part| (part.step, part.phase, part.second));
        let mut by_second: Vec<usize> = (0..parts.len()).collect();
        by_second.sort_by_key(|place| (parts[*place].second, parts[*place].phase, parts[*place].step));
        let (baseline, is_summed_up) = (None, false);
        let run =
            Self { id, new, ending, state, baseline, parts, by_second, is_summed_up, window, monitored };
        let (mut weight, mut statuses) = (0u64, BTreeSet::new());
        for part in &run.parts {
            let durations = Tally::check_histograms(&part.histograms).map_err(|Malformed| run.damaged())?;
            let sum = part.weight(durations).and_then(|of_part| weight.checked_add(of_part));
            weight = sum.filter(|sum| *sum <= WEIGHT_MAX).ok_or_else(|| run.damaged())?;
            statuses.extend(part.statuses.iter().map(|(status, _)| status));
        }
        if statuses.len() > Statuses::KINDS_MAX {
            return Err(run.damaged());
        }
        let numbers = run.new.steps.len() + run.new.parts.len();
        for step in (0..=u16::MAX).take(numbers) {
            for phase in Phase::ALL {
                run.total(step, phase)?;
            }
        }
        Ok(run)
    }

    /// Sums up one phase of a step. Parts of steps have numbers after those of the steps. In a run that was cut short, requests in
    /// flight count as unfinished, and waiting ones as not sent.
    pub fn total(&self, step: u16, phase: Phase) -> Result<Tally> {
        let mut whole = Whole::default();
        for part in self.parts_of(step, phase) {
            whole.absorb(&part.counted()).map_err(|source| self.broken(source))?;
            whole.absorb_histograms(&part.histograms).map_err(|Malformed| self.damaged())?;
        }
        let total = if self.ending.is_some() { whole.settle() } else { whole.cut_short() };
        total.map_err(|source| self.broken(source))
    }

    /// Counts of [`Run::total`], and requests that ended in the window. Unpacks no histogram.
    pub fn counted(&self, step: u16, phase: Phase) -> (Counts, WindowCounts) {
        let (mut counts, mut window) = (Counts::default(), WindowCounts::default());
        for part in self.parts_of(step, phase) {
            counts.add(&part.counts);
            window.add(&part.window.unwrap_or_default());
        }
        (counts, window)
    }

    /// Replies by status in one phase of a step. A status may occur several times. Unpacks no histogram.
    pub fn statuses(&self, step: u16, phase: Phase) -> impl Iterator<Item = (u16, u64)> {
        self.parts_of(step, phase).flat_map(|part| part.statuses.iter())
    }

    fn parts_of(&self, step: u16, phase: Phase) -> impl Iterator<Item = &StoredSecond> {
        let from = self.parts.partition_point(|part| (part.step, part.phase) < (step, phase));
        self.parts[from..].iter().take_while(move |part| (part.step, part.phase) == (step, phase))
    }

    /// Sums up one phase over all steps. The steps include their parts.
    pub fn whole(&self, phase: Phase) -> Result<Tally> {
        let mut whole = Tally::default();
        for (step, _) in (0..=u16::MAX).zip(&self.new.steps) {
            whole.merge(&self.total(step, phase)?);
        }
        Ok(whole)
    }

    /// Returns the largest effects of the generator on the figures. `None` if they are unknown, or the run has not
    /// ended.
    pub fn generator_effect(&self) -> Option<&GeneratorEffect> {
        self.ending.as_ref()?.validity.effect.as_ref()
    }

    /// Returns the length of the measured window; `None` if it is unknown.
    pub fn window(&self) -> Option<WindowLength> {
        self.window
    }

    /// Intervals of the steps, in order of second, phase, and step. Each thread stored its own.
    ///
    /// A run that was loaded with its study has none, and yields an error: load it by itself.
    pub fn seconds(&self) -> impl Iterator<Item = Result<(u16, Interval)>> + '_ {
        let refusal = self.is_summed_up.then(|| Err(EvidenceError::SummedUp { run: self.id.clone() }));
        let seconds = self.steps_by_time().map(|part| {
            let tally = part.tally().map_err(|Malformed| self.damaged())?;
            let StoredSecond { step, second, phase, ref sampled, .. } = *part;
            Ok((step, Interval { second, phase, tally, sampled: sampled.clone() }))
        });
        refusal.into_iter().chain(seconds)
    }

    /// Intervals as in [`Run::seconds`], with packed histograms, because a long run has a gigabyte of histograms.
    pub fn packed_seconds(&self) -> Result<impl Iterator<Item = PackedSecond<'_>>> {
        let second = |part| PackedSecond { run: self, part };
        match self.is_summed_up {
            true => Err(EvidenceError::SummedUp { run: self.id.clone() }),
            false => Ok(self.steps_by_time().map(second)),
        }
    }

    /// Returns the sampled requests or transactions, with step and phase, in order of the second of their end. A run
    /// that was loaded with its study has none.
    pub fn requests(&self) -> impl Iterator<Item = (u16, Phase, &Sampled)> + '_ {
        self.steps_by_time()
            .flat_map(|part| part.sampled.iter().map(|request| (part.step, part.phase, request)))
    }

    /// Returns the readings of probes, in order of time.
    pub fn readings(&self) -> impl Iterator<Item = StoredReading<'_>> {
        self.monitored.readings.iter()
    }

    /// Returns the output of the processes of the system.
    pub fn outputs(&self) -> &[Output] {
        &self.monitored.outputs
    }

    /// Returns the results of the gates, in the order of the plan.
    pub fn gates(&self) -> &[GateResult] {
        &self.monitored.gates
    }

    /// Returns the events under load, in the order in which they began; then those that did not begin.
    pub fn events(&self) -> &[Event] {
        &self.monitored.events
    }

    /// Intervals of the steps in order of time. Parts are left out, because the steps include them. A tool reports its requests at
    /// its end only, so its run has no intervals.
    fn steps_by_time(&self) -> impl Iterator<Item = &StoredSecond> + '_ {
        let is_of_tool = self.ending.as_ref().is_some_and(|ending| ending.generator.tool.is_some());
        let steps = if is_of_tool { 0 } else { self.new.steps.len() };
        self.by_second
            .iter()
            .map(|place| &self.parts[*place])
            .filter(move |part| usize::from(part.step) < steps)
    }

    pub(crate) fn broken(&self, source: IdentityBroken) -> EvidenceError {
        EvidenceError::Identity { run: self.id.clone(), source }
    }

    pub(crate) fn damaged(&self) -> EvidenceError {
        EvidenceError::DamagedRun { run: self.id.clone() }
    }
}

impl PackedSecond<'_> {
    /// Returns the whole seconds since the load began.
    pub fn second(&self) -> u64 {
        self.part.second
    }

    /// Counts.
    pub fn counts(&self) -> &Counts {
        &self.part.counts
    }

    /// Returns the bytes read from sockets, and bytes written to sockets.
    pub fn received_and_sent_bytes(&self) -> [u64; 2] {
        [self.part.received_bytes, self.part.sent_bytes]
    }

    /// Adds the response times of all ended requests to the first histogram, and their send delays to the second, for
    /// every outcome.
    pub fn add_to(&self, [response, lateness]: [&mut Histogram; 2]) -> Result<()> {
        Tally::add_response_and_lateness(&self.part.histograms, response, lateness)
            .map_err(|Malformed| self.run.damaged())
    }
}

impl StoredSecond {
    pub(crate) fn tally(&self) -> Result<Tally, Malformed> {
        let mut tally = self.counted();
        tally.decode_histograms(&self.histograms)?;
        Ok(tally)
    }

    /// Returns the tally without the histograms.
    pub(crate) fn counted(&self) -> Tally {
        Tally {
            counts: self.counts,
            received_bytes: self.received_bytes,
            sent_bytes: self.sent_bytes,
            connections: self.connections,
            first_sent_ns: self.first_sent_ns,
            last_finished_ns: self.last_finished_ns,
            window: self.window.unwrap_or_default(),
            statuses: self.statuses.clone(),
            errors: self.errors.clone(),
            ..Tally::default()
        }
    }

    /// Returns the sum of all counts and of `durations`, which bounds every sum over a run. `None` if it overflows.
    fn weight(&self, durations: u64) -> Option<u64> {
        let Counts { planned, sent, not_sent, ok, rejected, failed, timed_out, unfinished } = self.counts;
        let counts = [planned, sent, not_sent, ok, rejected, failed, timed_out, unfinished];
        let WindowCounts { ok, rejected, other, after } = self.window.unwrap_or_default();
        let volumes = [self.received_bytes, self.sent_bytes, self.connections, self.errors.others()];
        let volumes = volumes.into_iter().chain([ok, rejected, other, after]);
        let statuses = self.statuses.iter().map(|(_, count)| count);
        let errors = self.errors.entries().iter().map(|entry| entry.count);
        let mut all = counts.into_iter().chain(volumes).chain([durations]).chain(statuses).chain(errors);
        all.try_fold(0u64, u64::checked_add)
    }
}
