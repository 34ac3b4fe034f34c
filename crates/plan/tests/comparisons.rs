//! Comparisons of variants: the procedure, the time it takes, and the description by `check`.

use std::path::PathBuf;

use plan::{ComparisonMethod, Find, StoredBaseline, Study};

/// A study of systems with these names and this section `compare`.
fn study(systems: &[&str], compare: &str, is_quick: bool) -> Study {
    let systems: String =
        systems.iter().map(|name| format!("  {name}: {{ start: \"{name} {{port}}\" }}\n")).collect();
    let text = format!(
        "scenario: [ get: / ]\nload: {{ users: 3, for: 10s }}\nsystems:\n{systems}compare: {compare}\n\
         quick: {{ for: 1s, blocks: 6 }}\n"
    );
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR"));
    let study = Study::from_bytes(text.as_bytes(), "plan.yaml", "plan".to_owned(), folder, is_quick);
    study.unwrap_or_else(|faults| panic!("{faults}"))
}

#[test]
fn two_variants_are_an_ab_comparison_with_optional_pilot() {
    let duel = study(&["a", "b"], "{ by: p99 }", false);
    let compare = &duel.compare;
    assert_eq!(
        (duel.how(), compare.find, compare.blocks, compare.pilot),
        (ComparisonMethod::Duel, Find::Every, 24, 0)
    );
    let words = duel.explain();
    let order = "A/B comparison: 7 to 24 blocks, until the result is conclusive; each";
    assert!(words.contains(order), "{words}");
    assert!(words.contains("2m20s to 8m of load, plus 14 to 48 starts and stops"), "{words}");
    let asked = study(&["a", "b"], "{ by: p99, pilot: 3 }", false).explain();
    assert!(
        asked.contains("3 pilot blocks of the first variant against itself, then 7 to 24 blocks"),
        "{asked}"
    );
    assert!(asked.contains("3m20s to 9m of load, plus 20 to 54 starts and stops"), "{asked}");
    let quick = study(&["a", "b"], "{ by: p99 }", true);
    assert_eq!((quick.how(), quick.compare.blocks, quick.compare.pilot), (ComparisonMethod::Duel, 6, 0));
    assert!(quick.explain().contains("A/B comparison: 6 blocks; each"), "{}", quick.explain());
    let short = study(&["a", "b"], "{ blocks: 8 }", false);
    assert_eq!((short.how(), short.compare.pilot), (ComparisonMethod::Duel, 0));
    let quick_pilot = study(&["a", "b"], "{ blocks: 12, pilot: 2 }", true);
    assert_eq!(quick_pilot.compare.pilot, 0, "a quick study has no time for one");
}

#[test]
fn secondary_metrics_delay_first_decision() {
    let words = |compare: &str| study(&["a", "b"], compare, false).explain();
    let also = words("{ also: [ p99 ] }");
    assert!(also.contains(": 12 to 24 blocks, until the result is conclusive"), "{also}");
    assert!(also.contains("4m to 8m of load, plus 24 to 48 starts and stops"), "{also}");
    let never_twelve = words("{ also: [ p99 ], blocks: 8 }");
    assert!(never_twelve.contains("A/B comparison: 8 blocks; each"), "{never_twelve}");
    let short = words("{ also: [ p99, errors ], within: 70s }");
    assert!(short.contains("too short for a result, which takes at least 4m"), "{short}");
}

