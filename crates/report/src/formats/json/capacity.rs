//! Result of a capacity search in JSON.

use judge::results::SearchEnd;
use judge::results::Usl;
use serde::Serialize;

use super::bottleneck::BottleneckObject;
use crate::capacity::{CapacityRow, CapacityView, LevelRow, Limit, SizeRow};
use crate::durations::{KeyedFigures, TableSize, name};

/// Result of one variant.
#[derive(Serialize)]
pub(super) struct CapacityObject<'a> {
    load: &'a str,
    system: &'a str,
    variant: &'a str,
    objectives: &'a [String],
    held_per_s: Option<f64>,
    failed_per_s: Option<f64>,
    failed_by: Option<&'a str>,
    is_confirmed: bool,
    end: Option<&'static str>,
    runs: u32,
    noise_per_s: Option<[f64; 2]>,
    recovers: Option<bool>,
    soaked: Option<bool>,
    unmeasurable_per_s: Option<f64>,
    ceiling_per_s: Option<f64>,
    ceiling_users: Option<u32>,
    base_response_us: Option<f64>,
    levels: Vec<LevelObject<'a>>,
    sizing: Vec<SizeObject>,
    scaling: Option<LawObject>,
    /// Likely bottleneck. `None` if no rate failed.
    limit: Option<LimitObject>,
}

#[derive(Serialize)]
struct LimitObject {
    per_s: f64,
    runs: usize,
    bottleneck: Option<BottleneckObject>,
    reason: Option<&'static str>,
}

#[derive(Serialize)]
struct LevelObject<'a> {
    per_s: f64,
    stages: Vec<&'static str>,
    passed: u32,
    failed: u32,
    invalid: u32,
    failed_by: Option<&'a str>,
    ok_per_s: Option<f64>,
    error_share: Option<f64>,
    response_time_us: KeyedFigures,
    system_us_per_request: Option<f64>,
    passed_late: u32,
}

#[derive(Serialize)]
struct SizeObject {
    users: u32,
    per_s: f64,
    mean_response_us: f64,
}

#[derive(Serialize)]
pub(super) struct LawObject {
    lambda: f64,
    sigma: f64,
    kappa: f64,
    peak_users: Option<f64>,
    peak_interval: Option<[f64; 2]>,
    is_extrapolated: bool,
}

/// Results of all variants.
pub(super) fn of_view(view: &CapacityView) -> Vec<CapacityObject<'_>> {
    view.rows.iter().map(|row| of_row(view, row)).collect()
}

fn of_row<'a>(view: &'a CapacityView, row: &'a CapacityRow) -> CapacityObject<'a> {
    let found = &row.found;
    let failed = found.failed_per_s.and_then(|per_s| row.levels.at(per_s));
    CapacityObject {
        load: &row.load,
        system: &row.setting.system,
        variant: &row.setting.variant,
        objectives: &view.asked,
        held_per_s: found.held_per_s,
        failed_per_s: found.failed_per_s,
        failed_by: failed.and_then(|level| level.failed_by.as_deref()),
        is_confirmed: found.is_confirmed,
        end: found.end.map(end_name),
        runs: found.runs,
        noise_per_s: found.noise_band.map(|(low, high)| [low, high]),
        recovers: found.recovers,
        soaked: found.soaked,
        unmeasurable_per_s: found.unmeasurable_per_s,
        ceiling_per_s: found.ceiling_per_s,
        ceiling_users: found.ceiling_users,
        base_response_us: found.base_response_s.map(|s| s * 1e6),
        levels: row.levels.rates.iter().map(level).collect(),
        sizing: row.levels.sizes.iter().map(size).collect(),
        scaling: row.usl.as_ref().map(law),
        limit: row.limit.as_ref().map(limit),
    }
}

fn limit(limit: &Limit) -> LimitObject {
    let bottleneck = BottleneckObject::of(limit.causes.clone());
    LimitObject { per_s: limit.per_s, runs: limit.runs, bottleneck, reason: limit.why_none() }
}

fn end_name(end: SearchEnd) -> &'static str {
    match end {
        SearchEnd::Found => "found",
        SearchEnd::NothingHolds => "nothing_holds",
        SearchEnd::NothingFails => "nothing_fails",
        SearchEnd::OutOfRuns => "out_of_runs",
        SearchEnd::NotFit => "not_fit",
    }
}

fn level(row: &LevelRow) -> LevelObject<'_> {
    let us = |ns: f64| ns / 1e3;
    let mean = [("mean".to_owned(), row.tally.response.all().mean_ns().map(us))];
    let percentiles = TableSize::Parts.columns();
    let percentiles = percentiles.map(|percentile| (name(percentile), row.response_ns(percentile).map(us)));
    LevelObject {
        per_s: row.per_s,
        stages: row.stages.iter().map(|stage| judge::stage_name(*stage)).collect(),
        passed: row.passed,
        failed: row.failed,
        invalid: row.invalid,
        failed_by: row.failed_by.as_deref(),
        ok_per_s: row.ok_per_s(),
        error_share: row.error_share(),
        response_time_us: mean.into_iter().chain(percentiles).collect(),
        system_us_per_request: row.system_us_per_request(),
        passed_late: row.late,
    }
}

fn size(row: &SizeRow) -> SizeObject {
    SizeObject { users: row.users, per_s: row.per_s, mean_response_us: row.mean_response_ns / 1e3 }
}

pub(super) fn law(usl: &Usl) -> LawObject {
    LawObject {
        lambda: usl.lambda,
        sigma: usl.sigma,
        kappa: usl.kappa,
        peak_users: usl.peak,
        peak_interval: usl.peak_interval,
        is_extrapolated: usl.is_extrapolated,
    }
}
