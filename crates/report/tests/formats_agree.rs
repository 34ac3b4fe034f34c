//! Terminal, Markdown, JSON, and page report equal results of a study, and none reports more than its blocks show.

use std::sync::LazyLock;

use crate::pages;
use crate::runs;
use crate::studies::{self, Stored};
use evidence::{Outage, Starvation};
use report::Options;
use serde_json::Value;

/// A study in every format. Texts have no line breaks and escapes.
struct Formats {
    case: &'static str,
    terminal: String,
    markdown: String,
    json: Value,
    page: Value,
}

fn written(stored: &Stored, format: &str) -> String {
    let mut out = Vec::new();
    let format = report::format(format).unwrap();
    report::write_study(format, &stored.study, &|run| stored.load(run), &pages::OPTIONS, &mut out).unwrap();
    String::from_utf8(out).unwrap()
}

fn on_one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

impl Formats {
    fn of((case, stored): &(&'static str, Stored)) -> Self {
        Self {
            case,
            terminal: on_one_line(&written(stored, "terminal")),
            markdown: on_one_line(
                &written(stored, "md").replace('\\', "").replace("&lt;", "<").replace("&gt;", ">"),
            ),
            json: serde_json::from_str(&written(stored, "json")).unwrap(),
            page: pages::document(&pages::of_study(stored)),
        }
    }

    /// All studies, written once for all tests.
    fn all() -> &'static [Self] {
        static ALL: LazyLock<Vec<Formats>> =
            LazyLock::new(|| studies::all().iter().map(Formats::of).collect());
        &ALL
    }

    /// Asserts that both text formats have a sentence.
    fn assert_contains(&self, sentence: &str) {
        let sentence = on_one_line(sentence);
        for (format, text) in [("terminal", &self.terminal), ("md", &self.markdown)] {
            assert!(text.contains(&sentence), "{} as {format} lacks: {sentence}", self.case);
        }
    }

    /// Loads of the page, each with its result and its pairs in JSON.
    fn loads(&self) -> Vec<(&Value, &Value, Vec<&Value>)> {
        let comparison = &self.json["comparison"];
        let answers = comparison["answers"].as_array().unwrap();
        let loads = self.page["loads"].as_array().unwrap();
        assert_eq!(answers.len(), loads.len(), "{}", self.case);
        let metric = &comparison["metric"];
        let pairs = comparison["pairs"].as_array().unwrap();
        let of = |answer: &Value| {
            let is_of = |pair: &&Value| pair["load"] == answer["load"] && pair["metric"] == *metric;
            pairs.iter().filter(is_of).collect()
        };
        loads.iter().zip(answers).map(|(load, answer)| (load, answer, of(answer))).collect()
    }
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_else(|| panic!("a text: {value}"))
}

/// Name in texts of a row in JSON.
fn name(of: &Value) -> String {
    [text(&of["system"]), text(&of["variant"])].join(" ").trim().to_owned()
}

fn list(value: &Value) -> &Vec<Value> {
    value.as_array().unwrap_or_else(|| panic!("a list: {value}"))
}

/// Removes the interval after each ratio, such as ` (1.08–1.15)`, and after each difference, such as ` (−410 ms to −380 ms)`.
fn without_intervals(text: &str) -> String {
    let is_difference = |part: &str| part.starts_with(['+', '−', '0']) && part.contains(" to ");
    let parts = text.split(" (").enumerate().map(|(number, part)| match part.split_once(')') {
        Some((interval, rest)) if number > 0 && is_difference(interval) => rest.to_owned(),
        _ if number > 0 => format!(" ({part}"),
        _ => part.to_owned(),
    });
    without_ratios(&parts.collect::<String>())
}

fn without_ratios(text: &str) -> String {
    let parts = text.split(" × (").enumerate().map(|(number, part)| match part.split_once(')') {
        Some((interval, rest)) if number > 0 && interval.contains('–') => format!(" ×{rest}"),
        _ if number > 0 => format!(" × ({part}"),
        _ => part.to_owned(),
    });
    parts.collect()
}

