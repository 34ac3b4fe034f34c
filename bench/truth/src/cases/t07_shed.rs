//! T7: shed requests are counted as not sent, and the number of sent requests matches the server's own counter.

use std::time::Duration;

use target::Settings;

use crate::bench::Bench;
use crate::grade::{Finding, Grade};
use crate::tool::check_counts;

pub(crate) fn run(bench: &Bench) -> Vec<Grade> {
    let tries = bench.profile.pick(2, 10);
    vec![Grade::of(
        "T7",
        "80 of 200/s go through, the rest is given up",
        tries,
        bench.attempt_in_parallel(tries, |_| one(bench)),
    )]
}

fn one(bench: &Bench) -> Result<Finding, String> {
    let server = target::start(Settings::default()).map_err(|error| error.to_string())?;
    let url = format!("http://{}/hold?mean_us=100000", server.address());
    let words = [url.as_str(), "--rate=200/s", "-c", "8", "-d", "10s", "--shed-after=50ms"];
    let said = bench.tenbin(&words, Duration::from_secs(90))?;
    check_counts(&said.json)?;
    let (sent, not_sent) = (said.at("/offered/sent")?, said.at("/offered/not_sent")?);
    let (came, verdict) = (server.counters().requests as f64, said.word("/verdict"));
    // The server's count may exceed the sent requests, because it includes the trial connection.
    let is_right = not_sent >= 900.0 && (sent..=sent + 2.0).contains(&came) && verdict != "complete";
    Ok(Finding::new(is_right, format!("{sent} sent, {came} came, {not_sent} given up, {verdict}")))
}
