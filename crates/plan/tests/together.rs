//! Decides whether both systems of a block in slices fit on one machine.

use std::path::PathBuf;

use plan::{NoSlices, Place, Study};

const GIB: u64 = 1 << 30;
const LOAD: &str = "users: 3, warm-up: 2s, for: 10s";

fn study(scenario: &str, systems: &str, compare: &str, is_quick: bool) -> Study {
    let text = format!(
        "scenario: [ {scenario} ]\nload: {{ {LOAD} }}\nsystems:\n{systems}compare: {{ {compare} }}\n"
    );
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR"));
    Study::from_bytes(text.as_bytes(), "plan.yaml", "plan".to_owned(), folder, is_quick)
        .unwrap_or_else(|faults| panic!("{faults}\n{text}"))
}

/// A study of two systems, each with these lines.
fn two(a: &str, b: &str) -> String {
    format!("  a: {{ start: \"a {{port}}\"{a} }}\n  b: {{ start: \"b {{port}}\"{b} }}\n")
}

fn place(memory_gib: u64, available_gib: u64) -> Place {
    let [memory_bytes, available_bytes] = [memory_gib, available_gib].map(|gib| Some(gib * GIB));
    Place { memory_bytes, available_bytes, is_one_disk: true }
}

fn because(no: Option<NoSlices>) -> String {
    no.map_or(String::new(), |no| {
        assert!(!no.help.is_empty());
        no.because
    })
}

#[test]
fn systems_too_large_for_memory_make_whole_runs() {
    let limited = two(", resources: { memory: 3GiB }", ", resources: { memory: 2GiB }");
    let auto = || study("get: /", &limited, "interleave: auto", false);
    assert_eq!(auto().no_slices_at(&place(8, 5)), None);
    assert_eq!(auto().no_slices_at(&Place::default()), None, "nothing is known of the machine");
    assert_eq!(
        because(auto().no_slices_at(&place(8, 4))),
        "both systems do not fit into memory together: a may take 3.0 GiB (its limit of memory) and b may take 2.0 GiB (its limit of \
         memory), and 4.0 GiB are available"
    );
    let mut settled = auto();
    settled.resolve_interleave_at(&place(8, 4));
    assert!(settled.slicing().is_none());
    assert!(settled.explain().contains("in whole runs, not in slices: both systems do not fit into memory"));
    let mut kept = auto();
    kept.resolve_interleave_at(&place(8, 5));
    assert!(kept.slicing().is_some());
}

#[test]
fn explicit_slices_check_total_memory_and_no_disk() {
    let limited = two(", resources: { memory: 3GiB }", ", resources: { memory: 2GiB }");
    let asked = study("get: /", &limited, "interleave: slices", false);
    assert_eq!(asked.no_slices_at(&place(8, 4)), None, "what others use may be given back");
    let words = because(asked.no_slices_at(&place(4, 4)));
    assert!(words.ends_with("and 4.0 GiB is all that there is"), "{words}");
    let mut settled = asked;
    settled.resolve_interleave_at(&place(4, 4));
    assert!(settled.slicing().is_some(), "it is an error, and not changed");
    let writing = study("sql: UPDATE t SET a = 1", &two(POSTGRES, POSTGRES), "interleave: slices", false);
    assert_eq!(writing.no_slices_at(&place(8, 8)), None);
    let runs = study("get: /", &limited, "interleave: runs", false);
    assert_eq!(runs.no_slices_at(&place(1, 1)), None, "nobody asks for slices");
}

#[test]
fn reads_memory_from_limits_and_settings() {
    let sum = |a: &str, b: &str| {
        let systems = format!("  a: {{ start: \"a {{port}} {a}\" }}\n  b: {{ start: \"b {{port}} {b}\" }}\n");
        because(study("get: /", &systems, "interleave: auto", false).no_slices_at(&place(2, 1)))
    };
    assert!(sum("-c shared_buffers=900MB", "--innodb-buffer-pool-size=200M").contains(
        "a may take 900.0 MiB (shared_buffers) and b may take 200.0 MiB (innodb_buffer_pool_size)"
    ));
    assert!(
        sum("java -Xmx1500m -jar a.jar", "").contains("a may take 1.5 GiB (-Xmx)"),
        "one alone is too large"
    );
    assert_eq!(sum("-c shared_buffers=500MB", "-c shared_buffers=500MB"), "");
    assert_eq!(sum("", ""), "");
}

const POSTGRES: &str = ", url: \"postgres://u@127.0.0.1:{port}/d\"";

#[test]
fn variants_with_one_data_folder_make_whole_runs() {
    let because = |flag: &str| {
        let systems =
            format!("  a: {{ start: \"a -p {{port}} {flag}\" }}\n  b: {{ start: \"b {{port}} {flag}\" }}\n");
        because(study("get: /", &systems, "interleave: auto", false).no_slices_at(&Place::default()))
    };
    assert_eq!(because("-D /data/pg"), "variants keep their data in /data/pg, and only one can be up");
    assert!(because("--datadir=/data/my").contains("in /data/my, "));
    for own in ["-D {dir}/pg", "--datadir={dir}/my", "-Dname=value", "--config /etc/web.conf"] {
        assert_eq!(because(own), "", "{own}");
    }
}

