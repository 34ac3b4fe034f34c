//! Runs Tenbin and reads its JSON output.

use super::{Load, Order, Program, Tool};
use crate::measured::Measured;
use harness::figures::{at, json};
use harness::program::arguments;
use harness::tenbin;

pub(super) const TOOL: Tool = Tool {
    name: "tenbin",
    program: Program::Tenbin,
    how_to_get: "cargo build --release -p tenbin, or --tenbin PATH",
    version: &["--version"],
    arguments: flags,
    parse,
    good_exits: tenbin::USABLE_EXIT_CODES,
};

/// Tenbin as a closed loop on one connection, for any case.
pub(super) const ALONE: Tool = Tool {
    name: "tenbin-c1",
    arguments: |order| flags(&Order { load: Load { connections: 1, rate: None, ..order.load }, ..*order }),
    ..TOOL
};

fn flags(order: &Order<'_>) -> Vec<String> {
    let duration = format!("{}s", order.seconds);
    let mut all =
        arguments([&order.url(), &"-c", &order.load.connections, &"-d", &duration, &"--threads", &1]);
    all.extend(arguments([&"--store", &order.store, &"--format", &"json"]));
    if let Some(rate) = order.load.rate {
        all.extend(arguments([&"-R", &format!("{rate}/s")]));
    }
    if order.load.is_tls {
        // Skips certificate checks, as the other tools do.
        all.push("-k".to_owned());
    }
    all
}

fn parse(text: &str) -> Result<Measured, String> {
    let json = json(text)?;
    let said = tenbin::read(&json)?;
    Measured {
        requests: said.ok,
        requests_per_s: said.per_s,
        errors: said.errors,
        // Tenbin prints null for percentiles of a run with too few requests.
        median_us: at(&json, "/response_time_us/p50").ok(),
        p99_us: at(&json, "/response_time_us/p99").ok(),
        lateness_p99_us: at(&json, "/lateness_us/p99").ok(),
        remark: said.remark,
    }
    .checked()
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::super::tests::order;
    use super::*;

    const SAMPLE: &str = include_str!("../../samples/tenbin.json");

    #[test]
    fn an_open_run_is_read_with_its_lateness() {
        let measured = parse(SAMPLE).unwrap();
        assert_eq!((measured.requests, measured.errors, measured.remark), (4_000, 0, None));
        assert_eq!((measured.median_us, measured.p99_us), (Some(30.303), Some(136.063)));
        assert_eq!(measured.lateness_p99_us, Some(77.631));
    }

    #[test]
    fn its_judgement_of_itself_is_passed_on() {
        let mut json: Value = serde_json::from_str(SAMPLE).unwrap();
        json["validity"] = serde_json::json!({ "verdict": "invalid", "causes": [{ "code": "wake_lag" }] });
        let remark = parse(&json.to_string()).unwrap().remark;
        assert_eq!(remark.as_deref(), Some("judges itself invalid: wake_lag"));
    }

    #[test]
    fn a_percentile_that_it_does_not_print_is_none() {
        let text = SAMPLE.replace("\"p99\": 136.063", "\"p99\": null");
        assert_eq!(parse(&text).unwrap().p99_us, None);
    }

    #[test]
    fn requests_that_were_not_sent_are_errors() {
        let text = SAMPLE
            .replace("\"not_sent\": 0", "\"not_sent\": 9")
            .replace("\"rejected\": 0", "\"rejected\": 1");
        assert_eq!(parse(&text).unwrap().errors, 10);
    }

    #[test]
    fn the_companion_is_closed_on_one_connection() {
        let flags = (ALONE.arguments)(&order(50, Some(2_000))).join(" ");
        assert!(flags.contains("-c 1 ") && !flags.contains("-R"), "{flags}");
        let flags = (TOOL.arguments)(&order(50, Some(2_000))).join(" ");
        assert!(flags.contains("-c 50 ") && flags.ends_with("-R 2000/s"), "{flags}");
    }
}
