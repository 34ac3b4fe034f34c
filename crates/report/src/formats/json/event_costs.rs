//! Costs of events in JSON.

use std::collections::BTreeMap;

use evidence::{Cost, Lost, Recovery};
use judge::EventCauses;
use judge::event_cost::{Difference, Figure, Pooled};
use judge::results::Repeated;
use serde::Serialize;

use super::bottleneck::CauseObject;
use super::{microseconds, thousandths};

/// Cost of one event. Times are in seconds since the load began.
#[derive(Serialize)]
pub(super) struct CostObject {
    from_s: f64,
    to_s: f64,
    planned: u64,
    errors: u64,
    lost: u64,
    lost_by_class: BTreeMap<&'static str, u64>,
    outage_us: f64,
    outage_is_open: bool,
    worst_response_us: Option<f64>,
    /// Excess waiting, in request-seconds.
    excess_wait_s: f64,
    /// `yes`, `no`, or `unconfirmed`.
    recovered: &'static str,
    recovery_us: Option<f64>,
    before: BeforeObject,
}

#[derive(Serialize)]
struct BeforeObject {
    from_s: f64,
    ok_per_s: f64,
    response_mean_us: f64,
    percentile: Option<f64>,
    percentile_us: Option<f64>,
    bin_s: f64,
    longest_gap_us: f64,
}

impl CostObject {
    pub(super) fn of(cost: &Cost) -> Self {
        let seconds = |at_ns: u64| thousandths(at_ns as f64 / 1e9);
        let (recovered, recovery_ns) = match cost.recovery {
            Recovery::After(ns) => ("yes", Some(ns)),
            Recovery::NotWithin(_) => ("no", None),
            Recovery::Unconfirmed(ns) => ("unconfirmed", Some(ns)),
        };
        let before = &cost.before;
        Self {
            from_s: seconds(cost.from_ns),
            to_s: seconds(cost.to_ns),
            planned: cost.planned,
            errors: cost.errors,
            lost: cost.lost.total(),
            lost_by_class: cost.lost.classes().into_iter().collect(),
            outage_us: microseconds(cost.outage_ns as f64),
            outage_is_open: cost.outage_is_open,
            worst_response_us: cost.worst_response_ns.map(|ns| microseconds(ns as f64)),
            excess_wait_s: thousandths(cost.excess_wait_ns / 1e9),
            recovered,
            recovery_us: recovery_ns.map(|ns| microseconds(ns as f64)),
            before: BeforeObject {
                from_s: seconds(before.from_ns),
                ok_per_s: thousandths(before.ok_per_s),
                response_mean_us: microseconds(before.response_mean_ns),
                percentile: before.percentile_ppm.map(|ppm| f64::from(ppm) / 1e4),
                percentile_us: before.percentile_ns.map(microseconds),
                bin_s: before.bin_ns as f64 / 1e9,
                longest_gap_us: microseconds(before.longest_gap_ns as f64),
            },
        }
    }
}

/// Causes of the delays during an event.
#[derive(Default, Serialize)]
pub(super) struct CausesObject {
    /// Causes, most likely first. Empty if the event cost nothing, or if they are unknown.
    causes: Vec<CauseObject>,
    /// Reason why the causes are unknown. `None` if they are known, or if the event has no known cost.
    causes_unknown: Option<String>,
    /// Other events during the seconds that the causes are based on.
    meanwhile: Vec<String>,
    /// Number of occurrences that are explained, and number of those that cost something.
    explained: usize,
    felt: usize,
}

impl CausesObject {
    pub(super) fn of(found: Option<EventCauses>) -> Self {
        found.map_or_else(Self::default, |found| Self {
            causes: found.causes.into_iter().map(CauseObject::of).collect(),
            causes_unknown: found.why_unknown,
            meanwhile: found.meanwhile,
            explained: found.explained,
            felt: found.felt,
        })
    }
}