#[test]
fn all_formats_have_the_same_result() {
    for formats in Formats::all() {
        for (load, answer, _) in formats.loads() {
            for part in ["text", "how_sure", "besides"] {
                formats.assert_contains(text(&answer[part]));
            }
            let (of_page, said) = (&load["answer"], text(&answer["text"]));
            // Sentences of the page are capitalized, and have their intervals in the line below.
            let shorter = without_intervals(said);
            assert!(text(&of_page["text"]).contains(&shorter[1..]), "{}: {of_page}", formats.case);
            assert!(text(&of_page["text"]).contains(text(&answer["besides"])), "{}: {of_page}", formats.case);
            let (how_sure, of_answer) = (text(&of_page["how_sure"]), text(&answer["how_sure"]));
            assert!(how_sure.ends_with(of_answer), "{}: {of_page}", formats.case);
            let is_of_pair = shorter != said && load["pairs"].as_array().is_some_and(|all| all.len() == 1);
            let noun = text(&load["metric"]["scale"]);
            assert!(!is_of_pair || how_sure.starts_with(noun), "{}: {of_page}", formats.case);
            assert_eq!(of_page["certainty"], answer["certainty"], "{}", formats.case);
        }
        formats.assert_contains(text(&formats.page["validity"]["sentence"]));
    }
}

#[test]
fn winner_is_marked_once() {
    for formats in Formats::all() {
        for (load, answer, pairs) in formats.loads() {
            let marked = |rows: &Value| -> Vec<usize> {
                let rows = list(rows).iter().enumerate();
                rows.filter(|(_, row)| row["is_winner"] == true).map(|(place, _)| place).collect()
            };
            let (rows, table) = (marked(&load["rows"]), marked(&load["table"]["rows"]));
            assert_eq!(rows, table, "{}", formats.case);
            let winner = &answer["winner"];
            assert_eq!(rows.len(), usize::from(winner.is_object()), "{}", formats.case);
            if let [row] = rows[..] {
                let name = name(winner);
                assert_eq!(load["rows"][row]["name"], Value::from(name.as_str()), "{}", formats.case);
                assert!(
                    text(&answer["text"]).starts_with(&name) && answer["certainty"] == "sure",
                    "{answer}"
                );
                let is_of =
                    |pair: &&&Value| [&pair["a"], &pair["b"]].iter().any(|side| self::name(side) == name);
                let of_winner: Vec<_> = pairs.iter().filter(is_of).collect();
                let is_won = |pair: &&&Value| pair["verdict"] == "differs" && self::name(&pair["a"]) == name;
                assert!(
                    !of_winner.is_empty() && of_winner.iter().copied().all(|pair| is_won(&pair)),
                    "{pairs:?}"
                );
            }
        }
        let has_winner = formats.loads().iter().any(|(_, answer, _)| answer["winner"].is_object());
        for text in [&formats.terminal, &formats.markdown] {
            assert_eq!(text.contains('★'), has_winner, "{}: {text}", formats.case);
        }
    }
}

#[test]
fn all_formats_have_the_same_pairs_and_verdicts() {
    for formats in Formats::all() {
        for (load, _, pairs) in formats.loads() {
            let of_page = list(&load["pairs"]);
            assert_eq!(of_page.len(), pairs.len(), "{}", formats.case);
            for (drawn, pair) in of_page.iter().zip(pairs) {
                let sentence = text(&drawn["sentence"]);
                formats.assert_contains(sentence);
                for (key, side) in [("first", "a"), ("second", "b")] {
                    let row = &load["rows"][drawn[key].as_u64().unwrap() as usize];
                    // People see only the parameters that differ.
                    let whole = format!("{} {}", text(&row["system"]), text(&row["variant"]));
                    assert_eq!(whole.trim_end(), name(&pair[side]), "{}", formats.case);
                    assert!(sentence.contains(text(&row["name"])), "{sentence}");
                }
                let verdict = text(&drawn["verdict"]).trim_end_matches("_below");
                assert_eq!(pair["verdict"], verdict, "{}", formats.case);
                assert_eq!(drawn["blocks"], pair["blocks"], "{}", formats.case);
                for key in ["estimate", "low", "high", "confidence"] {
                    let of_json = if key == "estimate" { &pair[text(&pair["scale"])] } else { &pair[key] };
                    let [of_page, of_json] = [&drawn[key], of_json].map(Value::as_f64);
                    // Figures that are drawn have six digits, and durations are in milliseconds.
                    let is_equal = |(one, other): (f64, f64)| {
                        [1.0, 1e3].iter().any(|unit| (one * unit - other).abs() <= other.abs() * 1e-5)
                    };
                    assert_eq!(of_page.is_some(), of_json.is_some(), "{} {key}", formats.case);
                    assert!(of_page.zip(of_json).is_none_or(is_equal), "{} {key}", formats.case);
                }
                let is_endless = text(&drawn["sentence"]).contains('∞');
                let figures = list(&drawn["in_blocks"]).len();
                assert!(is_endless || pair["blocks"] == figures, "{}", formats.case);
                if let Some(estimate) = drawn["estimate_text"].as_str() {
                    assert!(sentence.contains(estimate), "{sentence}: {estimate}");
                }
                if let [Some(low), Some(high)] = [0, 1].map(|end| drawn["ends_text"][end].as_str()) {
                    let link = if pair["scale"] == "ratio" { "–" } else { " to " };
                    assert!(sentence.contains(&format!("({low}{link}{high})")), "{sentence}: {low} {high}");
                }
                if let Some(reason) = pair["reason"].as_str() {
                    assert!(sentence.contains(reason), "{sentence}: {reason}");
                }
            }
        }
    }
}

