//! Tenbin itself, by its JSON contract.

use bench_turns::figures::{at, count, json};
use serde_json::Value;

use super::{Measured, Order, TABLE_SIZE, Tool, arguments};
use crate::cases::{LOADING_SCALE, Work};

pub(super) const TOOL: Tool = Tool {
    name: "tenbin",
    how_to_get: "cargo build --release -p tenbin, or --tenbin PATH",
    arguments: flags,
    parse,
    // 4: it judges its own run invalid. The figures stand, with its judgement beside them.
    good_exits: &[0, 4],
};

fn flags(order: &Order<'_>) -> Vec<String> {
    let url = order.url();
    let (workload, mode) = match order.load.work {
        Work::Loading => {
            return arguments([
                &"prepare",
                &url,
                &"--workload",
                &"tpcb-like",
                &"--scale",
                &LOADING_SCALE,
                &"--fresh",
            ]);
        }
        Work::SelectOnly { is_prepared: true } => ("select-only", "prepared"),
        Work::SelectOnly { is_prepared: false } => ("select-only", "simple"),
        Work::TpcbLike => ("tpcb-like", "simple"),
        // sysbench prepares its statements unless it is told not to.
        Work::PointSelect => ("oltp-point-select", "prepared"),
        Work::ReadWrite => ("oltp-read-write", "prepared"),
    };
    let duration = format!("{}s", order.seconds);
    let mut all = arguments([&url, &"--workload", &workload, &"--query-mode", &mode]);
    all.extend(arguments([&"-c", &order.load.clients, &"-d", &duration, &"--threads", &1]));
    all.extend(arguments([&"--store", &order.store, &"--format", &"json"]));
    if matches!(order.load.work, Work::PointSelect | Work::ReadWrite) {
        all.extend(arguments([&"--tables", &1, &"--table-size", &TABLE_SIZE]));
    }
    all
}

fn parse(text: &str) -> Result<Measured, String> {
    let json = json(text)?;
    let [ok, refused, failed, timed_out, not_sent] = [
        at(&json, "/outcomes/ok")?,
        at(&json, "/outcomes/refused")?,
        at(&json, "/outcomes/failed")?,
        at(&json, "/outcomes/timed_out")?,
        at(&json, "/offered/not_sent")?,
    ];
    Ok(Measured {
        transactions: count(ok)?,
        per_s: at(&json, "/throughput_per_s")?,
        errors: count(refused + failed + timed_out + not_sent)?,
        remark: judgement(&json),
    })
}

/// What it has against its own run.
fn judgement(json: &Value) -> Option<String> {
    let verdict = json.pointer("/validity/verdict")?.as_str().filter(|verdict| *verdict != "valid")?;
    let causes = json.pointer("/validity/causes").and_then(Value::as_array).into_iter().flatten();
    let codes: Vec<&str> = causes.filter_map(|cause| cause["code"].as_str()).collect();
    Some(format!("judges itself {verdict}: {}", codes.join(", ")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn outcomes_and_judgement_are_read() {
        let json = serde_json::json!({
            "outcomes": { "ok": 90, "refused": 1, "failed": 2, "timed_out": 3 },
            "offered": { "not_sent": 4 },
            "throughput_per_s": 18.0,
            "validity": { "verdict": "invalid", "causes": [{ "code": "wake_lag" }] },
        });
        let measured = parse(&json.to_string()).unwrap();
        assert_eq!((measured.transactions, measured.errors), (90, 10));
        assert_eq!(measured.remark.as_deref(), Some("judges itself invalid: wake_lag"));
    }
}
