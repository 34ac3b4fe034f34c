//! A stored run: what it was, and everything that happened in it, second by second or summed up.

use std::collections::BTreeSet;

use record::{
    Counts, Histogram, IdentityBroken, InWindow, Interval, Ledger, Malformed, Phase, Sampled, Statuses,
    Tally, Whole,
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
use crate::window::{self, WindowLength};

/// Where a run stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RunState {
    /// Its process is still writing.
    Running,
    /// It has no ending, and its process is gone.
    Partial,
    /// It has ended.
    Ended(Verdict),
}

/// A stored run. The histograms of its seconds stay packed until they are asked for, so that a long run fits in memory.
#[derive(Clone, Debug)]
pub struct Run {
    /// Its name.
    pub id: RunId,
    /// Description when it began.
    pub new: NewRun,
    /// Facts when it had ended; `None` if it goes on or was cut short.
    pub ending: Option<Ending>,
    /// Where it stands.
    pub state: RunState,
    /// Stored baseline that it is compared with; `None`: it asked for none.
    pub baseline: Option<Baseline>,
    /// In order of step, phase, second.
    pub(crate) parts: Vec<StoredSecond>,
    /// Places in `parts`, in order of second, phase, step.
    pub(crate) by_second: Vec<usize>,
    /// Whether the seconds are gone, and `parts` are sums over them.
    pub(crate) is_summed_up: bool,
    /// How long the measured window is, and whether its answers were counted by whole seconds.
    pub(crate) window: Option<WindowLength>,
    pub(crate) monitored: Monitored,
}

/// An interval with packed histograms.
#[derive(Clone, Debug)]
pub struct StoredSecond {
    /// The number of the step, or of a part of one.
    pub step: u16,
    /// Whole seconds since the load began.
    pub second: u64,
    /// Warm-up or measured.
    pub phase: Phase,
    /// Counts.
    pub counts: Counts,
    /// Bytes that were read from the sockets.
    pub received_bytes: u64,
    /// Bytes that were written to the sockets.
    pub sent_bytes: u64,
    /// Connections that were opened.
    pub connections: u64,
    /// When the first request was sent, since the load began; `None` if none was.
    pub first_sent_ns: Option<u64>,
    /// When the last request ended, since the load began; `None` if none did.
    pub last_finished_ns: Option<u64>,
    /// Requests that ended in the measured window; `None` if an earlier version did not count them.
    pub window: Option<InWindow>,
    /// Replies by status.
    pub statuses: Statuses,
    /// Errors by kind.
    pub errors: Ledger,
    /// As [`Tally::encode_histograms`] writes them.
    pub histograms: Vec<u8>,
    /// Single requests that were kept.
    pub sampled: Vec<Sampled>,
}

/// A kept interval whose histograms are still packed.
#[derive(Clone, Copy, Debug)]
pub struct PackedSecond<'a> {
    run: &'a Run,
    part: &'a StoredSecond,
}

/// All counts of a run together stay below this, so that no sum of them overflows.
const WEIGHT_MAX: u64 = 1 << 62;

impl Run {
    /// Puts a run together from its parts in the order of the file, and checks that they unpack and add up.
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

    /// Everything that happened in one phase of a step, or of a part of one, whose number is beyond those of the steps. Of a run that was cut short, what was in flight is called
    /// unfinished and what waited not sent.
    pub fn total(&self, step: u16, phase: Phase) -> Result<Tally> {
        let mut whole = Whole::default();
        for part in self.parts_of(step, phase) {
            whole.absorb(&part.counted()).map_err(|source| self.broken(source))?;
            whole.absorb_histograms(&part.histograms).map_err(|Malformed| self.damaged())?;
        }
        let total = if self.ending.is_some() { whole.settle() } else { whole.cut_short() };
        total.map_err(|source| self.broken(source))
    }

    /// The counts of [`Run::total`] and what ended in the window, and nothing else: no histogram is unpacked for them.
    pub fn counted(&self, step: u16, phase: Phase) -> (Counts, InWindow) {
        let (mut counts, mut window) = (Counts::default(), InWindow::default());
        for part in self.parts_of(step, phase) {
            counts.add(&part.counts);
            window.add(&part.window.unwrap_or_default());
        }
        (counts, window)
    }

    fn parts_of(&self, step: u16, phase: Phase) -> impl Iterator<Item = &StoredSecond> {
        let from = self.parts.partition_point(|part| (part.step, part.phase) < (step, phase));
        self.parts[from..].iter().take_while(move |part| (part.step, part.phase) == (step, phase))
    }