#[test]
fn pairs_without_common_blocks_have_no_verdict() {
    for formats in Formats::all() {
        for (load, answer, pairs) in formats.loads() {
            for (pair, drawn) in pairs.iter().zip(list(&load["pairs"])) {
                if pair["blocks"] == 0 {
                    let sentence = text(&drawn["sentence"]);
                    assert!(pair["ratio"].is_null() && !sentence.contains('×'), "{sentence}");
                    assert!(sentence.contains("no verdict"), "{sentence}");
                }
            }
            let has_look = pairs.iter().any(|pair| !pair["confidence"].is_null());
            if !has_look {
                let said = text(&answer["text"]);
                let claims = ["×", "leads", "within", "better", "worse", "ahead"];
                let claimed = claims.iter().find(|claim| said.contains(**claim));
                assert_eq!(claimed, None, "{}: {said}", formats.case);
                assert!(answer["winner"].is_null() && answer["certainty"] != "sure", "{answer}");
            }
        }
    }
}

#[test]
fn all_formats_have_the_same_figures_and_counts() {
    for formats in Formats::all() {
        let ranking = list(&formats.json["comparison"]["ranking"]);
        for (load, answer, _) in formats.loads() {
            for cell in list(&load["table"]["rows"]).iter().flat_map(|row| list(&row["cells"])) {
                formats.assert_contains(text(&cell["text"]));
            }
            for row in list(&load["rows"]) {
                let is_it = |ranked: &&Value| {
                    ranked["load"] == answer["load"] && row["name"] == name(ranked).as_str()
                };
                if let Some(ranked) = ranking.iter().find(is_it) {
                    // A system that did not recover has no figure.
                    if row["metric"].is_null() {
                        assert!(ranked["max"].is_null(), "{} {row}", formats.case);
                        continue;
                    }
                    assert_eq!(row["metric"]["n"], ranked["runs"], "{} {row}", formats.case);
                    let [of_page, of_json] = [&row["metric"]["median"], &ranked["median"]];
                    let [of_page, of_json] = [of_page, of_json].map(|figure| figure.as_f64().unwrap());
                    // Response times are in milliseconds on the page, and in microseconds in JSON.
                    let is_equal = [1.0, 1e3]
                        .iter()
                        .any(|unit| (of_page * unit - of_json).abs() <= of_json.abs() * 1e-3);
                    assert!(is_equal, "{}: {of_page} {of_json}", formats.case);
                }
            }
            for gate in list(&load["gates"]) {
                formats.assert_contains(text(&gate["text"]));
            }
        }
    }
}

#[test]
fn all_formats_have_eliminated_variants() {
    let formats = Formats::of(&("study-best", studies::searched::best()));
    let found = &formats.json["comparison"]["found"][0];
    assert_eq!((&found["end"], &found["confirmed"]), (&"unmeasured".into(), &Value::Null), "{found}");
    let left = list(&found["left"]);
    assert_eq!(left.len(), 2, "{found}");
    let caveats = formats.page["loads"][0]["caveats"].to_string();
    for left in left {
        let told = format!("{} (after {} blocks", name(left), left["after_blocks"]);
        formats.assert_contains(&told);
        assert!(caveats.contains(&told), "{caveats}");
    }
    let answer = &formats.json["comparison"]["answers"][0];
    assert!(text(&answer["text"]).starts_with("no verdict: nginx is the best so far"), "{answer}");
    assert!(
        text(&answer["besides"]).contains("haproxy (after 6 blocks: 4 invalid runs in a row, "),
        "{answer}"
    );
    assert_eq!(answer["certainty"], "none");
    // Every measured system is in the charts.
    let rows = list(&formats.page["loads"][0]["rows"]);
    assert!(rows.iter().all(|row| row["is_best"] == true), "{rows:?}");
}

