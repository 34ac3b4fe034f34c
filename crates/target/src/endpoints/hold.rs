//! `/hold`: waits for a random time without using CPU time, and reports the actual time.

use super::{Endpoint, Work};
use crate::draw::{Distribution, HOLD_MAX};
use crate::query::{Query, bad_request};
use crate::reply::Reply;
use std::time::Duration;

pub(super) const ENDPOINT: Endpoint = Endpoint {
    path: "/hold",
    sentence: "Waits `mean_us` (dist=constant, the default), or a time drawn with dist=exp (`mean_us`) or dist=lognormal \
               (`median_us` and `sigma` or `p99_us`; `mean_us` and `sigma`); headers tell x-service-us, x-drawn-us, x-queue-us.",
    example: "/hold?dist=lognormal&median_us=5000&p99_us=50000",
    methods: &["GET", "HEAD"],
    keys: &["dist", "mean_us", "median_us", "sigma", "p99_us"],
    prepare,
};

/// Builds a reply with the times of a finished hold.
pub(crate) fn reply(queued: Duration, drawn: Duration, service: Duration) -> Reply {
    Reply::fixed(200, "held\n")
        .with("x-service-us", service.as_micros())
        .with("x-drawn-us", drawn.as_micros())
        .with("x-queue-us", queued.as_micros())
}

fn prepare(query: &Query<'_>) -> Result<Work, Reply> {
    let mean_us = time_us(query, "mean_us")?;
    let median_us = time_us(query, "median_us")?;
    let p99_us = time_us(query, "p99_us")?;
    let sigma: Option<f64> = query.number("sigma")?;
    if let Some(sigma) = sigma.filter(|sigma| !(0.0..=5.0).contains(sigma)) {
        return Err(bad_request(&format!("sigma must be from 0 to 5, found {sigma}")));
    }
    let dist = query.text("dist").unwrap_or("constant".into());
    let distribution = match (dist.as_ref(), mean_us, median_us, sigma, p99_us) {
        ("constant", Some(us), None, None, None) => Distribution::Constant { us },
        ("exp", Some(mean_us), None, None, None) => Distribution::Exponential { mean_us },
        ("lognormal", None, Some(median_us), Some(sigma), None) => {
            Distribution::Lognormal { median_us, sigma }
        }
        ("lognormal", None, Some(median_us), None, Some(p99_us)) if p99_us >= median_us => {
            Distribution::lognormal_by_p99(median_us, p99_us)
        }
        ("lognormal", Some(mean_us), None, Some(sigma), None) => {
            Distribution::Lognormal { median_us: mean_us / (sigma * sigma / 2.0).exp(), sigma }
        }
        ("constant" | "exp", ..) => return Err(bad_request(&format!("dist={dist} takes only mean_us"))),
        ("lognormal", ..) => {
            return Err(bad_request(
                "dist=lognormal takes median_us and sigma, median_us and a p99_us not below it, or mean_us and sigma",
            ));
        }
        _ => return Err(bad_request(&format!("dist must be constant, exp or lognormal, found {dist:?}"))),
    };
    Ok(Work::Hold(distribution))
}

/// Parses a time above zero and at most [`HOLD_MAX`], in microseconds.
fn time_us(query: &Query<'_>, key: &str) -> Result<Option<f64>, Reply> {
    let most_us = HOLD_MAX.as_micros() as f64;
    match query.number::<f64>(key)? {
        Some(us) if !(us > 0.0 && us <= most_us) => {
            Err(bad_request(&format!("{key} must be above 0 and at most {most_us}, found {us}")))
        }
        time => Ok(time),
    }
}
