//! Reads the fields of Tenbin's JSON that all benchmarks use.

use serde_json::Value;

use crate::figures::{at, count};

/// Exit codes of a usable run. Code 4 means that Tenbin judged its own run invalid; its figures are reported with this verdict.
pub const USABLE_EXIT_CODES: &[i32] = &[0, 4];

/// Figures of a run.
#[derive(Clone, Debug, PartialEq)]
pub struct TenbinFigures {
    /// Requests or transactions that ended ok.
    pub ok: u64,
    /// Answered requests or transactions per second.
    pub per_s: f64,
    /// Requests or transactions that did not end ok, or were never sent.
    pub errors: u64,
    /// Reasons for which Tenbin judged its own run invalid. `None` if there are none.
    pub remark: Option<String>,
}

/// Reads a run.
///
/// # Errors
///
/// Returns a message that names a missing figure.
pub fn read(json: &Value) -> Result<TenbinFigures, String> {
    let wrong = ["/outcomes/rejected", "/outcomes/failed", "/outcomes/timed_out", "/offered/not_sent"];
    let wrong: Vec<f64> = wrong.into_iter().map(|path| at(json, path)).collect::<Result<_, _>>()?;
    Ok(TenbinFigures {
        ok: count(at(json, "/outcomes/ok")?)?,
        per_s: at(json, "/throughput_per_s")?,
        errors: count(wrong.into_iter().sum())?,
        remark: judgement(json),
    })
}

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
    fn outcomes_and_validity_are_read() {
        let mut json = serde_json::json!({
            "outcomes": { "ok": 90, "rejected": 1, "failed": 2, "timed_out": 3 },
            "offered": { "not_sent": 4 },
            "throughput_per_s": 18.0,
            "validity": { "verdict": "invalid", "causes": [{ "code": "wake_lag" }] },
        });
        let said = read(&json).unwrap();
        assert_eq!((said.ok, said.errors), (90, 10));
        assert_eq!(said.remark.as_deref(), Some("judges itself invalid: wake_lag"));
        json["validity"]["verdict"] = "valid".into();
        assert_eq!(read(&json).unwrap().remark, None);
        assert!(read(&serde_json::json!({ "outcomes": { "ok": 90 } })).is_err());
    }
}