/// Cost of an event of a variant over all blocks. All occurrences in a run are combined.
#[derive(Serialize)]
pub(super) struct PooledObject<'a> {
    event: &'a str,
    /// Number of runs in which the cost is known.
    runs: usize,
    runs_unknown: usize,
    not_recovered: usize,
    lost: Option<RepeatedObject>,
    stale_reuse: Option<RepeatedObject>,
    outage_us: Option<RepeatedObject>,
    worst_response_us: Option<RepeatedObject>,
    /// Excess waiting, in request-seconds.
    excess_wait_s: Option<RepeatedObject>,
    recovery_us: Option<RepeatedObject>,
    /// Start of the first occurrence after the end of the warm-up, and the duration of one occurrence.
    at_s: Option<RepeatedObject>,
    took_us: Option<RepeatedObject>,
    /// Lost requests by class, including `stale_reuse`, which is not part of `lost`.
    lost_by_class: BTreeMap<&'static str, RepeatedObject>,
    #[serde(flatten)]
    why: CausesObject,
}

/// Figure over runs, with its 95 % confidence interval.
#[derive(Serialize)]
struct RepeatedObject {
    middle: f64,
    low: Option<f64>,
    high: Option<f64>,
    runs: usize,
}

impl RepeatedObject {
    fn of(figure: Option<Repeated>, unit: f64) -> Option<Self> {
        figure.map(|figure| Self {
            middle: thousandths(figure.middle / unit),
            low: figure.interval.map(|[low, _]| thousandths(low / unit)),
            high: figure.interval.map(|[_, high]| thousandths(high / unit)),
            runs: figure.runs,
        })
    }
}

/// Cost of an event in a variant beyond that in another one. `runs` of each figure is a number of blocks.
#[derive(Serialize)]
pub(super) struct DifferenceObject<'a> {
    event: &'a str,
    blocks: usize,
    blocks_unknown: usize,
    lost: Option<RepeatedObject>,
    outage_us: Option<RepeatedObject>,
    excess_wait_s: Option<RepeatedObject>,
    recovery_us: Option<RepeatedObject>,
    worst_response_us: Option<RepeatedObject>,
}

impl<'a> DifferenceObject<'a> {
    pub(super) fn of(difference: &Difference<'a>) -> Self {
        let of = |figure, unit| RepeatedObject::of(difference.over(figure), unit);
        Self {
            event: difference.name,
            blocks: difference.blocks_known(),
            blocks_unknown: difference.blocks.len() - difference.blocks_known(),
            lost: of(Figure::Lost, 1.0),
            outage_us: of(Figure::Outage, 1e3),
            excess_wait_s: of(Figure::ExcessWaiting, 1e9),
            recovery_us: of(Figure::Recovery, 1e3),
            worst_response_us: of(Figure::Worst, 1e3),
        }
    }
}

impl<'a> PooledObject<'a> {
    pub(super) fn of(pooled: &Pooled<'a>, found: Option<EventCauses>) -> Self {
        let of = |figure, unit| RepeatedObject::of(pooled.over(figure), unit);
        let classes = Lost::default().classes();
        Self {
            event: pooled.name,
            runs: pooled.runs_known(),
            runs_unknown: pooled.runs.len() - pooled.runs_known(),
            not_recovered: pooled.not_recovered(),
            lost: of(Figure::Lost, 1.0),
            stale_reuse: of(Figure::STALE_REUSE, 1.0),
            outage_us: of(Figure::Outage, 1e3),
            worst_response_us: of(Figure::Worst, 1e3),
            excess_wait_s: of(Figure::ExcessWaiting, 1e9),
            recovery_us: of(Figure::Recovery, 1e3),
            at_s: RepeatedObject::of(pooled.at_s, 1.0),
            took_us: RepeatedObject::of(pooled.took_ns, 1e3),
            lost_by_class: classes
                .into_iter()
                .filter_map(|(class, _)| Some((class, of(Figure::LostAs(class), 1.0)?)))
                .collect(),
            why: CausesObject::of(found),
        }
    }
}
