//! Differences between the work of compared systems, as text and as JSON.

use judge::alike::{Trait, Typical, VariantDifferences, WorkDifference};
use record::ErrorClass;
use serde_json::{Value, json};

use crate::figures::{ErrorLine, Figures};
use crate::study::LoadView;
use crate::text::{listed, shortened};
use crate::units::{count, decimal, percent_up_to, volume};

/// Maximum number of steps in a sentence about two systems.
const STEPS_MAX: usize = 2;
/// Maximum number of systems that a result names together.
const NAMES_IN_RESULT_MAX: usize = 1;
/// Maximum number of statuses in a line.
const STATUSES_MAX: usize = 6;
/// Maximum number of statuses or codings of a system in one sentence.
const SHARES_MAX: usize = 3;
/// Share above which a sentence omits other statuses or codings.
const WHOLE_SHARE: f64 = 0.9995;
/// Maximum number of characters of a step's name in a sentence.
const STEP_CHARACTERS_MAX: usize = 40;

/// First difference between variants under a load, for a result: `not alike: a answers 301 without a body, b 200 with 135 kB`. `None` if
/// they are alike. Variants with equal differences are named together. `name` returns the escaped name of a row, `text` an escaped text.
pub(crate) fn of_load(
    load: &LoadView<'_>,
    name: &dyn Fn(usize) -> String,
    text: &dyn Fn(&str) -> String,
) -> Option<String> {
    let mut groups = groups(load, name, text, NAMES_IN_RESULT_MAX);
    let more = groups.len().saturating_sub(1);
    groups.truncate(1);
    let more = if more > 0 { format!("; and {more} more") } else { String::new() };
    groups.pop().map(|words| format!("not alike: {words}{more}"))
}

/// All differences between variants under a load, one line each.
pub(crate) fn difference_lines(
    load: &LoadView<'_>,
    name: &dyn Fn(usize) -> String,
    text: &dyn Fn(&str) -> String,
) -> Vec<String> {
    groups(load, name, text, usize::MAX).into_iter().map(|words| format!("Not alike: {words}.")).collect()
}

/// Differences between the reference and other variants, with variants that differ alike in one sentence.
fn groups(
    load: &LoadView<'_>,
    name: &dyn Fn(usize) -> String,
    text: &dyn Fn(&str) -> String,
    names_max: usize,
) -> Vec<String> {
    let Some(reference) = load.unlike.first().map(|pair| pair.rows.0) else { return Vec::new() };
    let mut groups: Vec<([String; 3], Vec<String>)> = Vec::new();
    for VariantDifferences { rows, differences } in &load.unlike {
        for words in by_step(differences, load.rows[reference].steps.len() > 1, text) {
            match groups.iter_mut().find(|(known, _)| *known == words) {
                Some((_, names)) => names.push(name(rows.1)),
                None => groups.push((words, vec![name(rows.1)])),
            }
        }
    }
    let words = |([at, first, second], names): ([String; 3], Vec<String>)| {
        format!("{at}{} answers {first}, {} {second}", name(reference), listed(names, names_max, ", "))
    };
    groups.into_iter().map(words).collect()
}

/// Differences between two systems, by step: `a answers 301 without a body, b 200 with 135 kB`.
pub(crate) fn of_pair(
    differences: &[WorkDifference],
    names: &[&str; 2],
    has_steps: bool,
    text: &dyn Fn(&str) -> String,
) -> String {
    let words = by_step(differences, has_steps, text).into_iter();
    let words =
        words.map(|[at, first, second]| format!("{at}{} answers {first}, {} {second}", names[0], names[1]));
    listed(words, STEPS_MAX, "; ")
}

/// Name of each step with a colon, if there are several, and the traits of both systems in it.
fn by_step(
    differences: &[WorkDifference],
    has_steps: bool,
    text: &dyn Fn(&str) -> String,
) -> Vec<[String; 3]> {
    let of_step = |of_step: &[WorkDifference]| {
        let [first, second] = [0, 1].map(|side| phrases(of_step, side));
        let step = of_step.first().map_or("", |unlike| unlike.step.as_str());
        let at = match has_steps && !step.is_empty() {
            true => format!("{}: ", text(&shortened(step, STEP_CHARACTERS_MAX))),
            false => String::new(),
        };
        [at, first, second]
    };
    differences.chunk_by(|one, next| one.step == next.step).map(of_step).collect()
}

/// Statuses of the replies with their numbers: `200: 9,988   301: 12`. `None` if all are 2xx, or if there are none.
pub(crate) fn statuses(figures: &Figures) -> Option<String> {
    let statuses = &figures.statuses;
    let each = statuses.iter().map(|(status, replies)| format!("{status}: {}", count(*replies)));
    let are_2xx = statuses.keys().all(|status| (200..300).contains(status));
    (!are_2xx).then(|| listed(each, STATUSES_MAX, "   "))
}

/// Like [`statuses`], but `None` unless some non-2xx replies count as ok. All others are listed as errors.
pub(crate) fn accepted_statuses(figures: &Figures) -> Option<String> {
    let is_status = |error: &&ErrorLine| error.class.known() == Some(ErrorClass::Status);
    let rejected: u64 = figures.errors.iter().filter(is_status).map(|error| error.count).sum();
    let others = figures.statuses.iter().filter(|(status, _)| !(200..300).contains(*status));
    let others = others.fold(0u64, |sum, (_, count)| sum.saturating_add(*count));
    statuses(figures).filter(|_| others > rejected)
}