#[test]
fn undecidable_comparison_has_fixed_number_of_blocks() {
    let few = study(&["a", "b"], "{ blocks: 5 }", false);
    assert_eq!((few.how(), few.compare.pilot), (ComparisonMethod::Blocks, 0));
    let how = |compare: &str| study(&["a", "b"], compare, false).how();
    assert_eq!([how("{ blocks: 6 }"), how("{ blocks: 7, also: p99 }")], [ComparisonMethod::Duel; 2]);
    assert_eq!(
        how("{ blocks: 6, also: p99 }"),
        ComparisonMethod::Blocks,
        "six that agree are not enough for two figures"
    );
    assert_eq!(study(&["a", "b"], "{ also: p99 }", true).how(), ComparisonMethod::Blocks);
    let many = study(&["a", "b", "c"], "{ by: throughput }", false);
    assert_eq!((many.how(), many.compare.blocks), (ComparisonMethod::Blocks, 8));
    assert!(many.explain().contains("24 runs: 8 blocks, each with all 3 once, in random order"));
    let against = study(&["a", "b", "c"], "{ baseline: b, also: [ p99, errors ] }", false);
    assert_eq!(against.baseline().as_deref(), Some("b"));
    assert_eq!(
        against.compare.metrics().map(judge::ComparedBy::name).collect::<Vec<_>>(),
        ["throughput", "p99", "errors"]
    );
    let words = against.explain();
    assert!(
        words.contains("smallest relevant difference 3%, together with p99, errors; against b\n"),
        "{words}"
    );
}

/// A study of two systems with an event, and this section `compare`.
fn with_events(compare: &str) -> Study {
    let text = format!(
        "scenario: [ get: / ]\nload: {{ rate: 100/s, for: 20s }}\nevents: {{ deploy: {{ at: 8s }} }}\nsystems:\n  \
         a: {{ start: 'a {{port}}', events: {{ deploy: {{ signal: HUP }} }} }}\n  \
         b: {{ start: 'b {{port}}', events: {{ deploy: {{ signal: USR1 }} }} }}\ncompare: {compare}\n"
    );
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR"));
    let study = Study::from_bytes(text.as_bytes(), "plan.yaml", "plan".to_owned(), folder, false);
    study.unwrap_or_else(|faults| panic!("{faults}"))
}

#[test]
fn compares_costs_of_events_by_difference() {
    let told = |compare: &str| {
        let study = with_events(compare);
        let words = study.explain();
        let line = words.lines().find(|line| line.starts_with("comparison")).map(str::to_owned);
        (study.compare.primary_metric_name(), study.compare.matters, line.unwrap_or_default())
    };
    let (by, matters, line) = told("{ by: outage, min-effect: 50ms, also: [ p99, \"event deploy: lost\" ] }");
    assert_eq!((by.as_str(), matters), ("outage", 50e6));
    assert_eq!(
        line,
        "comparison  by outage, lower is better; smallest relevant difference 50ms, by difference within blocks, together \
         with p99, event deploy: lost"
    );
    let (by, matters, line) = told("{ by: \"event deploy: lost\" }");
    assert_eq!((by.as_str(), matters), ("event deploy: lost", 1.0));
    assert!(line.contains("smallest relevant difference 1 request, by difference"), "{line}");
    let (_, matters, line) = told("{ by: recovery }");
    assert!(matters == 20e6 && line.contains("smallest relevant difference 20ms"), "{line}");
    let (_, matters, line) = told("{ by: lost, min-effect: 5 }");
    assert!(matters == 5.0 && line.contains("smallest relevant difference 5 requests"), "{line}");
}

#[test]
fn find_failures_compares_nothing() {
    let no = study(&["a", "b"], "no", false);
    assert_eq!((no.how(), no.compare.find, no.compare.blocks), (ComparisonMethod::Blocks, Find::Failures, 1));
    assert_eq!(no.compare.primary_metric_name(), "failures");
    assert!(
        no.explain().contains("comparison  none: reports which variants fail, and why"),
        "{}",
        no.explain()
    );
    let often = study(&["a", "b"], "{ find: failures, blocks: 12 }", false);
    assert_eq!(
        (often.how(), often.compare.blocks, often.compare.pilot),
        (ComparisonMethod::Blocks, 12, 0),
        "no duel"
    );
}

#[test]
fn find_best_is_a_best_of_search() {
    let best = study(&["a", "b", "c"], "{ find: best, baseline: c }", false);
    assert_eq!(
        (best.how(), best.compare.find, best.compare.blocks),
        (ComparisonMethod::Best, Find::Best, 24)
    );
    let words = best.explain();
    assert!(words.contains("a search for the best: up to 24 blocks of the remaining candidates"), "{words}");
    assert!(words.contains("then the winner against c in new blocks"), "{words}");
    let quick = study(&["a", "b", "c"], "{ find: best }", true);
    assert_eq!(quick.how(), ComparisonMethod::Blocks, "six blocks find no best");
}