#[test]
fn failed_gate_comes_first_with_figures() {
    let formats = Formats::of(&("study-complete", studies::complete()));
    let told = "Gate failed: errors<0.1%: puma workers=8 threads=16: 2.50 %, limit 0.10 % (25.0 ×), in 8 of 8 runs, \
                20,697 requests; puma workers=1 threads=500: no valid run.";
    formats.assert_contains(told);
    for text in [&formats.terminal, &formats.markdown] {
        assert!(text.find("Gate failed") < text.find("Result:"), "{text}");
    }
    let answer = text(&formats.page["loads"][0]["answer"]["text"]);
    assert!(answer.starts_with(told), "{answer}");
    for formats in Formats::all() {
        for (load, _, _) in formats.loads() {
            let is_bad = list(&load["gates"]).iter().any(|gate| gate["tone"] == "bad");
            let answer = text(&load["answer"]["text"]);
            let is_told = ["Gate failed: ", "Gate not judged: "].iter().any(|said| answer.starts_with(said));
            assert_eq!(is_bad, is_told, "{}", formats.case);
        }
    }
}

#[test]
fn gate_of_variant_without_valid_run_is_not_judged() {
    let formats = Formats::of(&("study-apart", studies::apart(0)));
    let told = "not judged for mysql: no valid run";
    formats.assert_contains(told);
    let load = &formats.page["loads"][0];
    let gate = list(&load["gates"]).iter().find(|gate| gate["text"] == told).expect("it is on the page");
    assert_eq!(gate["tone"], "bad");
    assert_eq!(formats.json["gates_unjudged"][0]["system"], "mysql");
}

#[test]
fn study_of_failures_reports_causes_and_unaffected_variants() {
    let formats = Formats::of(&("study-failures", studies::failures()));
    let answer = &formats.json["comparison"]["answers"][0];
    let said = text(&answer["text"]);
    for part in [
        "passenger queue=100: 12.4 % of the requests failed (status: HTTP 503 Service Unavailable)",
        "; without failures: passenger queue=0; ",
        "unicorn timeout=4: 1.73 % of the requests failed",
        "; no variant is without failures; nothing failed: nginx",
    ] {
        assert!(said.contains(part), "{said}: {part}");
    }
    assert_eq!((&answer["certainty"], &answer["winner"]), (&"plain".into(), &Value::Null));
    assert!(list(&formats.json["comparison"]["pairs"]).is_empty());
    assert!(!said.contains("leads") && !formats.terminal.contains("leads"), "{said}");
}

#[test]
fn running_studies_and_reports_have_the_same_bottlenecks() {
    let mut compared = 0;
    for (case, stored) in studies::all() {
        let json: Value = serde_json::from_str(&written(stored, "json")).unwrap();
        let words = |found: &Value, key: &str| found[key].as_str().unwrap().to_owned();
        let mut reported: Vec<[String; 5]> = json["bottlenecks"]
            .as_array()
            .unwrap()
            .iter()
            .map(|found| ["load", "system", "variant", "resource", "because"].map(|key| words(found, key)))
            .collect();
        let found = judge::bottleneck::bottlenecks(&stored.study).unwrap().into_iter();
        let mut found: Vec<[String; 5]> = found
            .map(|of| {
                let (resource, because) = (of.bottleneck.resource.code.to_owned(), of.bottleneck.because);
                [of.load, of.setting.system, of.setting.variant, resource, because]
            })
            .collect();
        reported.sort();
        found.sort();
        assert_eq!(found, reported, "{case}");
        compared += found.len();
    }
    assert!(compared > 20, "{compared}");
}

