//! T2: a server that stops for a while. An open load measures the stall; a closed load hides it.

use std::thread;
use std::time::Duration;

use harness::program::arguments;

use crate::bench::Bench;
use crate::grade::{Finding, Grade};
use crate::server::Server;
use crate::tool::{Output, check_counts, run_unstarved};

/// Tolerance of percentiles, as a share.
const NEAR: f64 = 0.03;

pub(crate) fn run(bench: &Bench) -> Vec<Grade> {
    let tries = bench.profile.pick(2, 5);
    let open = bench.attempt_in_parallel(tries, |number| open(bench, number));
    let closed = bench.attempt_in_parallel(tries, |_| closed(bench));
    let needed = bench.profile.pick(2, 4);
    vec![
        Grade::of("T2", "a stall of a twentieth, open load", needed, open),
        Grade::of("T2", "the same stall, closed load", needed, closed),
    ]
}

/// Checks the response times of an open load. With a stall of S in a run of T, P(response > x) is (S − x) / T if the server is hardly
/// busy.
fn open(bench: &Bench, number: u32) -> Result<Finding, String> {
    let (stall_s, whole_s) = times(bench);
    let said = run_unstarved(|| stalled(bench, &["--rate=200/s", "-c", "2000"], number))?;
    check_counts(&said.json)?;
    let mut is_right = true;
    let mut words = Vec::new();
    for (name, share) in [("p99", 0.01), ("p99_9", 0.001), ("max", 0.0)] {
        let truth_ms = (stall_s - share * whole_s) * 1e3;
        let found_ms = said.at(&format!("/response_time_us/{name}")).unwrap_or_default() / 1e3;
        if found_ms == 0.0 && name == "p99_9" {
            continue;
        }
        is_right &= (found_ms / truth_ms - 1.0).abs() <= NEAR;
        words.push(format!("{name} {found_ms:.0} of {truth_ms:.0} ms"));
    }
    let (verdict, codes) = said.validity();
    is_right &= verdict != "invalid";
    Ok(Finding::new(is_right, format!("{} {verdict} {}", words.join(", "), codes.join(" "))))
}

/// Checks a closed load of one user, who meets the stall only once. A note must say that such a load hides stalls.
fn closed(bench: &Bench) -> Result<Finding, String> {
    let said = run_unstarved(|| stalled(bench, &["-c", "1", "--think", "5ms"], 0))?;
    let p99_ms = said.at("/response_time_us/p99")? / 1e3;
    let notes = said.list("/notes").iter().filter_map(|note| note.as_str());
    let is_said = notes.into_iter().any(|note| note.contains("closed loop"));
    Ok(Finding::new(
        p99_ms < 20.0 && is_said,
        format!("p99 {p99_ms:.1} ms, {}", if is_said { "and said" } else { "not said" }),
    ))
}

fn times(bench: &Bench) -> (f64, f64) {
    bench.profile.pick((1.0, 20.0), (5.0, 100.0))
}

fn stalled(bench: &Bench, load: &[&str], number: u32) -> Result<Output, String> {
    let (stall_s, whole_s) = times(bench);
    let server = Server::start(bench, &[])?;
    let url = format!("{}/hold?mean_us=1000", server.url);
    let rest = arguments([&"-d", &format!("{whole_s}s"), &"--seed", &bench.seed_of(2, number)]);
    let words: Vec<&str> = [url.as_str()]
        .into_iter()
        .chain(load.iter().copied())
        .chain(rest.iter().map(String::as_str))
        .collect();
    thread::scope(|scope| {
        scope.spawn(|| {
            thread::sleep(Duration::from_secs_f64(whole_s / 2.0));
            server.hold(Duration::from_secs_f64(stall_s));
        });
        bench.tenbin(&words, Duration::from_secs_f64(whole_s + 60.0))
    })
}