    /// Everything that happened in a phase, over all steps. Their parts are in them already.
    pub fn whole(&self, phase: Phase) -> Result<Tally> {
        let mut whole = Tally::default();
        for (step, _) in (0..=u16::MAX).zip(&self.new.steps) {
            whole.merge(&self.total(step, phase)?);
        }
        Ok(whole)
    }

    /// How long the measured window was; `None` if nothing of the run tells.
    pub fn window(&self) -> Option<WindowLength> {
        self.window
    }

    /// Every kept interval of the steps, in order of second, phase and step. Threads kept theirs apart.
    ///
    /// A run that came with its study has none, and says so with an error: load it by itself.
    pub fn seconds(&self) -> impl Iterator<Item = Result<(u16, Interval)>> + '_ {
        let refusal = self.is_summed_up.then(|| Err(EvidenceError::SummedUp { run: self.id.clone() }));
        let seconds = self.in_time().map(|part| {
            let tally = part.tally().map_err(|Malformed| self.damaged())?;
            let StoredSecond { step, second, phase, ref sampled, .. } = *part;
            Ok((step, Interval { second, phase, tally, sampled: sampled.clone() }))
        });
        refusal.into_iter().chain(seconds)
    }

    /// Every kept interval as in [`Run::seconds`], with its histograms still packed: a long run has a gigabyte of them.
    pub fn packed_seconds(&self) -> Result<impl Iterator<Item = PackedSecond<'_>>> {
        let second = |part| PackedSecond { run: self, part };
        match self.is_summed_up {
            true => Err(EvidenceError::SummedUp { run: self.id.clone() }),
            false => Ok(self.in_time().map(second)),
        }
    }

    /// Every single request or transaction that was kept, with its step and phase, in order of the second of its end. A run that came with
    /// its study has none.
    pub fn requests(&self) -> impl Iterator<Item = (u16, Phase, &Sampled)> + '_ {
        self.in_time().flat_map(|part| part.sampled.iter().map(|request| (part.step, part.phase, request)))
    }

    /// Readings of probes, in order of time.
    pub fn readings(&self) -> impl Iterator<Item = StoredReading<'_>> {
        self.monitored.readings.iter()
    }

    /// Output of the processes of the system.
    pub fn outputs(&self) -> &[Output] {
        &self.monitored.outputs
    }

    /// Results of the gates, in the order of the plan.
    pub fn gates(&self) -> &[GateResult] {
        &self.monitored.gates
    }

    /// Events under load, in the order in which they began; then those that did not begin.
    pub fn events(&self) -> &[Event] {
        &self.monitored.events
    }

    /// Of the steps: what their parts saw is in them. A tool reports its requests at its end, and tells no second from another.
    fn in_time(&self) -> impl Iterator<Item = &StoredSecond> + '_ {
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
    /// Whole seconds since the load began.
    pub fn second(&self) -> u64 {
        self.part.second
    }

    /// Counts.
    pub fn counts(&self) -> &Counts {
        &self.part.counts
    }

    /// Bytes that were read from the sockets, and bytes that were written to them.
    pub fn received_and_sent_bytes(&self) -> [u64; 2] {
        [self.part.received_bytes, self.part.sent_bytes]
    }

    /// Adds response times to the first and send delays to the second, of the requests that ended, however they did.
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

    /// All but the histograms.
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

    /// The sum of everything counted in it and of so many durations, by which the sums over a run are known not to
    /// overflow.
    fn weight(&self, durations: u64) -> Option<u64> {
        let Counts { planned, sent, not_sent, ok, rejected, failed, timed_out, unfinished } = self.counts;
        let counts = [planned, sent, not_sent, ok, rejected, failed, timed_out, unfinished];
        let InWindow { ok, rejected, other, after } = self.window.unwrap_or_default();
        let volumes = [self.received_bytes, self.sent_bytes, self.connections, self.errors.others()];
        let volumes = volumes.into_iter().chain([ok, rejected, other, after]);
        let statuses = self.statuses.iter().map(|(_, count)| count);
        let errors = self.errors.entries().iter().map(|entry| entry.count);
        let mut all = counts.into_iter().chain(volumes).chain([durations]).chain(statuses).chain(errors);
        all.try_fold(0u64, u64::checked_add)
    }
}
