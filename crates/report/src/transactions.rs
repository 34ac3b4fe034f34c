//! Figures that only transactions have: tries, late ends, and throughput without connection times.

use evidence::Unit;
use record::{ErrorClass, Histogram, OutcomeHistograms, Statuses};

use crate::figures::Figures;
use crate::noun::Noun;
use crate::units::{Share, count, duration, percent, percent_with, rate};
use crate::view::View;

/// Error classes that leave unknown whether the transaction took effect, and descriptions of the cause.
const UNKNOWN: [(ErrorClass, &str); 2] =
    [(ErrorClass::CommitUnknown, "the connection was lost"), (ErrorClass::TimeoutInCommit, "time ran out")];

/// Tries of transactions.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Tries {
    /// Number of transactions whose tries are known.
    pub(crate) known: u64,
    /// Number of transactions with more than one try.
    pub(crate) retried: u64,
    /// Number of tries beyond the first of each transaction.
    pub(crate) retries: u64,
    /// Maximum number of tries of a transaction. 0 if none is known.
    pub(crate) most: u16,
}

/// Transactions that took longer than the limit in the plan.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Late {
    pub(crate) limit_ns: u64,
    pub(crate) count: u64,
}

impl Tries {
    /// Counts tries. Replies of transactions have the number of tries instead of a status.
    pub(crate) fn of(statuses: &Statuses) -> Self {
        statuses.iter().filter(|(_, count)| *count > 0).fold(Self::default(), |sum, (tries, count)| {
            let retries = u64::from(tries.saturating_sub(1)).saturating_mul(count);
            sum.and(Self { known: count, retried: if tries > 1 { count } else { 0 }, retries, most: tries })
        })
    }

    /// Adds two counts.
    pub(crate) fn and(self, other: Self) -> Self {
        Self {
            known: self.known.saturating_add(other.known),
            retried: self.retried.saturating_add(other.retried),
            retries: self.retries.saturating_add(other.retries),
            most: self.most.max(other.most),
        }
    }
}

impl Late {
    /// Counts late ends. Histograms resolve durations to 0.1 %, so a duration this close to the limit may be on either side of it.
    pub(crate) fn of(response: &OutcomeHistograms, limit_ns: u64) -> Self {
        let of_split = [&response.ok, &response.rejected, &response.other];
        let beyond = |histogram: &&Histogram| histogram.max_ns() > Some(limit_ns);
        let counters = of_split.into_iter().filter(beyond).flat_map(|histogram| histogram.counters());
        let count = counters.filter(|(value_ns, _)| *value_ns > limit_ns).map(|(_, count)| count).sum();
        Self { limit_ns, count }
    }
}

/// Tries and late ends, as names and values.
pub(crate) fn facts(figures: &Figures) -> impl Iterator<Item = (&'static str, String)> {
    let all = [("tries", tries(figures)), ("late", late(figures))];
    all.into_iter().filter_map(|(name, words)| Some((name, words?)))
}

/// Formats tries: `3 of 5,000 transactions (0.06 %) needed more than one try: 4 tries more, at most 3 for one of them`.
fn tries(figures: &Figures) -> Option<String> {
    let Tries { known, retried, retries, most } = figures.tries.filter(|tries| tries.known > 0)?;
    if retried == 0 {
        return Some("one for each transaction".to_owned());
    }
    Some(format!(
        "{} of {} transactions ({}) needed more than one try: {} {} more, at most {} for one of them",
        count(retried),
        count(known),
        percent(retried, known),
        count(retries),
        if retries == 1 { "try" } else { "tries" },
        count(most.into())
    ))
}

/// Formats late ends: `12 of 5,000 (0.24 %) took longer than 50.0 ms (±0.1 %)`.
fn late(figures: &Figures) -> Option<String> {
    let Late { limit_ns, count: late } = figures.late?;
    let samples = figures.samples();
    Some(format!(
        "{} of {} ({}) took longer than {} (±0.1 %)",
        count(late),
        count(samples),
        percent(late, samples),
        duration(limit_ns as f64)
    ))
}

/// Transactions per second without the time to connect, as pgbench reported them before version 14. `None` unless each transaction opened a
/// connection.
pub(crate) fn per_s_without_connect(view: &View<'_>) -> Option<f64> {
    let connections = view.run.ending.as_ref()?.spread.as_ref()?.connections;
    if !view.run.new.connects_each || connections == 0 {
        return None;
    }
    let connect = &view.whole.connect;
    let connect_s = connect.mean_ns? * connect.count as f64 / 1e9 / connections as f64;
    let window = view.whole.window?;
    // Estimates the connection time in the window, assuming that connections take equally long.
    let in_window = window.counts.ended() as f64 / view.whole.samples().max(1) as f64;
    let left_s = window.length_s - connect_s * in_window;
    let answered = window.counts.answers();
    (answered > 0 && left_s > 0.0).then(|| answered as f64 / left_s)
}

