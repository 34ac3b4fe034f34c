//! Compares the documents of pages with golden files, which are also the input of the page's own tests.
//!
//! `UPDATE=1 cargo test -p report` rewrites them.

use crate::pages;
use crate::runs;
use crate::studies;
use std::fs;
use std::path::PathBuf;
use std::sync::LazyLock;

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use serde_json::Value;

/// Cases and their pages.
static CASES: LazyLock<Vec<(&'static str, String)>> = LazyLock::new(|| {
    let study = |stored: studies::Stored| pages::of_study(&stored);
    vec![
        ("normal", pages::of_runs(&[runs::normal()])),
        ("errors", pages::of_runs(&[runs::every_kind_of_error()])),
        ("empty", pages::of_runs(&[runs::empty()])),
        ("partial", pages::of_runs(&[runs::cut_short()])),
        ("late", pages::of_runs(&[runs::late()])),
        ("transactions", pages::of_runs(&[runs::sql::transactions()])),
        ("three", pages::of_runs(&[runs::every_kind_of_error(), runs::late(), runs::stalled()])),
        ("study-complete", study(studies::complete())),
        ("study-missing", study(studies::missing())),
        ("study-one-block", study(studies::one_block())),
        ("study-two-loads", study(studies::two_loads())),
        ("study-sql", study(studies::sql())),
        ("study-invalid", study(studies::all_invalid())),
        ("study-not-begun", study(studies::not_begun())),
        ("study-capacity", study(studies::searched::capacity())),
        ("study-events", study(studies::with_events())),
    ]
});

fn cases() -> impl Iterator<Item = (&'static str, &'static str)> {
    CASES.iter().map(|(case, page)| (*case, page.as_str()))
}

#[test]
fn documents_match_golden_files() {
    let mut different = Vec::new();
    for (case, page) in cases() {
        let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/golden");
        let path = folder.join(format!("{case}.page.json"));
        let text = pages::pretty(&pages::document(page));
        if std::env::var_os("UPDATE").is_some() {
            fs::write(&path, &text).unwrap();
        }
        if fs::read_to_string(&path).unwrap_or_default() != text {
            different.push(path.display().to_string());
        }
    }
    assert!(different.is_empty(), "not as agreed: {}", different.join(", "));
}

#[test]
fn policy_allows_only_own_script_and_style() {
    let page = pages::of_runs(&[runs::normal()]);
    let policy = pages::between(&page, "http-equiv=\"Content-Security-Policy\" content=\"", "\">");
    let hash = |text: &str| {
        let digest = ring::digest::digest(&ring::digest::SHA256, text.as_bytes());
        format!("'sha256-{}'", BASE64_STANDARD.encode(digest))
    };
    let script = page.rsplit_once("<script>").unwrap().1.split_once("</script>").unwrap().0;
    let style = pages::between(&page, "<style>", "</style>");
    let expected = format!(
        "default-src 'none'; script-src {}; style-src {}; base-uri 'none'; form-action 'none'; \
         require-trusted-types-for 'script'; trusted-types 'none'",
        hash(script),
        hash(style)
    );
    assert_eq!(policy, expected);
    assert!(script.len() > 100 && style.len() > 100, "the page has been built");
}

#[test]
fn indexes_are_in_range() {
    for (case, page) in cases() {
        let document = pages::document(page);
        let places = |value: &Value| value.as_u64().unwrap() as usize;
        let (loads, runs) = (document["loads"].as_array().unwrap(), document["runs"].as_array().unwrap());
        for load in loads {
            let rows = load["rows"].as_array().unwrap();
            let of_rows = rows.iter().flat_map(|row| row["runs"].as_array().unwrap());
            assert!(of_rows.map(places).all(|run| run < runs.len()), "{case}");
            for (list, key) in
                [("bottlenecks", "row"), ("errors", "row"), ("pairs", "first"), ("pairs", "second")]
            {
                let all = load[list].as_array().unwrap();
                assert!(all.iter().all(|one| places(&one[key]) < rows.len()), "{case}: {list}");
            }
            for table in [&load["table"], &load["steps"], &load["statements"]]
                .into_iter()
                .filter(|table| !table.is_null())
            {
                let columns = table["heads"].as_array().unwrap().len();
                for row in table["rows"].as_array().unwrap() {
                    assert_eq!(row["cells"].as_array().unwrap().len(), columns, "{case}");
                }
            }
        }
        for (place, run) in runs.iter().enumerate() {
            let row = &loads[places(&run["load"])]["rows"][places(&run["row"])];
            assert!(row["runs"].as_array().unwrap().contains(&Value::from(place)), "{case}");
        }
    }
}

#[test]
fn tracks_have_charts_and_a_figure_per_bin() {
    for (case, page) in cases() {
        let document = pages::document(page);
        let charts = document["charts"].as_array().unwrap();
        let keys: Vec<&str> = charts
            .iter()
            .flat_map(|chart| chart["tracks"].as_array().unwrap())
            .map(|track| track["key"].as_str().unwrap())
            .collect();
        for run in document["runs"].as_array().unwrap().iter().filter(|run| !run["series"].is_null()) {
            for (key, points) in run["series"]["tracks"].as_object().unwrap() {
                assert!(keys.contains(&key.as_str()), "{case}: {key}");
                // A column takes a header of fourteen bits, and at least one bit for each bin.
                let letters = points.as_str().unwrap().len() as u64;
                let bins = run["series"]["bins"].as_u64().unwrap();
                assert!(letters * 6 >= bins + 14, "{case}: {key}");
            }
        }
        let is_empty = matches!(case, "study-not-begun" | "study-capacity" | "empty");
        assert_eq!(charts.is_empty(), is_empty, "{case}");
    }
}