#[test]
fn find_best_of_each_has_sweep_and_final() {
    let study = |compare: &str, is_quick| {
        let text = format!(
            "scenario: [ get: / ]\nload: [ {{ name: full, users: 3, for: 10s }}, {{ name: light, rate: 9/s, for: 20s }} ]\n\
             systems:\n  a: {{ start: 'a {{port}} {{n}}', vary: {{ n: [1, 2, 4] }} }}\n  \
             b: {{ start: 'b {{port}} {{n}}', vary: {{ n: [1, 2] }} }}\ncompare: {compare}\nquick: {{ blocks: 1 }}\n"
        );
        let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR"));
        let study = Study::from_bytes(text.as_bytes(), "plan.yaml", "plan".to_owned(), folder, is_quick);
        study.unwrap_or_else(|faults| panic!("{faults}"))
    };
    let usual = study("{ find: best of each }", false);
    assert_eq!((usual.how(), usual.compare.blocks), (ComparisonMethod::BestOfEach { sweep_blocks: 3 }, 8));
    let each = study("{ find: best of each, blocks: 2, final: 6, within: 460s }", false);
    assert_eq!((each.how(), each.compare.blocks), (ComparisonMethod::BestOfEach { sweep_blocks: 2 }, 6));
    let words = each.explain();
    let order = "a sweep of all 5 variants under full, 2 blocks in random order, then a final of the 2 best under all loads, 6 \
                 blocks of new runs";
    assert!(words.contains(order), "{words}");
    // Ten runs of the sweep under the first load, then two finalists under both loads, six times each.
    assert_eq!(each.min_duration_ns(), (10 * 10 + 12 * 30) * 1_000_000_000);
    assert!(words.contains("7m40s of load, plus 34 starts and stops"), "{words}");
    assert!(words.contains("time limit 7m40s\n"), "{words}");
    let quick = study("{ find: best of each }", true);
    assert_eq!((quick.how(), quick.compare.blocks), (ComparisonMethod::BestOfEach { sweep_blocks: 1 }, 1));
}

#[test]
fn says_if_time_limit_is_too_short_for_a_result() {
    let words = |within: &str| study(&["a", "b"], &format!("{{ within: {within} }}"), false).explain();
    assert!(words("139s").contains("time limit 2m19s, too short for a result, which takes at least 2m20s"));
    assert!(words("140s").contains("time limit 2m20s\n"), "{}", words("140s"));
}

#[test]
fn baseline_accepts_full_or_short_name_of_variant() {
    for name in ["web n=2", "n=2"] {
        let text = format!(
            "{{ scenario: [ get: / ], load: {{ users: 1 }}, systems: {{ web: {{ start: 'web {{port}} {{n}}', \
             vary: {{ n: [1, 2] }} }} }}, compare: {{ baseline: {name} }}, quick: {{ vary: {{ web: {{ n: [1] }} }} }} }}"
        );
        let read = |is_quick| {
            let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR"));
            let study = Study::from_bytes(text.as_bytes(), "plan.yaml", "plan".to_owned(), folder, is_quick);
            study.unwrap_or_else(|faults| panic!("{faults}"))
        };
        assert_eq!(read(false).baseline().as_deref(), Some("web n=2"));
        assert_eq!(read(true).baseline(), None, "a quick study may lack it");
    }
}