/// Throughput without the time to connect, as text.
pub(crate) fn without_connect(view: &View<'_>) -> Option<String> {
    let per_s = per_s_without_connect(view)?;
    let as_whom = match view.unit() {
        Unit::Requests => "",
        Unit::Transactions => ", as pgbench counted before version 14",
    };
    Some(format!("{} {}/s without the time of connecting{as_whom}", rate(per_s), view.noun().answers))
}

/// Total time of all transactions of a step, in nanoseconds, but at least the time of their statements: a transaction that did not end has
/// times for its statements, but none for itself. `None` if no transaction ended.
pub(crate) fn whole_ns<'a>(step: &Figures, statements: impl Iterator<Item = &'a Figures>) -> Option<f64> {
    of_statements(sum_ns(step), statements.filter_map(sum_ns))
}

fn of_statements(step_ns: Option<f64>, statements_ns: impl Iterator<Item = f64>) -> Option<f64> {
    Some(step_ns?.max(statements_ns.sum()))
}

/// Share of the total transaction time that a statement took.
pub(crate) fn share_of_time(statement: &Figures, whole_ns: Option<f64>) -> Option<f64> {
    share(sum_ns(statement), whole_ns)
}

fn share(part_ns: Option<f64>, whole_ns: Option<f64>) -> Option<f64> {
    Share::of_measured(part_ns?, whole_ns?).map(Share::get)
}

fn sum_ns(figures: &Figures) -> Option<f64> {
    Some(figures.service.all.mean_ns? * figures.service.all.count as f64)
}

/// Formats a share in percent with one decimal.
pub(crate) fn percent_of_time(share: f64) -> String {
    percent_with(share, 1)
}

/// Warning about transactions that may have taken effect although they failed. `None` without any.
pub(crate) fn unknown<'a>(figures: impl Iterator<Item = &'a Figures> + Clone) -> Option<String> {
    let of_class = |class: ErrorClass| {
        let errors = figures
            .clone()
            .flat_map(|figures| &figures.errors)
            .filter(|error| error.class.known() == Some(class));
        errors.fold(0u64, |sum, error| sum.saturating_add(error.count))
    };
    let each = UNKNOWN.map(|(class, words)| (of_class(class), words));
    let unknown = each.iter().fold(0u64, |sum, (of_class, _)| sum.saturating_add(*of_class));
    let why = each.iter().filter(|(of_class, _)| *of_class > 0);
    let why: Vec<String> = why.map(|(of_class, words)| format!("{words} ({})", count(*of_class))).collect();
    let they = if unknown == 1 { "It is" } else { "They are" };
    (unknown > 0).then(|| {
        format!(
            "{} may or may not have taken effect: {} while the answer to the commit was awaited. {they} \
             counted among those that failed or timed out, never as ok; only the database can tell.",
            Noun::of(Unit::Transactions).counted(unknown),
            why.join(", or ")
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_tries_from_statuses() {
        let mut statuses = Statuses::default();
        assert_eq!(Tries::of(&statuses), Tries::default());
        for (tries, count) in [(1, 90), (3, 2), (2, 5), (7, 0)] {
            statuses.add(tries, count);
        }
        assert_eq!(Tries::of(&statuses), Tries { known: 97, retried: 7, retries: 9, most: 3 });
        let mut huge = Statuses::default();
        huge.add(u16::MAX, u64::MAX);
        let huge = Tries::of(&huge);
        assert_eq!((huge.and(huge).retries, huge.most), (u64::MAX, u16::MAX));
    }

    #[test]
    fn late_ends_count_regardless_of_outcome() {
        let mut response = OutcomeHistograms::default();
        [10, 49, 50].into_iter().for_each(|ms| response.ok.record(ms * 1_000_000));
        response.rejected.record(51_000_000);
        response.other.record(900_000_000);
        // A duration of 50 ms shares a histogram bucket with slightly longer ones.
        assert_eq!(Late::of(&response, 60_000_000).count, 1);
        assert_eq!(Late::of(&response, 45_000_000).count, 4);
        response.ok = Histogram::default();
        response.ok.record(50_000_000);
        assert_eq!(Late::of(&response, 50_000_000).count, 2, "the longest of its kind was not longer");
    }

    #[test]
    fn statements_of_unfinished_transactions_take_up_to_the_total_time() {
        let whole_ns = |step_ns: Option<f64>, parts: &[f64]| of_statements(step_ns, parts.iter().copied());
        let shares = |step_ns, parts: &[f64]| {
            let whole_ns = whole_ns(step_ns, parts);
            parts.iter().map(|ns| share(Some(*ns), whole_ns)).collect::<Vec<_>>()
        };
        assert_eq!(shares(Some(100.0), &[25.0, 50.0]), [Some(0.25), Some(0.5)]);
        assert_eq!(shares(Some(100.0), &[300.0, 100.0]), [Some(0.75), Some(0.25)]);
        assert_eq!(shares(None, &[300.0]), [None]);
    }
}