#[test]
fn variants_that_write_to_one_store_make_whole_runs() {
    let because = |scenario: &str, systems: &str| {
        because(study(scenario, systems, "interleave: auto", false).no_slices_at(&Place::default()))
    };
    let running = |a: &str, b: &str| format!("  a: {{ url: \"{a}\" }}\n  b: {{ url: \"{b}\" }}\n");
    let [shop, as_other] =
        ["postgres://u@127.0.0.1:5432/d", "postgres://v@127.0.0.1:5432/d?options=-cjit%3Doff"];
    assert_eq!(
        because("sql: UPDATE t SET a = 1", &running(shop, as_other)),
        "variants write to one store, 127.0.0.1:5432/d, where each finds what the other left"
    );
    assert_eq!(because("sql: SELECT a FROM t", &running(shop, as_other)), "", "they only read");
    let other = "postgres://u@127.0.0.1:5432/e";
    assert_eq!(because("sql: UPDATE t SET a = 1", &running(shop, other)), "", "two databases");
    let behind = two(", database: \"postgres://u@127.0.0.1/d\"", ", database: \"postgres://u@127.0.0.1/d\"");
    assert!(because("post: /orders", &behind).contains("write to one store, 127.0.0.1/d"));
    assert_eq!(
        because("sql: UPDATE t SET a = 1", &two(POSTGRES, POSTGRES)),
        "",
        "each is started on its own port"
    );
}

#[test]
fn databases_of_a_search_that_write_to_one_disk_make_whole_runs() {
    let of = |scenario: &str, systems: &str| {
        let duel = study(scenario, systems, "interleave: auto", false);
        assert_eq!(duel.no_slices_at(&place(8, 8)), None, "an A/B comparison tests for effects on the other");
        let study = study(scenario, systems, "find: best, interleave: auto", false);
        let elsewhere = Place { is_one_disk: false, ..place(8, 8) };
        assert_eq!(study.no_slices_at(&elsewhere), None, "in memory, there is no disk");
        assert_eq!(
            because(study.no_slices_at(&Place { is_one_disk: true, ..Place::default() })),
            because(study.no_slices_at(&place(8, 8)))
        );
        because(study.no_slices_at(&place(8, 8)))
    };
    let both = two(POSTGRES, POSTGRES);
    assert_eq!(
        of("sql: UPDATE t SET a = 1", &both),
        "both systems write to one disk (the load has \"UPDATE t SET a = 1\"), and what one leaves to write slows down the other"
    );
    assert_eq!(of("sql: SELECT a FROM t", &both), "");
    let filled = format!("{POSTGRES}, prepare: {{ workload: tpcb-like }}");
    assert!(of("sql: SELECT a FROM t", &two(&filled, &filled)).contains("(its tables are made)"));
    let one_runs = format!(
        "  a: {{ start: \"a {{port}}\"{POSTGRES} }}\n  b: {{ url: \"postgres://u@127.0.0.1:5432/d\" }}\n"
    );
    assert_eq!(
        of("sql: UPDATE t SET a = 1", &one_runs),
        "",
        "nobody knows where one that runs already writes"
    );
    let [behind, other] = ["d", "e"].map(|name| format!(", database: \"postgres://u@127.0.0.1/{name}\""));
    assert!(of("post: /orders", &two(&behind, &other)).contains("(the load has requests with POST)"));
    assert_eq!(of("get: /orders", &two(&behind, &other)), "");
    assert_eq!(of("post: /orders", &two("", "")), "", "no database is known");
}

#[test]
fn two_writing_databases_of_several_make_whole_runs() {
    let with = |third: &str| {
        let systems = format!("{}  c: {{ {third} }}\n", two(POSTGRES, POSTGRES));
        let study = study("sql: UPDATE t SET a = 1", &systems, "find: best, interleave: auto", false);
        because(study.no_slices_at(&place(8, 8)))
    };
    let words = with(&format!("start: \"c {{port}}\"{POSTGRES}"));
    assert!(words.starts_with("all 3 systems write to one disk ("), "{words}");
    let words = with("url: \"postgres://u@127.0.0.1:5432/d\"");
    assert!(
        words.starts_with("2 of 3 systems write to one disk (") && words.ends_with("slows down the others"),
        "{words}"
    );
}

#[test]
fn quick_study_without_slices_has_usual_length() {
    let limited = two(", resources: { memory: 3GiB }", ", resources: { memory: 2GiB }");
    let quick = |compare: &str| study("get: /", &limited, compare, true);
    let whole = quick("interleave: runs");
    let mut settled = quick("interleave: auto");
    assert_eq!(settled.compare.within_ns, Some(60_000_000_000));
    settled.resolve_interleave_at(&place(4, 4));
    assert_eq!(
        (settled.compare.blocks, settled.compare.within_ns),
        (whole.compare.blocks, whole.compare.within_ns)
    );
}