#[test]
fn load_may_extend_until_steady() {
    let text = "{ scenario: [ get: / ], load: { rate: 50/s, warm-up: 2s, for: 10s, extend: 2 }, url: http://127.0.0.1:1, \
                quick: { for: 1s } }";
    let read = |is_quick| {
        let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR"));
        let study = Study::from_bytes(text.as_bytes(), "plan.yaml", "plan".to_owned(), folder, is_quick);
        study.unwrap_or_else(|faults| panic!("{faults}"))
    };
    let study = read(false);
    assert_eq!(study.run_ns(0), Some(32_000_000_000), "as long as it may get");
    assert_eq!(study.loads[0].stop_words, "10s to 30s, until steady, after 2s of warm-up");
    let environment = plan::Environment {
        ports: &[],
        dir: &PathBuf::from("/run"),
        tenbin: &PathBuf::from("/tenbin"),
        host: std::net::Ipv4Addr::LOCALHOST,
    };
    let plan = study.plan(0, &study.launch(0, &environment)).expect("a plan");
    assert_eq!((plan.extend, plan.first_end_ns()), (2, Some(12_000_000_000)));
    assert!(study.explain().contains("time        up to 32s of load\n"), "{}", study.explain());
    let quick = read(true);
    assert_eq!(quick.run_ns(0), Some(3_000_000_000), "a short form does not go on");
}

#[test]
fn long_loads_can_have_a_time_limit() {
    let loads: Vec<String> =
        (0..600).map(|number| format!("  - {{ name: l{number}, users: 3, for: 8760h }}\n")).collect();
    let text = format!(
        "scenario: [ get: / ]\nload:\n{}systems:\n  a: {{ start: \"a {{port}}\" }}\ncompare: {{ blocks: 1, within: 1h }}\n",
        loads.concat()
    );
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR"));
    let study = Study::from_bytes(text.as_bytes(), "plan.yaml", "plan".to_owned(), folder, false);
    let faults = study.expect_err("an hour is too short").to_string();
    assert!(faults.contains("a single block takes"), "{faults}");
}

/// A study of systems with these names and gates, or all errors of its plan.
fn gated(systems: &[&str], compare: &str, gates: &str, is_quick: bool) -> Result<Study, String> {
    let systems: String =
        systems.iter().map(|name| format!("  {name}: {{ start: \"{name} {{port}}\" }}\n")).collect();
    let text = format!(
        "scenario: [ get: / ]\nload: {{ users: 3, for: 10s }}\nsystems:\n{systems}{compare}\ngates: [ {gates} ]\n\
         quick: {{ for: 1s, blocks: 2, systems: {{ a: {{}} }} }}\n"
    );
    let text = text.replace(", systems: { a: {} }", "");
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR"));
    Study::from_bytes(text.as_bytes(), "plan.yaml", "plan".to_owned(), folder, is_quick)
        .map_err(|errors| errors.to_string())
}

const OF_BASELINE: &str = "\"throughput>=95% of baseline\", \"errors = 0\"";

#[test]
fn baseline_may_be_a_stored_run() {
    let study = gated(&["a"], "compare: { baseline: { label: main } }", OF_BASELINE, false).unwrap();
    assert_eq!(study.compare.stored, Some(StoredBaseline::Label("main".to_owned())));
    assert_eq!((study.compare.baseline, study.compare.blocks, study.gates.len()), (None, 8, 2));
    assert!(
        study.explain().contains("baseline    label main: stored, so not paired by blocks\n"),
        "{}",
        study.explain()
    );
    let file = gated(&["a"], "compare: { baseline: { file: Cargo.toml } }", OF_BASELINE, false).unwrap();
    let Some(StoredBaseline::File { name, path }) = file.compare.stored else { panic!("a file") };
    assert!(name == "Cargo.toml" && path.is_file() && path.is_absolute());
    let run = gated(&["a"], "compare: { baseline: { run: s-2026 } }", "p99<1s", false).unwrap();
    assert_eq!(run.compare.stored, Some(StoredBaseline::Run("s-2026".to_owned())));
    let quick = gated(&["a"], "compare: { baseline: { label: main } }", OF_BASELINE, true).unwrap();
    assert_eq!((quick.gates.len(), quick.compare.blocks), (2, 2));
}

