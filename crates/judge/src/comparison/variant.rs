//! A variant under a load, over all blocks of a study: its eligible runs, and their combined figures.

use std::collections::BTreeMap;

use evidence::{Study, StudyPlace, stage};
use stats::{ERRORS_MARGIN, Spread, median};

use crate::compared_by::ComparedBy;
use crate::counting::{Counted, counted};
use crate::eligibility::{Eligibility, eligibility_by};
use crate::measured_run::MeasuredRun;
use crate::rates;
use crate::resources::Usage;
use crate::setting::Setting;

/// A variant under a load.
#[derive(Clone, Debug)]
pub struct Variant<'a> {
    /// Place of one of the variant's runs. All fields but block and position are common to its runs.
    pub place: &'a StudyPlace,
    /// Number of planned runs by which the study judges.
    pub planned: usize,
    /// Runs by which the study judges, in the order of blocks: index among the runs of the study, and eligibility.
    pub runs: Vec<(usize, Eligibility)>,
    /// Runs for another purpose, such as a pilot.
    pub others: Vec<(usize, Eligibility)>,
    /// Whether the variant may be ranked.
    pub is_ranked: bool,
    /// Whether the figures are from valid runs. Without valid runs, they are from invalid ones.
    pub is_valid: bool,
    /// Number of runs, and share of the time, in which its system was unavailable.
    pub gone: Unavailability,
    /// Spread over runs of the metric that compares variants, in its unit.
    pub metric: Option<Spread>,
    /// Spread over runs of ok answers per second.
    pub throughput: Option<Spread>,
    /// Spread over runs of all answers per second.
    pub answers: Option<Spread>,
    /// Share of planned requests that the system did not serve, over all runs; `None` if nothing was planned.
    pub error_share: Option<f64>,
    /// Medians over runs of further figures.
    pub medians: Medians,
}

/// Medians over runs, unless a field says otherwise.
#[derive(Clone, Copy, Debug, Default)]
pub struct Medians {
    /// Received KB (1,024 bytes) per second.
    pub received_kb_per_s: Option<f64>,
    /// Sent KB (1,024 bytes) per second.
    pub sent_kb_per_s: Option<f64>,
    /// Cores that the system kept busy.
    pub system_cores_used: Option<f64>,
    /// Cores that the generator kept busy.
    pub generator_cores_used: Option<f64>,
    /// CPU time of the system per request, in microseconds, over all runs together, because a single run may have too
    /// little.
    pub system_us_per_request: Option<f64>,
    /// CPU time of the generator per request, in microseconds.
    pub generator_us_per_request: Option<f64>,
    /// Context switches of the system per 10⁶ bytes, for loads over raw TCP.
    pub system_switches_per_mb: Option<f64>,
    /// Peak resident memory of the system, the largest of all runs.
    pub rss_peak_bytes: Option<f64>,
    /// Peak number of connections that waited to be accepted, the largest of all runs.
    pub listen_queue_peak: Option<f64>,
    /// Peak of swapped memory of the system, the largest of all runs.
    pub swap_peak_bytes: Option<f64>,
}

/// Unavailability of a variant's system, over the runs shown.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Unavailability {
    /// Number of degraded runs.
    pub runs: usize,
    /// Mean share of unavailable time over all runs; 0 for a run that is not degraded.
    pub share: f64,
    /// Whether only some users were affected. `share` is then a share of user time.
    pub is_of_users: bool,
}

/// Collects the variants that a study plans under a load. `runs` are all runs of the study; variants refer to them by
/// index.
pub fn variants<'a>(
    study: &'a Study,
    load: &str,
    runs: &[MeasuredRun<'_>],
    metric: Option<&ComparedBy>,
) -> Vec<Variant<'a>> {
    let placed = |(run, of): (usize, &MeasuredRun<'_>)| Some((of.run.new.place.as_ref()?.1.position, run));
    let by_position: BTreeMap<u32, usize> = runs.iter().enumerate().filter_map(placed).collect();
    let distorted = metric.and_then(ComparedBy::distorted);
    let eligible = |places: &[&StudyPlace]| {
        let run = |place: &&StudyPlace| Some((place.block, *by_position.get(&place.position)?));
        let mut places: Vec<(u32, usize)> = places.iter().filter_map(run).collect();
        places.sort_unstable();
        let judged = |(_, run): (u32, usize)| (run, eligibility_by(runs[run].run, distorted));
        places.into_iter().map(judged).collect::<Vec<_>>()
    };
    let variant = |Counted { places, others, is_ranked }: Counted<'a>| {
        let place = *places.first().or(others.first())?;
        let others = eligible(&others);
        let variant = Variant::of(place, eligible(&places), runs, metric);
        Some(Variant { planned: places.len(), others, is_ranked, ..variant })
    };
    counted(study, load).filter_map(variant).collect()
}

