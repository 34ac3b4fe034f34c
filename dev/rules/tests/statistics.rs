//! Statistics are computed in `stats` and interpreted in `judge`. Reports only format the results.

use rules::{files, tokens};

/// File that lists the result types of `stats` that reports may read.
const RESULTS: &str = "crates/judge/src/results.rs";

/// Returns the names of the result types, read from the list in `judge`.
fn results() -> Vec<String> {
    let code = tokens::of(&files::read(RESULTS));
    let is_type = |text: &str| text.chars().any(|character| character.is_ascii_lowercase());
    let names = code.into_iter().map(|token| token.text);
    names.filter(|text| text.starts_with(|first: char| first.is_ascii_uppercase()) && is_type(text)).collect()
}

/// Returns the calls of functions of `stats` and of methods of its types, each with its line.
fn calls(code: &[tokens::Token], results: &[String]) -> Vec<(usize, String)> {
    let is_function = |text: &str| text.starts_with(|first: char| first.is_ascii_lowercase());
    let path = |window: &[tokens::Token]| {
        let [owner, colon, other, name] = window else { return None };
        let is_path = colon.text == ":" && other.text == ":";
        let is_call = results.contains(&owner.text) && is_function(&name.text);
        (is_path && (owner.text == "stats" || is_call))
            .then(|| (name.line, format!("{}::{}", owner.text, name.text)))
    };
    code.windows(4).filter_map(path).collect()
}

#[test]
fn reports_call_no_function_of_statistics() {
    let results = results();
    assert!(results.len() > 10 && results.contains(&"Spread".to_owned()), "{results:?}");
    for file in files::rust().iter().filter(|file| file.is_product() && file.package() == Some("report")) {
        let calls = calls(&tokens::without_tests(&file.text), &results);
        assert!(
            calls.is_empty(),
            "{} computes: {calls:?}. Compute in a module of judge that is named for the idea, and pass the result",
            file.path
        );
    }
}

#[test]
fn finds_every_way_to_call_statistics() {
    let results = ["Spread".to_owned(), "Scale".to_owned()];
    let found = |code: &str| calls(&tokens::without_tests(code), &results).len();
    for code in [
        "use stats::median;",
        "fn f() { judge::results::Spread::over([1.0]); }",
        "fn f() { let of = Spread::with_endless; }",
        "fn f(p: &[f64]) { stats::holm(p, 0.05); }",
    ] {
        assert_eq!(found(code), 1, "{code}");
    }
    for code in [
        "use judge::results::{Scale, Spread};",
        "fn f(of: Spread) -> f64 { of.median }",
        "const S: Scale = Scale::Ratio;",
        "#[cfg(test)]\nmod tests { use stats::median; }",
    ] {
        assert_eq!(found(code), 0, "{code}");
    }
}

#[test]
fn result_types_have_no_functions() {
    let is_path = |text: &str| ["pub", "use", "stats", "usl", "doc"].contains(&text);
    let is_function =
        |text: &str| text.starts_with(|first: char| first.is_ascii_lowercase()) && !is_path(text);
    let names = tokens::of(&files::read(RESULTS)).into_iter().map(|token| token.text);
    let functions: Vec<String> = names.filter(|text| is_function(text)).collect();
    assert!(functions.is_empty(), "{RESULTS} lists results of statistics, not functions: {functions:?}");
}

#[test]
fn page_defines_no_statistics() {
    let is_page =
        |path: &str| path.starts_with("ui/src/") && path.ends_with(".ts") && !path.ends_with(".test.ts");
    let page: Vec<_> = files::all().into_iter().filter(|file| is_page(&file.path)).collect();
    assert!(page.len() > 50, "{}", page.len());
    for file in page {
        for name in ["median", "mean", "average", "percentile", "quantile"] {
            assert!(
                !file.text.contains(&format!("function {name}(")),
                "{} computes a {name}. Compute it in judge, and write it into the report",
                file.path
            );
        }
    }
}