#[test]
fn reports_errors_in_baseline_at_their_place() {
    let wrong = |compare: &str| gated(&["a", "b"], compare, OF_BASELINE, false).unwrap_err();
    for (compare, what) in [
        ("", "the plan names no baseline"),
        ("compare: { baseline: c }", "unknown baseline \"c\""),
        ("compare: { baseline: { lable: main } }", "unknown key `lable`"),
        ("compare: { baseline: { label: main, run: last } }", "requires one of `label`, `file`, and `run`"),
        ("compare: { baseline: { file: nowhere.tenbin } }", "the baseline \"nowhere.tenbin\" is no file"),
        ("compare: { baseline: { label: main }, find: best }", "no use for a stored baseline"),
        ("compare: { baseline: a, find: best }", "requires that every variant is compared"),
        ("compare: { baseline: { label: main }, blocks: 3 }", "3 blocks cannot decide"),
        ("compare: { baseline: a, blocks: 5 }", "5 blocks cannot decide"),
    ] {
        let told = wrong(compare);
        assert!(told.contains(what) && told.contains("help: "), "{compare}: {told}");
    }
    let equals = gated(&["a"], "", "\"p99 = 200ms\"", false).unwrap_err();
    assert!(equals.contains("write p99<=200ms"), "{equals}");
}

/// Output of `check` about slices for a plan of these parts, or an error with its line.
fn slices(load: &str, systems: &str, compare: &str, more: &str) -> Result<String, String> {
    let text = format!(
        "scenario: [ get: / ]\nload: {{ {load} }}\nsystems:\n{systems}{more}compare: {{ interleave: {compare} }}\n"
    );
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR"));
    let study = Study::from_bytes(text.as_bytes(), "plan.yaml", "plan".to_owned(), folder, false);
    study.map(|study| study.explain()).map_err(|faults| faults.to_string())
}

const LOAD: &str = "users: 3, warm-up: 2s, for: 10s";
const TWO: &str = "  a: { start: \"a {port}\" }\n  b: { start: \"b {port}\" }\n";

#[test]
fn slices_start_both_systems() {
    let words = slices(LOAD, TWO, "slices, pause: idle", "").expect("it can be");
    for part in [
        "A/B comparison in slices: 7 to 24 blocks, until the result is conclusive",
        "each block starts both variants and gives each 2 to 10 slices of 1s in random balanced order",
        "the first 250ms of each left out",
        "the system without load is stopped meanwhile (SIGSTOP)",
        "8s500ms of load in a block of the fewest slices, plus two starts and stops of systems",
    ] {
        assert!(words.contains(part), "{part}: {words}");
    }
    let words = slices(LOAD, TWO, "auto, slice: 2s", "").expect("it can be");
    assert!(words.contains("2 to 5 slices of 2s") && !words.contains("SIGSTOP"), "{words}");
    assert!(slices(LOAD, TWO, "runs", "").expect("it can be").contains("A/B comparison: 7 to 24 blocks"));
}

#[test]
fn best_of_search_in_slices_starts_all_remaining_variants() {
    let three = format!("{TWO}  c: {{ start: \"c {{port}}\" }}\n");
    let words = slices(LOAD, &three, "auto, find: best", "").expect("it can be");
    for part in [
        "in slices: a search for the best: up to 24 blocks of the remaining candidates",
        "each block starts all variants that are left and gives each 4 slices of 1s in random balanced order",
        "20s250ms of load in the first blocks, plus 3 starts and stops of systems",
    ] {
        assert!(words.contains(part), "{part}: {words}");
    }
    let words =
        slices("users: 3, warm-up: 2s, for: 3s", &three, "slices, find: best", "").expect("it can be");
    assert!(words.contains("gives each 2 slices of 1s"), "{words}");
}

