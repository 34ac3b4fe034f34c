//! Runs zrk as an open loop over io_uring.

use serde_json::Value;

use super::{Program, Tool};
use crate::measured::Measured;
use harness::figures::{at, count, json};
use harness::program::arguments;

pub(super) const TOOL: Tool = Tool {
    name: "zrk",
    program: Program::Zrk,
    how_to_get: "not in Debian; used if it is on the PATH or --zrk PATH is given",
    version: &["--version"],
    arguments: |order| {
        let [connections, duration] =
            [format!("-c{}", order.load.connections), format!("{}s", order.seconds)];
        let rate = order.load.rate.unwrap_or(1);
        arguments([
            &"-t1",
            &connections,
            &"-R",
            &rate,
            &"-d",
            &duration,
            &"--format",
            &"json",
            &"--plain",
            &order.url(),
        ])
    },
    parse,
    good_exits: &[0],
};

fn parse(text: &str) -> Result<Measured, String> {
    let json = json(text)?;
    let errors = json.pointer("/errors").and_then(Value::as_object).ok_or("its JSON has no errors")?;
    let errors = errors
        .values()
        .map(|number| count(number.as_f64().unwrap_or(f64::NAN)))
        .sum::<Result<u64, String>>()?;
    Measured {
        requests: count(at(&json, "/status_codes/2xx")?)?,
        requests_per_s: at(&json, "/achieved_rate")?,
        errors,
        median_us: Some(at(&json, "/latency_us/p50")?),
        p99_us: Some(at(&json, "/latency_us/p99")?),
        ..Measured::default()
    }
    .checked()
}

#[cfg(test)]
mod tests {
    use super::*;

    const SAMPLE: &str = include_str!("../../samples/zrk.json");

    #[test]
    fn requests_and_times_are_read() {
        let measured = parse(SAMPLE).unwrap();
        assert_eq!((measured.requests, measured.errors), (1_997, 0));
        assert_eq!((measured.median_us, measured.p99_us), (Some(80.0), Some(748.0)));
    }

    #[test]
    fn every_kind_of_error_counts() {
        let text =
            SAMPLE.replace("\"read\": 0", "\"read\": 3").replace("\"non_2xx_3xx\": 0", "\"non_2xx_3xx\": 2");
        assert_eq!(parse(&text).unwrap().errors, 5);
    }
}