/// Error share by definition: requests that were rejected, failed, timed out, or never sent ÷ planned requests.
fn error_share(counts: &Value) -> f64 {
    let of = |key: &str| counts[key].as_u64().unwrap() as f64;
    (of("rejected") + of("failed") + of("timed_out") + of("not_sent")) / of("planned")
}

#[test]
fn error_share_is_equal_everywhere() {
    let is_near = |found: &Value, share: f64| (found.as_f64().unwrap() - share).abs() < 1e-5;
    for formats in Formats::all() {
        for load in list(&formats.page["loads"]) {
            for row in list(&load["rows"]).iter().filter(|row| row["figures"].is_object()) {
                let figures = &row["figures"];
                let share = error_share(&figures["counts"]);
                assert!(is_near(&figures["error_share"], share), "{}: {row}", formats.case);
            }
            for kind in list(&load["errors"]) {
                let figures = &load["rows"][kind["row"].as_u64().unwrap() as usize]["figures"];
                let planned = figures["counts"]["planned"].as_f64().unwrap();
                assert!(is_near(&kind["share"], kind["count"].as_f64().unwrap() / planned), "{kind}");
            }
        }
    }
    // Comparisons of two studies, too: unavailable time is no error, although it counts in the verdict.
    let (a, b) = (studies::gone(), studies::gone());
    let load = |run: &evidence::RunId| a.load(run).or_else(|_| b.load(run));
    let compared = report::Compared::of_studies(&a.study, &b.study, &load, &[]).unwrap();
    let mut out = Vec::new();
    compared.write(report::format("json").unwrap(), &pages::OPTIONS, &mut out).unwrap();
    let compared: Value = serde_json::from_slice(&out).unwrap();
    let page = pages::document(&pages::of_study(&a));
    let rows = list(&page["loads"][0]["rows"]);
    for row in list(&compared["rows"]) {
        let same = rows.iter().find(|same| same["system"] == row["system"]).unwrap();
        assert!(is_near(&row["a"]["error_share"], error_share(&same["figures"]["counts"])), "{row}");
    }
}

#[test]
fn all_formats_order_loads_as_in_the_plan() {
    // Studies of earlier versions do not have the order.
    for (kept, order) in [(&["100 users", "75/s"][..], ["100 users", "75/s"]), (&[], ["75/s", "100 users"])] {
        let mut stored = studies::two_loads();
        stored.study.new.loads = kept.iter().map(|name| (*name).to_owned()).collect();
        let formats = Formats::of(&("two loads", stored));
        for text in [&formats.terminal, &formats.markdown] {
            let [first, second] = order.map(|name| text.find(name).expect("it is reported"));
            assert!(first < second, "{order:?} in {text}");
        }
        let names = |list: &Value, key: &str| -> Vec<String> {
            let mut names: Vec<String> =
                self::list(list).iter().map(|of| text(&of[key]).to_owned()).collect();
            names.dedup();
            names
        };
        let comparison = &formats.json["comparison"];
        assert_eq!(names(&formats.page["loads"], "name"), order);
        assert_eq!(names(&comparison["answers"], "load"), order);
        assert_eq!(names(&comparison["ranking"], "load"), order);
        assert_eq!(names(&formats.json["bottlenecks"], "load"), order);
    }
}

#[test]
fn starved_users_are_named_and_the_run_is_not_called_unavailable() {
    let mut run = runs::normal();
    let starvation = Starvation { users: 1, of_users: 10, longest_s: 3.9, time_share: 0.0975 };
    let ending = run.ending.as_mut().expect("an ending");
    ending.outage = Some(Outage { starvation: Some(starvation), ..Outage::default() });
    let written = |format: &str| {
        let options = Options { color: false, width: 200, is_wide: true };
        let mut out = Vec::new();
        report::write(report::format(format).expect("a format"), &[run.clone()], &options, &mut out)
            .expect("writes");
        on_one_line(&String::from_utf8(out).expect("text"))
    };
    let words = "1 of 10 users waited up to 3.90 s for an answer while others were served";
    for format in ["terminal", "md"] {
        let text = written(format);
        assert!(text.contains(words) && !text.contains("unavailable"), "{format}: {text}");
    }
    let json: Value = serde_json::from_str(&written("json")).expect("JSON");
    assert_eq!(json["outage"]["starvation"]["users"], 1);
    assert_eq!((&json["outage"]["gone_share"], &json["verdict"]), (&0.0.into(), &"complete".into()));
}
