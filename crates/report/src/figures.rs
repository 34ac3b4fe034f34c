//! Figures of a run, or of one of its steps, for reports.

use std::collections::BTreeMap;

use evidence::{LoadTool, Unit};
use judge::{Window, rates};
use record::{ClassName, Counts, ErrorClass, OutcomeHistograms, Tally};

use crate::durations::Durations;
use crate::noun::Noun;
use crate::transactions::{Late, Tries};

/// Durations of one kind: of all requests that ended, of requests that ended ok, and of rejected ones.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct ByOutcome {
    pub(crate) all: Durations,
    pub(crate) ok: Durations,
    pub(crate) rejected: Durations,
}

impl ByOutcome {
    fn of(split: &OutcomeHistograms) -> Self {
        Self {
            all: Durations::of(&split.all()),
            ok: Durations::of(&split.ok),
            rejected: Durations::of(&split.rejected),
        }
    }
}

/// Kind of error, and the number of its occurrences.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ErrorLine {
    /// Class. `others`, and classes of other versions, are [`ClassName::Unknown`]: escape them.
    pub(crate) class: ClassName,
    /// Message. May quote the peer: escape it.
    pub(crate) message: String,
    pub(crate) count: u64,
}

/// Contents of a tally, and the facts needed to interpret it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TallyKind {
    pub(crate) unit: Unit,
    /// Latency limit in nanoseconds. Requests that took longer are late. `None` if the plan has no limit.
    pub(crate) latency_limit_ns: Option<u64>,
}

/// All figures of requests or transactions.
#[derive(Clone, Debug)]
pub(crate) struct Figures {
    pub(crate) unit: Unit,
    pub(crate) counts: Counts,
    /// Time from the first request sent to the last one that ended, in seconds, for JMeter's throughput. `None` if it is zero.
    pub(crate) span_s: Option<f64>,
    /// Counts of the measured window: the basis of all other rates. `None` if the length of the window is unknown.
    pub(crate) window: Option<Window>,
    /// `None` if the load tool did not report it. The next two fields are `None` in this case, too.
    pub(crate) received_bytes: Option<u64>,
    pub(crate) sent_bytes: Option<u64>,
    pub(crate) connections: Option<u64>,
    pub(crate) last_finished_ns: Option<u64>,
    pub(crate) response: ByOutcome,
    pub(crate) service: ByOutcome,
    pub(crate) lateness: ByOutcome,
    pub(crate) first_byte: Durations,
    pub(crate) connect: Durations,
    pub(crate) tls: Durations,
    /// Number of responses by status. Empty for transactions.
    pub(crate) statuses: BTreeMap<u16, u64>,
    /// Tries of transactions. `None` if there are only requests.
    pub(crate) tries: Option<Tries>,
    /// Late requests. `None` if the plan has no latency limit.
    pub(crate) late: Option<Late>,
    /// Errors, most frequent first.
    pub(crate) errors: Vec<ErrorLine>,
    /// Whether all counts are small enough to be added over thousands of runs without overflow. Counts of real runs are.
    pub(crate) can_be_summed: bool,
    /// Whether the load came from another load generator. Figures that it did not report are missing.
    pub(crate) is_of_tool: bool,
}

impl Figures {
    pub(crate) fn of(tally: &Tally, window: Option<Window>, kind: TallyKind) -> Self {
        let counts_tries = kind.unit.counts_tries();
        Self {
            unit: kind.unit,
            counts: tally.counts,
            span_s: tally.span_ns().map(seconds),
            window,
            received_bytes: Some(tally.received_bytes),
            sent_bytes: Some(tally.sent_bytes),
            connections: Some(tally.connections),
            last_finished_ns: tally.last_finished_ns,
            response: ByOutcome::of(&tally.response),
            service: ByOutcome::of(&tally.service),
            lateness: ByOutcome::of(&tally.lateness),
            first_byte: Durations::of(&tally.first_byte),
            connect: Durations::of(&tally.connect),
            tls: Durations::of(&tally.tls),
            statuses: tally.statuses.iter().filter(|_| !counts_tries).collect(),
            tries: counts_tries.then(|| Tries::of(&tally.statuses)),
            late: kind.latency_limit_ns.map(|limit_ns| Late::of(&tally.response, limit_ns)),
            errors: errors(tally),
            can_be_summed: rates::can_be_summed(tally),
            is_of_tool: false,
        }
    }

