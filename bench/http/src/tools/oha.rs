//! Runs oha as a closed or open loop in one thread.

use serde_json::Value;

use super::{Program, Tool};
use crate::measured::Measured;
use harness::figures::{at, count, json};
use harness::program::arguments;

pub(super) const TOOL: Tool = Tool {
    name: "oha",
    program: Program::OnPath("oha"),
    how_to_get: "cargo install --locked oha",
    version: &["--version"],
    arguments: |order| {
        let duration = format!("{}s", order.seconds);
        let mut all = arguments([&"--no-tui", &"--output-format", &"json", &"--worker-threads", &1]);
        all.extend(arguments([&"-z", &duration, &"-c", &order.load.connections]));
        if let Some(rate) = order.load.rate {
            all.extend(arguments([&"-q", &rate, &"--latency-correction"]));
        }
        all.push(order.url());
        all
    },
    parse,
    good_exits: &[0],
};

/// oha's error text for requests in flight at the end of the run. They do not count as errors.
const UNFINISHED: &str = "aborted due to deadline";

fn parse(text: &str) -> Result<Measured, String> {
    let json = json(text)?;
    let (mut requests, mut errors) = (0, 0);
    for (status, number) in counts(&json, "statusCodeDistribution")? {
        *(if status.starts_with('2') { &mut requests } else { &mut errors }) += number;
    }
    for (kind, number) in counts(&json, "errorDistribution")? {
        errors += if kind == UNFINISHED { 0 } else { number };
    }
    Measured {
        requests,
        requests_per_s: requests as f64 / at(&json, "/summary/total")?,
        errors,
        median_us: at(&json, "/latencyPercentiles/p50").ok().map(|seconds| seconds * 1e6),
        p99_us: at(&json, "/latencyPercentiles/p99").ok().map(|seconds| seconds * 1e6),
        ..Measured::default()
    }
    .checked()
}

fn counts(json: &Value, key: &str) -> Result<Vec<(String, u64)>, String> {
    let list = json.get(key).and_then(Value::as_object).ok_or_else(|| format!("its JSON has no {key}"))?;
    list.iter()
        .map(|(name, number)| Ok((name.clone(), count(number.as_f64().unwrap_or(f64::NAN))?)))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const SAMPLE: &str = include_str!("../../samples/oha.json");

    #[test]
    fn requests_and_times_are_read() {
        let measured = parse(SAMPLE).unwrap();
        assert_eq!((measured.requests, measured.errors), (3_999, 0));
        assert!((measured.requests_per_s - 3_999.0 / 2.001_859_167).abs() < 1e-6);
        assert!((measured.median_us.unwrap() - 131.396).abs() < 1e-6);
        assert!((measured.p99_us.unwrap() - 271.104).abs() < 1e-6);
    }

    #[test]
    fn refusals_and_errors_count_and_unfinished_ones_do_not() {
        let text = SAMPLE.replace("\"200\": 3999", "\"200\": 3900, \"503\": 99");
        let text = text.replace(UNFINISHED, "connection refused");
        let measured = parse(&text).unwrap();
        assert_eq!((measured.requests, measured.errors), (3_900, 102));
    }
}