#[test]
fn default_blocks_of_many_variants_suffice_for_all_pairs() {
    let of = |variants: usize, compare: &str| {
        let values: Vec<String> = (1..=variants).map(|n| n.to_string()).collect();
        let text = format!(
            "scenario: [ get: / ]\nload: {{ {LOAD} }}\nsystems:\n  a: {{ start: \"a {{port}} {{n}}\", vary: {{ n: [{}] }} }}\n\
             compare: {compare}\n",
            values.join(", ")
        );
        let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR"));
        let study = Study::from_bytes(text.as_bytes(), "plan.yaml", "plan".to_owned(), folder, false);
        study.unwrap_or_else(|faults| panic!("{faults}"))
    };
    let blocks = |variants: usize, compare: &str| of(variants, compare).compare.blocks;
    let default = [3, 4, 5, 6, 8, 9].map(|variants| blocks(variants, "{ by: throughput }"));
    assert_eq!(default, [8, 8, 9, 10, 11, 8], "nine make whole runs");
    assert_eq!(
        [blocks(5, "{ baseline: a n=1 }"), blocks(3, "{ also: [ p99 ] }")],
        [8, 8],
        "four and six tests"
    );
    assert_eq!([blocks(5, "{ interleave: runs }"), blocks(5, "{ blocks: 8 }")], [8, 8]);
    let is_sliced = |compare: &str| of(5, compare).slicing().is_some();
    assert_eq!(["{ blocks: 8 }", "{ blocks: 9 }", "{ find: failures }"].map(is_sliced), [false, true, false]);
    let words = of(3, "{ blocks: 11 }").explain();
    assert!(words.contains("in slices: 8 blocks, 3 comparisons"), "its only look: {words}");
    let words = of(3, "{ by: throughput }").explain();
    for part in [
        "in slices: 8 blocks, 3 comparisons that share one error rate",
        "each block starts all variants and gives each 2 slices of 1s in random balanced order",
    ] {
        assert!(words.contains(part), "{part}: {words}");
    }
}

#[test]
fn impossible_slices_are_an_error_and_auto_explains_whole_runs() {
    let same = "  a: { start: \"a\", url: \"http://127.0.0.1:8080\" }\n  b: { start: \"b\", url: \"http://127.0.0.1:8080/x\" }\n";
    let running = "  a: { url: \"http://127.0.0.1:8080\" }\n  b: { start: \"b {port}\" }\n";
    let events = "  a: { start: \"a {port}\", events: { e: { signal: HUP } } }\n  b: { start: \"b {port}\", events: { e: { signal: HUP } } }\n";
    let three = format!("{TWO}  c: {{ start: \"c {{port}}\" }}\n");
    let of_many = |each: &dyn Fn(u32) -> String| {
        (1..=9).map(|n| format!("  s{n}: {{ {} }}\n", each(n))).collect::<String>()
    };
    let nine = of_many(&|n| format!("start: \"s{n} {{port}}\""));
    let many_same = format!("{TWO}{}", same.replace("  a:", "  c:").replace("  b:", "  d:"));
    for (load, systems, compare, more, because) in [
        (LOAD, same, "", "", "both variants listen at 127.0.0.1:8080, and only one can be up"),
        ("users: 3, for: 10s", TWO, "", "", "has no `warm-up`, so the start is part of what is measured"),
        ("users: 3, warm-up: 1s, for: 1500ms", TWO, "", "", "a block has two slices of each variant"),
        ("users: 3, warm-up: 1s, requests: 500", TWO, "", "", "needs a whole run: it has `requests`"),
        (
            "from: 10/s, stages: [ { for: 10s, to: 100/s } ], warm-up: 1s",
            TWO,
            "",
            "",
            "needs a whole run: it has `stages`",
        ),
        ("users: 3, ramp-up: 1s, warm-up: 1s, for: 10s", TWO, "", "", "needs a whole run: it has `ramp-up`"),
        (
            LOAD,
            &three,
            ", by: p99, find: best",
            "",
            "p99 depends on what happens seldom, and a slice is short",
        ),
        (LOAD, TWO, ", also: [ rss ]", "", "rss depends on what happens seldom"),
        (
            LOAD,
            &nine,
            ", find: best",
            "",
            "at most 8 systems are up at the same time, and the plan has 9 variants",
        ),
        (LOAD, &nine, "", "", "at most 8 systems are up at the same time"),
        (LOAD, &three, ", blocks: 6", "", "3 comparisons that share one error rate need 7 blocks"),
        (LOAD, TWO, ", blocks: 5", "", "slices are for comparisons of 2 to 8 variants"),
        (LOAD, &three, ", control: neighbors", "", "`control` is for two variants"),
        (LOAD, &three, ", find: best, control: neighbors", "", "`control` is for two variants"),
        (LOAD, &many_same, ", find: best", "", "several variants listen at 127.0.0.1:8080"),
        (LOAD, running, ", pause: idle", "", "`pause: idle` stops systems that Tenbin started"),
        (LOAD, events, "", "events: { e: { at: 1s } }\n", "events need whole runs"),
        (LOAD, TWO, "", "gates: [ outage<1s ]\n", "the gate \"outage<1s\" needs a whole run"),
        (
            LOAD,
            TWO,
            "",
            "gates: [ p99<1s from 1s to 5s ]\n",
            "the gate \"p99<1s from 1s to 5s\" needs a whole run",
        ),
        (
            LOAD,
            TWO,
            ", baseline: a",
            "gates: [ p99 <= 105% of baseline ]\n",
            "the gate \"p99 <= 105% of baseline\" needs a whole run",
        ),
    ] {
        let error = slices(load, systems, &format!("slices{compare}"), more).expect_err(because);
        assert!(
            error.contains(because) && error.contains("help: ") && error.contains("plan.yaml:"),
            "{error}"
        );
        let words =
            slices(load, systems, &format!("auto{compare}"), more).unwrap_or_else(|error| panic!("{error}"));
        assert!(words.contains("in whole runs, not in slices: ") && words.contains(because), "{words}");
    }
}