    /// Number of requests that were resent because their server closed the connection without having received them.
    pub(crate) fn retried(&self) -> u64 {
        let retried = self.errors.iter().filter(|line| line.class.known() == Some(ErrorClass::StaleRetried));
        retried.map(|line| line.count).sum()
    }

    /// Replaces figures with the ones that load tools reported. Each tool comes with its number of requests; there is one for each run.
    pub(crate) fn with_tool_figures(self, tools: &[(&LoadTool, u64)]) -> Self {
        if tools.is_empty() {
            return self;
        }
        let received = tools.iter().map(|(tool, _)| tool.received_bytes).sum();
        let all = Durations::of_tools(tools);
        Self {
            received_bytes: received,
            sent_bytes: None,
            connections: None,
            response: ByOutcome { all, ..ByOutcome::default() },
            tries: None,
            late: None,
            is_of_tool: true,
            ..self
        }
    }

    /// Figures of all steps of a run. Statuses come from the steps, because statuses of transactions are numbers of tries.
    pub(crate) fn of_all<'a>(
        tally: &Tally,
        window: Option<Window>,
        kind: TallyKind,
        steps: impl Iterator<Item = &'a Self> + Clone,
    ) -> Self {
        let mut statuses = BTreeMap::new();
        for (status, count) in steps.clone().flat_map(|step| &step.statuses) {
            let sum: &mut u64 = statuses.entry(*status).or_default();
            *sum = sum.saturating_add(*count);
        }
        let tries = steps.filter_map(|step| step.tries).reduce(Tries::and);
        Self { statuses, tries, ..Self::of(tally, window, kind) }
    }

    /// Unit that was counted: requests or transactions.
    pub(crate) fn noun(&self) -> &'static Noun {
        Noun::of(self.unit)
    }

    /// Number of requests that got an answer, ok or rejected.
    pub(crate) fn answered(&self) -> u64 {
        self.counts.ok + self.counts.rejected
    }

    /// Number of samples: requests that ended, except those that were unfinished at the end of the run.
    pub(crate) fn samples(&self) -> u64 {
        self.response.all.count
    }

    /// Number of planned requests that the system did not serve: rejected, failed, timed out, or never sent.
    pub(crate) fn error_count(&self) -> u64 {
        rates::errors(&self.counts)
    }

    /// Answers per second as JMeter counts them: n ÷ (last end − first start). Only for tables that are labeled as JMeter's.
    pub(crate) fn jmeter_throughput_per_s(&self) -> Option<f64> {
        self.span_s.filter(|_| self.answered() > 0).map(|span_s| rates::per_s(self.answered(), span_s))
    }

    /// Throughput in KB of 1,024 bytes per second, over the interval of JMeter's throughput.
    pub(crate) fn jmeter_kb_per_s(&self, bytes: Option<u64>) -> Option<f64> {
        self.span_s.zip(bytes).map(|(span_s, bytes)| bytes as f64 / 1024.0 / span_s)
    }

    /// Answers per second in the measured window, ok or rejected.
    pub(crate) fn answers_per_s(&self) -> Option<f64> {
        self.window.map(|window| window.answers_per_s())
    }

    /// Ok answers per second in the measured window.
    pub(crate) fn ok_per_s(&self) -> Option<f64> {
        self.window.map(|window| window.ok_per_s())
    }

    /// KB of 1,024 bytes per second: mean size of a request that ended × requests that ended per second of the window.
    pub(crate) fn kb_per_s(&self, bytes: Option<u64>) -> Option<f64> {
        Some(rates::kb_per_s(self.window?, bytes?, self.samples()))
    }
}

fn seconds(ns: u64) -> f64 {
    ns as f64 / 1e9
}

fn errors(tally: &Tally) -> Vec<ErrorLine> {
    let mut lines: Vec<ErrorLine> = tally
        .errors
        .entries()
        .iter()
        .map(|entry| ErrorLine {
            class: entry.class.clone(),
            message: entry.message.clone(),
            count: entry.count,
        })
        .collect();
    lines.sort_by(|a, b| {
        b.count.cmp(&a.count).then_with(|| (&a.class, &a.message).cmp(&(&b.class, &b.message)))
    });
    if tally.errors.others() > 0 {
        let class = ClassName::Unknown("others".to_owned());
        let message = "of kinds that no longer fitted in the list".to_owned();
        lines.push(ErrorLine { class, message, count: tally.errors.others() });
    }
    lines
}
