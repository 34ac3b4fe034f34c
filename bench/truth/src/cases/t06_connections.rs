//! T6: eight connections, each busy for 100 ms per request, carry only 80 of 200 requests per second, though the server is not slow.

use std::time::Duration;

use crate::bench::Bench;
use crate::grade::{Finding, Grade};
use crate::server::Server;
use crate::tool::{check_counts, run_unstarved};

pub(crate) fn run(bench: &Bench) -> Vec<Grade> {
    let tries = bench.profile.pick(2, 10);
    let needed = bench.profile.pick(2, 10);
    vec![Grade::of(
        "T6",
        "8 connections of 100 ms, 200/s asked for",
        needed,
        bench.attempt_in_parallel(tries, |_| one(bench)),
    )]
}

fn one(bench: &Bench) -> Result<Finding, String> {
    let server = Server::start(bench, &[])?;
    let url = format!("{}/hold?mean_us=100000", server.url);
    let words = [url.as_str(), "--rate=200/s", "-c", "8", "-d", "10s", "--timeout=60s"];
    let said = run_unstarved(|| bench.tenbin(&words, Duration::from_secs(90)))?;
    check_counts(&said.json)?;
    let (per_s, service_ms) = (said.at("/throughput_per_s")?, said.at("/service_time_us/p50")? / 1e3);
    let (verdict, codes) = said.validity();
    // Any verdict is right: the figures are correct, and the connections limit the load, not the server or the CPU.
    let is_right = (per_s / 80.0 - 1.0).abs() <= 0.02 && (100.0..103.0).contains(&service_ms);
    Ok(Finding::new(
        is_right,
        format!("{per_s:.1}/s, served in {service_ms:.0} ms, {verdict} {}", codes.join(" ")),
    ))
}