#[test]
fn gates_and_percentiles_of_the_tail_need_full_blocks_of_slices() {
    for (compare, more) in [
        ("auto", "gates: [ errors<1%, p99<1s ]\n"),
        ("auto, baseline: a", "gates: [ throughput >= 95% of baseline ]\n"),
        ("auto, by: p99", ""),
        ("auto, also: [ max ]", ""),
    ] {
        let words = slices(LOAD, TWO, compare, more).unwrap_or_else(|error| panic!("{error}"));
        assert!(words.contains("gives each 10 slices of 1s in random balanced order"), "{compare}: {words}");
    }
}

#[test]
fn comparison_of_two_is_in_slices_unless_plan_asks_for_runs_or_a_pilot() {
    let is_in_slices = |compare: &str| duel(compare, false).slicing().is_some();
    assert!(is_in_slices("{ by: throughput }") && is_in_slices("{ by: p99, slice: 2s }"));
    assert!(!is_in_slices("{ interleave: runs }") && !is_in_slices("{ pilot: 3 }"));
    assert!(!is_in_slices("{ also: [ rss ] }") && !is_in_slices("{ blocks: 2 }"));
}

#[test]
fn keys_of_slices_need_slices() {
    let error = |compare: &str| slices(LOAD, TWO, compare, "").expect_err(compare);
    assert!(error("runs, pause: idle").contains("`pause` is for slices"));
    assert!(error("runs, slice: 2s").contains("`slice` is for slices"));
    assert!(error("slices, slice: 5s").contains("a slice takes 1s to 3s"));
    assert!(error("slices, pilot: 3").contains("slices need no pilot"));
}

/// A study of two variants under a load with a long warm-up, and this section `compare`.
fn duel(compare: &str, is_quick: bool) -> Study {
    let text = format!(
        "scenario: [ get: / ]\nload: {{ users: 3, warm-up: 5s, for: 10s }}\nsystems:\n{TWO}compare: {compare}\n"
    );
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR"));
    Study::from_bytes(text.as_bytes(), "plan.yaml", "plan".to_owned(), folder, is_quick).expect("a plan")
}