impl<'a> Variant<'a> {
    fn of(
        place: &'a StudyPlace,
        runs: Vec<(usize, Eligibility)>,
        all: &[MeasuredRun<'_>],
        metric: Option<&ComparedBy>,
    ) -> Self {
        let eligible_as = |wanted| runs.iter().filter(move |(_, eligibility)| *eligibility == wanted);
        let is_valid = eligible_as(Eligibility::Valid).next().is_some();
        let shown: Vec<MeasuredRun<'_>> = eligible_as(shown_as(is_valid)).map(|(run, _)| all[*run]).collect();
        let window = |run: &MeasuredRun<'_>| run.measured.window;
        Self {
            place,
            planned: 0,
            others: Vec::new(),
            is_ranked: true,
            is_valid,
            gone: Unavailability::of(&shown),
            metric: metric
                .and_then(|by| Spread::with_infinite(shown.iter().filter_map(|run| run.figure(by)))),
            throughput: Spread::over(shown.iter().filter_map(window).map(|window| window.ok_per_s())),
            answers: Spread::over(shown.iter().filter_map(window).map(|window| window.answers_per_s())),
            error_share: rates::error_share_of(shown.iter().map(|run| &run.measured.counts)),
            medians: Medians::of(&shown),
            runs,
        }
    }

    /// Returns the number of runs with the given eligibility.
    pub fn count(&self, wanted: Eligibility) -> usize {
        self.eligibility(wanted).count()
    }

    /// Returns the runs with the given eligibility, as indices among the runs of the study.
    pub fn eligibility(&self, wanted: Eligibility) -> impl Iterator<Item = usize> {
        self.runs.iter().filter(move |(_, eligibility)| *eligibility == wanted).map(|(run, _)| *run)
    }

    /// Returns the runs whose figures are shown, as indices among the runs of the study: the valid ones, or else the
    /// invalid ones.
    pub fn shown(&self) -> impl Iterator<Item = usize> {
        self.eligibility(shown_as(self.is_valid))
    }

    /// Returns the runs in fresh blocks that confirm a tournament, as indices among the runs of the study.
    pub(super) fn confirming(&self, runs: &[MeasuredRun<'_>]) -> impl Iterator<Item = usize> {
        let stage = |run: usize| runs[run].run.new.place.as_ref().map(|(_, place)| &place.stage);
        let is_fresh = move |run: &usize| stage(*run).is_some_and(|stage| stage::is_confirming(stage));
        self.others.iter().map(|(run, _)| *run).filter(is_fresh)
    }

    /// Returns the share of failed requests or of unavailable time, whichever is larger. It takes precedence over
    /// speed.
    pub fn unserved_share(&self) -> Option<f64> {
        self.error_share.map(|share| share.max(self.gone.share))
    }

    /// Returns whether the share of failed requests is within the margin that comparisons ignore.
    pub fn is_without_failures(&self) -> bool {
        self.is_valid && self.error_share.is_some_and(|share| share <= ERRORS_MARGIN)
    }

    pub(super) fn setting(&self) -> Setting {
        Setting::of(self.place)
    }
}

fn shown_as(is_valid: bool) -> Eligibility {
    if is_valid { Eligibility::Valid } else { Eligibility::Invalid }
}

impl Unavailability {
    fn of(shown: &[MeasuredRun<'_>]) -> Self {
        let shares = shown.iter().map(|run| run.measured.gone_share());
        let runs = shares.clone().filter(|share| *share > 0.0).count();
        let share = if runs > 0 { shares.sum::<f64>() / shown.len() as f64 } else { 0.0 };
        let is_of_users = runs > 0 && shown.iter().all(MeasuredRun::is_gone_for_some_users);
        Self { runs, share, is_of_users }
    }
}

impl Medians {
    fn of<'r>(shown: &[MeasuredRun<'r>]) -> Self {
        let over = |figure: &dyn Fn(&MeasuredRun<'r>) -> Option<f64>| median(shown.iter().filter_map(figure));
        let peak = |figure: fn(&Usage) -> Option<f64>| {
            let of_run = |run: &MeasuredRun<'r>| figure(run.measured.resources.as_ref()?.system.as_ref()?);
            Spread::over(shown.iter().filter_map(of_run)).map(|spread| spread.max)
        };
        Self {
            received_kb_per_s: over(&|run| run.kb_per_s(run.measured.received_bytes)),
            sent_kb_per_s: over(&|run| run.kb_per_s(run.measured.sent_bytes)),
            system_cores_used: over(&MeasuredRun::system_cores_used),
            generator_cores_used: over(&MeasuredRun::generator_cores_used),
            system_us_per_request: system_us_per_request(shown),
            generator_us_per_request: over(&MeasuredRun::generator_us_per_request),
            system_switches_per_mb: over(&MeasuredRun::system_switches_per_mb),
            rss_peak_bytes: peak(|usage| usage.rss_peak_bytes),
            listen_queue_peak: peak(|usage| usage.listen_queue_peak),
            swap_peak_bytes: peak(|usage| usage.swap_peak_bytes),
        }
    }
}

fn system_us_per_request(shown: &[MeasuredRun<'_>]) -> Option<f64> {
    let each = shown.iter().map(|run| run.measured);
    let each = each.filter_map(|of| Some((of.system_cpu_s()?, of.window?.counts.ended())));
    let (cpu_s, requests) = each.fold((0.0, 0u64), |(cpu_s, requests), (of_run, in_run)| {
        (cpu_s + of_run, requests.saturating_add(in_run))
    });
    rates::us_per_request(cpu_s, requests)
}
