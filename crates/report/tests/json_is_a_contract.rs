//! JSON has the keys of the contract in their order, and null for unknown figures.

use crate::runs;
use crate::studies;
use evidence::Run;
use report::Options;
use serde_json::{Value, json};

fn text(runs: &[Run]) -> String {
    let mut out = Vec::new();
    report::write(
        report::format("json").unwrap(),
        runs,
        &Options { color: false, width: 80, is_wide: true },
        &mut out,
    )
    .unwrap();
    String::from_utf8(out).unwrap()
}

fn value(run: Run) -> Value {
    serde_json::from_str(&text(&[run])).unwrap()
}

/// Keys of the outermost object, in order.
fn keys(text: &str) -> Vec<&str> {
    let key =
        |line: &'_ str| -> Option<usize> { line.starts_with("  \"").then(|| line[3..].find('"')).flatten() };
    text.lines().filter_map(|line| Some(&line[3..3 + key(line)?])).collect()
}

#[test]
fn contract_keys_come_first_and_in_order() {
    let contract = [
        "schema",
        "run",
        "verdict",
        "validity",
        "offered",
        "outcomes",
        "throughput_per_s",
        "received_bytes",
        "sent_bytes",
        "response_time_us",
        "service_time_us",
        "lateness_us",
        "steps",
        "errors",
        "generator",
        "system",
    ];
    for run in [runs::normal(), runs::every_kind_of_error(), runs::empty(), runs::cut_short()] {
        let text = text(&[run]);
        assert_eq!(keys(&text)[..contract.len()], contract);
    }
    assert_eq!(keys(&text(&[runs::normal(), runs::late()])), ["schema", "runs", "comparison", "bottlenecks"]);
}

#[test]
fn counts_add_up() {
    for run in [runs::normal(), runs::every_kind_of_error(), runs::empty(), runs::cut_short(), runs::late()] {
        let value = value(run);
        for part in [&value, &value["steps"][0], &value["warm_up"]] {
            let number = |pointer: &str| part.pointer(pointer).unwrap().as_u64().unwrap();
            assert_eq!(number("/offered/planned"), number("/offered/sent") + number("/offered/not_sent"));
            let ends = ["ok", "rejected", "failed", "timed_out", "unfinished"];
            let ended: u64 = ends.iter().map(|end| number(&format!("/outcomes/{end}"))).sum();
            assert_eq!(number("/offered/sent"), ended);
        }
    }
}

#[test]
fn renamed_keys_stay_as_aliases_through_0_x() {
    let value = value(runs::every_kind_of_error());
    assert!(value["outcomes"]["rejected"].as_u64().unwrap() > 0);
    for part in [&value, &value["steps"][0], &value["warm_up"]] {
        assert_eq!(part["outcomes"]["refused"], part["outcomes"]["rejected"]);
    }
    for part in [&value, &value["steps"][0]] {
        for duration in ["response_time", "service_time", "lateness"] {
            let of = |outcome: &str| &part[format!("{duration}_{outcome}_us")];
            assert!(of("rejected")["mean"].is_number(), "{duration}");
            assert_eq!(of("refused"), of("rejected"), "{duration}");
        }
    }
}

#[test]
fn empty_run_has_null_figures() {
    let value = value(runs::empty());
    assert_eq!(value["throughput_per_s"], Value::Null);
    for key in ["min", "mean", "p50", "p99_99", "max"] {
        assert_eq!(value["response_time_us"][key], Value::Null, "{key}");
    }
    assert_eq!(value["verdict"], "aborted");
    assert_eq!(value["validity"]["verdict"], "invalid");
}

#[test]
fn percentile_with_too_few_samples_is_null() {
    let value = value(runs::cut_short());
    let times = &value["response_time_us"];
    assert!(times["p90"].is_number() && times["max"].is_number());
    assert!(times["p95"].is_null(), "150 samples have 7.5 above");
}

#[test]
fn run_without_ending_is_partial_and_suspect() {
    let value = value(runs::cut_short());
    assert_eq!((&value["verdict"], &value["validity"]["verdict"]), (&"partial".into(), &"suspect".into()));
    assert_eq!(value["outcomes"]["unfinished"], 20);
    assert_eq!(value["generator"]["threads"], Value::Null);
}

#[test]
fn errors_are_sorted_and_others_come_last() {
    let value = value(runs::every_kind_of_error());
    let errors = value["errors"].as_array().unwrap();
    let classes: Vec<_> = errors.iter().map(|error| error["class"].as_str().unwrap()).collect();
    assert_eq!(classes, ["status", "check", "reset", "timeout_headers", "others"]);
    assert_eq!(errors[0]["count"], 96);
}