#[test]
fn quick_study_in_slices_is_short() {
    let study = duel("{ interleave: slices }", true);
    let slicing = study.slicing().expect("slices");
    assert_eq!((study.compare.blocks, study.compare.within_ns), (6, Some(60_000_000_000)));
    assert_eq!((slicing.warm_up_ns, slicing.pairs_most), (1_000_000_000, 2));
}

/// Reads a quick study of so many variants in slices.
fn quick_of(variants: usize, quick: &str) -> Study {
    let values: Vec<String> = (1..=variants).map(|n| n.to_string()).collect();
    let text = format!(
        "scenario: [ get: / ]\nload: {{ {LOAD} }}\nsystems:\n  a: {{ start: \"a {{port}} {{n}}\", vary: {{ n: [{}] }} }}\n\
         compare: {{ by: throughput }}\nquick: {quick}\n",
        values.join(", ")
    );
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR"));
    let study = Study::from_bytes(text.as_bytes(), "plan.yaml", "plan".to_owned(), folder, true);
    study.unwrap_or_else(|faults| panic!("{faults}"))
}

#[test]
fn quick_study_of_many_in_slices_has_time_for_its_only_look() {
    // A block takes 1 s for the start, 1 s of warm-up, and 2.25 s; a start alone takes 3 s.
    for (variants, blocks) in [(3u32, 7u32), (5, 9), (8, 11)] {
        let study = quick_of(variants as usize, "{ for: 8s }");
        assert!(study.slicing().is_some() && study.compare.blocks == blocks, "{variants}");
        let each_ms = study.compare.within_ns.expect("a limit") / 1_000_000 / u64::from(variants);
        assert_eq!(each_ms, u64::from(blocks * 4_250 + 4 * 3_000), "{variants}");
    }
}

#[test]
fn quick_study_keeps_the_blocks_that_it_asks_for() {
    let few = quick_of(4, "{ for: 8s, blocks: 7 }");
    assert_eq!((few.compare.blocks, few.slicing()), (7, None), "six pairs need 8");
    assert_eq!(quick_of(4, "{ for: 8s, blocks: 9 }").compare.blocks, 8, "the fewest that can decide");
}

#[test]
fn quick_comparison_uses_slices_unless_plan_sets_interleave() {
    let is_in_slices = |compare: &str, is_quick: bool| {
        let study = duel(compare, is_quick);
        assert_eq!(study.compare.within_ns.is_some(), is_quick && study.slicing().is_some());
        study.slicing().is_some()
    };
    assert!(is_in_slices("{ by: throughput }", true));
    assert!(!is_in_slices("{ interleave: runs }", true));
    // Metrics that cannot be compared in slices.
    assert!(!is_in_slices("{ by: rss }", true));
    assert!(!is_in_slices("{ blocks: 2 }", true));
}

#[test]
fn warns_of_too_few_blocks_for_a_verdict() {
    for (systems, compare, least) in [
        (&["a", "b"][..], "{ blocks: 4 }", Some(6)),
        (&["a", "b"], "{ blocks: 6, also: [ p99 ] }", Some(7)),
        (&["a", "b", "c", "d"], "{ blocks: 6, baseline: a }", Some(7)),
        (&["a", "b", "c", "d"], "{ blocks: 5 }", Some(6)),
        (&["a", "b"], "{ blocks: 6 }", None),
        (&["a", "b"], "{ blocks: 7, also: [ p99 ] }", None),
        (&["a", "b", "c", "d"], "{ blocks: 8, baseline: a }", None),
        (&["a", "b", "c", "d"], "{ blocks: 6 }", None),
        (&["a", "b"], "{ blocks: 1 }", None),
        (&["a"], "{ blocks: 4 }", None),
    ] {
        let warnings = study(systems, compare, false).warnings;
        match least {
            Some(least) => {
                let [warning] = warnings.as_slice() else { panic!("{compare}: {warnings:?}") };
                assert!(warning.contains("cannot give a verdict"), "{warning}");
                assert!(warning.contains(&format!("write `blocks: {least}` or more")), "{warning}");
            }
            None => assert_eq!(warnings, Vec::<String>::new(), "{systems:?} {compare}"),
        }
    }
}