fn phrases(differences: &[WorkDifference], side: usize) -> String {
    let phrases = differences.iter().map(|unlike| phrase(&unlike.traits[side]));
    phrases.collect::<Vec<_>>().join(" ")
}

fn phrase(of: &Trait) -> String {
    match of {
        Trait::Statuses(shares) => share_list(shares, |status| status.to_string()),
        Trait::Size(size) if size.is_none() => "without a body".to_owned(),
        Trait::Size(size) => format!("with {}", typical_words(size, &volume)),
        Trait::Decoded(size) => format!("({} decoded)", typical_words(size, &volume)),
        Trait::Rows(rows) if rows.is_none() => "without a row".to_owned(),
        Trait::Rows(rows) => format!("with {} rows", typical_words(rows, &|rows| decimal(rows, 1))),
        Trait::Codings(shares) if shares.is_empty() => "without compression".to_owned(),
        Trait::Codings(shares) => format!("as {}", share_list(shares, String::clone)),
        Trait::Cached(0.0) => "never from a cache".to_owned(),
        Trait::Cached(share) => format!("from a cache in {}", percent_up_to(*share, 1)),
    }
}

/// Keys with their shares, most frequent first. A single key has none.
fn share_list<K>(shares: &[(K, f64)], name: impl Fn(&K) -> String) -> String {
    match shares {
        [(key, share), ..] if *share > WHOLE_SHARE => name(key),
        _ => {
            let each =
                shares.iter().map(|(key, share)| format!("{} ({})", name(key), percent_up_to(*share, 1)));
            listed(each, SHARES_MAX, ", ")
        }
    }
}

/// Median, and the mean if it differs much.
fn typical_words(of: &Typical, write: &dyn Fn(f64) -> String) -> String {
    let is_even = (of.mean - of.median).abs() <= of.median * 0.1;
    let mean = if is_even { String::new() } else { format!(" (mean {})", write(of.mean)) };
    format!("{}{mean}", write(of.median))
}

/// JSON object of a difference, without the names of the systems.
pub(crate) fn object(unlike: &WorkDifference) -> Value {
    let of = |side: usize| value(&unlike.traits[side]);
    json!({ "kind": unlike.kind.code, "step": unlike.step, "of_a": of(0), "of_b": of(1) })
}

fn value(of: &Trait) -> Value {
    let object = |pairs: Vec<(String, f64)>| pairs.into_iter().map(|(key, share)| (key, share.into()));
    match of {
        Trait::Statuses(shares) => {
            let pairs = shares.iter().map(|(status, share)| (status.to_string(), *share));
            json!({ "shares": Value::Object(object(pairs.collect()).collect()) })
        }
        Trait::Codings(shares) => json!({ "shares": Value::Object(object(shares.clone()).collect()) }),
        Trait::Size(size) | Trait::Decoded(size) => {
            json!({ "median_bytes": size.median, "mean_bytes": size.mean })
        }
        Trait::Rows(rows) => json!({ "median_rows": rows.median, "mean_rows": rows.mean }),
        Trait::Cached(share) => json!({ "share": share }),
    }
}

#[cfg(test)]
mod tests {
    use judge::alike::Kind;

    use super::*;

    fn unlike(code: &str, traits: [Trait; 2]) -> WorkDifference {
        let kind = Kind::named(code).unwrap_or_else(|| panic!("{code} is a kind"));
        WorkDifference { kind, step: "GET /".to_owned(), traits }
    }

    fn size(median: f64) -> Trait {
        Trait::Size(Typical { median, mean: median })
    }

    fn words(differences: &[WorkDifference]) -> String {
        of_pair(differences, &["a", "b"], false, &str::to_owned)
    }

    #[test]
    fn names_status_and_size_of_both_systems() {
        let status = Trait::Statuses(vec![(301, 1.0)]);
        let other = Trait::Statuses(vec![(200, 0.75), (404, 0.25)]);
        let differences = [unlike("status", [status, other]), unlike("size", [size(0.0), size(135_000.0)])];
        assert_eq!(words(&differences), "a answers 301 without a body, b 200 (75 %), 404 (25 %) with 135 kB");
    }

    #[test]
    fn names_coding_cache_and_rows() {
        let coding = [Trait::Codings(vec![("gzip".to_owned(), 1.0)]), Trait::Codings(Vec::new())];
        assert_eq!(words(&[unlike("coding", coding)]), "a answers as gzip, b without compression");
        let cached = [Trait::Cached(0.0), Trait::Cached(0.985)];
        assert_eq!(
            words(&[unlike("cache", cached)]),
            "a answers never from a cache, b from a cache in 98.5 %"
        );
        let rows = [0.0, 3.0].map(|rows| Trait::Rows(Typical { median: rows, mean: rows }));
        assert_eq!(words(&[unlike("rows", rows)]), "a answers without a row, b with 3.0 rows");
    }

    #[test]
    fn steps_are_named_if_there_are_several() {
        let differences = [unlike("size", [size(2.0), size(1_500.0)])];
        let words = of_pair(&differences, &["a", "b"], true, &str::to_owned);
        assert_eq!(words, "GET /: a answers with 2 B, b with 1.50 kB");
    }
}