#[test]
fn system_combines_stored_facts_and_readings() {
    let value = value(runs::every_kind_of_error());
    let system = &value["system"];
    assert_eq!(
        [&system["name"], &system["variant"], &system["version"], &system["knobs"]["workers"]],
        ["puma", "workers=8 threads=16", "puma version 6.6.0", "8"]
    );
    // Seconds 1 to 3, because second 0 is warm-up.
    assert_eq!(system["cpu_s"], 3.0 * 0.875);
    assert_eq!(system["rss_peak_bytes"], 180_000_000);
    assert_eq!((&system["pid"], &system["cores_used"]), (&4242.into(), &0.875.into()));
    assert_eq!(system["processes"][0]["name"], "app");
    let alone = self::value(runs::normal());
    assert_eq!(alone["system"], Value::Null);
}

fn study_text(study: &studies::Stored) -> String {
    let mut out = Vec::new();
    let options = Options { color: false, width: 80, is_wide: true };
    report::write_study(
        report::format("json").unwrap(),
        &study.study,
        &|run| study.load(run),
        &options,
        &mut out,
    )
    .unwrap();
    String::from_utf8(out).unwrap()
}

#[test]
fn study_has_contract_keys_and_runs_of_single_reports() {
    let study = studies::one_block();
    let text = study_text(&study);
    let contract = [
        "schema",
        "runs",
        "comparison",
        "bottlenecks",
        "study",
        "failures",
        "gates",
        "capacity",
        "gates_unjudged",
        "events",
        "event_differences",
        "baseline",
        "gates_of_baseline",
        "profiles",
        "profile_differences",
        "diagnosis",
        "ending",
    ];
    assert_eq!(keys(&text), contract);
    let value: Value = serde_json::from_str(&text).unwrap();
    assert_eq!(value["schema"], "tenbin.study/1");
    assert_eq!(value["runs"][0], self::value(study.runs[0].clone()));
    assert_eq!(value["runs"][1]["place"]["knobs"]["workers"], "8");
    assert_eq!((&value["study"]["planned"], &value["study"]["done"]), (&2.into(), &2.into()));
}

#[test]
fn has_stored_baseline_and_its_gates() {
    let value: Value = serde_json::from_str(&study_text(&studies::stored_baseline())).unwrap();
    let baseline = &value["baseline"];
    assert_eq!((&baseline["asked"]["label"], &baseline["is_paired"]), (&"main".into(), &false.into()));
    assert_eq!((&baseline["commit"], &baseline["reason"]), (&"1a2b3c4d5e6f".into(), &Value::Null));
    let systems: Vec<_> = baseline["rows"].as_array().unwrap().iter().map(|row| &row["system"]).collect();
    assert_eq!(systems, ["node", "php"]);
    let gates = value["gates_of_baseline"].as_array().unwrap();
    let verdicts: Vec<_> = gates.iter().map(|gate| (&gate["system"], &gate["verdict"])).collect();
    let told = [("node", "passed"), ("php", "failed"), ("puma", "not_judged")];
    let told: Vec<(Value, Value)> =
        told.iter().map(|(system, verdict)| ((*system).into(), (*verdict).into())).collect();
    assert_eq!(verdicts[..3], told.iter().map(|(a, b)| (a, b)).collect::<Vec<_>>());
    assert!(gates[1]["high"].as_f64().unwrap() < 0.95 && gates[1]["is_paired"] == false, "{}", gates[1]);
}

#[test]
fn study_has_best_variants_and_differences() {
    let value: Value = serde_json::from_str(&study_text(&studies::complete())).unwrap();
    let comparison = &value["comparison"];
    assert_eq!((&comparison["metric"], &comparison["unit"]), (&"throughput".into(), &"per_s".into()));
    let ranking = comparison["ranking"].as_array().unwrap();
    let bests: Vec<_> = ranking.iter().filter(|ranked| ranked["is_best"] == true).collect();
    assert_eq!(bests.len(), 3, "one of each system");
    // This variant is faster, but has 2.5 % errors, so it is ranked without being the best.
    assert_eq!(
        (&ranking[0]["variant"], &ranking[0]["is_best"]),
        (&"workers=8 threads=16".into(), &false.into())
    );
    assert_eq!(bests[0]["variant"], "workers=8 threads=1");
    assert!(ranking.iter().all(|ranked| ranked["variant"] != "workers=1 threads=500"), "it never started");
    let pairs = comparison["pairs"].as_array().unwrap();
    let verdicts: Vec<_> = pairs.iter().map(|pair| pair["verdict"].as_str().unwrap()).collect();
    assert_eq!(verdicts, ["differs", "differs", "equivalent"]);
    for pair in pairs {
        let number = |key: &str| pair[key].as_f64().unwrap();
        assert!(number("low") <= number("ratio") && number("ratio") <= number("high"), "{pair}");
    }
    // An invalid run of unicorn leaves seven blocks. Six of them were judged.
    assert_eq!((&pairs[0]["common_blocks"], &pairs[0]["blocks"]), (&7.into(), &6.into()));
    let failures = value["failures"].as_array().unwrap();
    assert_eq!(failures.len(), 8);
    assert!(failures[0]["outputs"][0]["text"].as_str().unwrap().contains("can't create Thread"));
    let gates = value["gates"].as_array().unwrap();
    assert_eq!(gates.iter().filter(|gate| gate["counts"] == false).count(), 2, "of the invalid run");
}

#[test]
fn compares_every_row_with_baseline_by_every_metric() {
    let value: Value = serde_json::from_str(&study_text(&studies::against())).unwrap();
    let pairs = value["comparison"]["pairs"].as_array().unwrap();
    let of = |metric: &str| -> Vec<(&str, &str, f64)> {
        let of_metric = pairs.iter().filter(|pair| pair["metric"] == metric);
        of_metric
            .map(|pair| {
                (
                    pair["a"]["variant"].as_str().unwrap(),
                    pair["verdict"].as_str().unwrap(),
                    pair["ratio"].as_f64().unwrap(),
                )
            })
            .collect()
    };
    let by_throughput = of("throughput");
    let verdicts: Vec<_> = by_throughput.iter().map(|(variant, verdict, _)| (*variant, *verdict)).collect();
    assert_eq!(verdicts, [("workers=8", "differs"), ("", "equivalent"), ("workers=4", "differs")]);
    assert!(by_throughput[0].2 > 1.4 && by_throughput[2].2 < 0.85, "the baseline is always the second");
    assert_eq!((of("cpu-per-request").len(), pairs.len()), (3, 6));
    for pair in pairs {
        assert_eq!((&pair["b"]["system"], &pair["holm"]), (&"node".into(), &true.into()), "{pair}");
    }
    assert!(study_text(&studies::complete()).contains("\"holm\": false"));
}

#[test]
fn family_too_large_for_blocks_has_no_verdict() {
    let mut stored = studies::against();
    // Three rows by three metrics are nine comparisons, and 2/256 is more than a ninth of 5 %. A metric that this version does not
    // know counts as well.
    stored.study.new.compare.also.push("joy".to_owned());
    let value: Value = serde_json::from_str(&study_text(&stored)).unwrap();
    let pairs = value["comparison"]["pairs"].as_array().unwrap();
    assert_eq!(pairs.len(), 6);
    for pair in pairs {
        assert_eq!(pair["reason"], "a verdict needs 9 blocks, and this study has 8", "{pair}");
    }
    // With only the first metric, there are three comparisons.
    stored.study.new.compare.also.clear();
    let value: Value = serde_json::from_str(&study_text(&stored)).unwrap();
    assert_eq!(value["comparison"]["pairs"][0]["verdict"], "differs");
}

#[test]
fn unmeasured_variants_are_neither_ranked_nor_compared() {
    for study in [studies::all_invalid(), studies::not_begun()] {
        let value: Value = serde_json::from_str(&study_text(&study)).unwrap();
        let comparison = &value["comparison"];
        assert_eq!((&comparison["ranking"], &comparison["pairs"]), (&json!([]), &json!([])));
    }
    let value: Value = serde_json::from_str(&study_text(&studies::missing())).unwrap();
    let verdicts = value["comparison"]["pairs"].as_array().unwrap().iter().map(|pair| &pair["verdict"]);
    assert!(verdicts.clone().count() > 0 && verdicts.clone().all(|verdict| verdict == "none"));
    assert_eq!(value["comparison"]["pairs"][0]["reason"], "1 of the 8 blocks that a first verdict needs");
    assert_eq!((&value["study"]["done"], &value["study"]["state"]), (&9.into(), &"interrupted".into()));
}

#[test]
fn more_errors_and_uneven_losses_prevent_verdict() {
    let reasons = [
        (
            0,
            "2.45 % of the requests to the one that is ahead failed, 0.00 % of the other's: more errors are not \
          better",
        ),
        (3, "3 runs of one and 0 of the other were invalid, so the remaining runs are a biased sample"),
    ];
    for (invalid, reason) in reasons {
        let text = study_text(&studies::faster_with_faults(invalid));
        let value: Value = serde_json::from_str(&text).unwrap();
        let pair = &value["comparison"]["pairs"][0];
        assert_eq!((&pair["a"]["system"], &pair["verdict"]), (&"hasty".into(), &"none".into()));
        assert_eq!(pair["reason"], reason);
        assert!(pair["ratio"].as_f64().unwrap() > 1.4);
    }
    let value: Value = serde_json::from_str(&study_text(&studies::faster_with_faults(2))).unwrap();
    let pair = &value["comparison"]["pairs"][0];
    assert_eq!(
        (&pair["verdict"], &pair["blocks"], &pair["common_blocks"]),
        (&"differs".into(), &8.into(), &10.into())
    );
}
