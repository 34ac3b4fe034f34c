//! The published JSON Schema and the reference match the reader. `UPDATE=1` updates them.

use crate::json_schema;
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use granit_parser::{Event, Parser, ScalarStyle};
use serde_json::{Map, Value, json};

const SCHEMA: &str = "schema/plan.schema.json";
const PAGE: &str = "../../docs/plan.md";
const HEADING: &str = "## Every key\n";

fn is_update() -> bool {
    std::env::var_os("UPDATE").is_some()
}

fn schema() -> Value {
    serde_json::from_str(&plan::schema()).expect("it is JSON")
}

#[test]
fn published_schema_matches_reader() {
    if is_update() {
        fs::write(SCHEMA, plan::schema()).expect("it can be written");
    }
    let published = fs::read_to_string(SCHEMA).unwrap_or_default();
    assert_eq!(published, plan::schema(), "with UPDATE=1 it is written again");
}

#[test]
fn page_about_plans_ends_with_reference() {
    let page = fs::read_to_string(PAGE).expect("the page is there");
    let (before, reference) = page.split_once(HEADING).expect("it has the heading");
    if is_update() {
        fs::write(PAGE, format!("{before}{HEADING}\n{}", plan::reference())).expect("it can be written");
        return;
    }
    assert_eq!(reference.trim_start(), plan::reference(), "with UPDATE=1 it is written again");
}

#[test]
fn reads_every_plan_on_the_page() {
    let page = fs::read_to_string(PAGE).expect("the page is there");
    let plans: Vec<&str> =
        page.split("```yaml\n").skip(1).filter_map(|rest| rest.split("```").next()).collect();
    assert!(plans.len() >= 3, "{}", plans.len());
    let folder = fs::canonicalize("tests/good").expect("the folder is there");
    for text in plans {
        let environment = |name: &str| Ok(format!("value of {name}"));
        let (title, folder) = ("plan".to_owned(), folder.clone());
        let study =
            plan::Study::from_bytes_in(&environment, text.as_bytes(), "plan.yaml", title, folder, false);
        study.unwrap_or_else(|faults| panic!("{faults}"));
        assert_fits(text, "the page");
    }
}

#[test]
fn good_plans_match_schema() {
    let paths = plans_in("tests/good").chain(plans_in("../../plans"));
    for path in paths {
        let text = fs::read_to_string(&path).expect("it can be read");
        assert_fits(&text, &path.display().to_string());
    }
}

#[test]
fn misspelled_plans_do_not_match_schema() {
    for name in
        ["misspelt-keys", "misspelt-inside", "durations-without-units", "numbers", "wrong-kinds", "nulls"]
    {
        let text = fs::read_to_string(format!("tests/broken/{name}.yaml")).expect("it can be read");
        let wrong = json_schema::faults(&schema(), &json_of(&text));
        assert!(!wrong.is_empty(), "{name} fits");
    }
}

fn assert_fits(text: &str, name: &str) {
    let wrong = json_schema::faults(&schema(), &json_of(text));
    assert!(wrong.is_empty(), "{name}: {wrong:#?}");
}

fn plans_in(folder: &str) -> impl Iterator<Item = PathBuf> {
    let entries = fs::read_dir(Path::new(folder)).expect("the folder is there");
    let paths = entries.map(|entry| entry.expect("it can be listed").path());
    paths.filter(|path| path.extension().is_some_and(|ending| ending == "yaml"))
}

/// A YAML text as an editor sees it: unquoted scalars become numbers, booleans, and nulls if they look like them.
fn json_of(text: &str) -> Value {
    let mut events = Parser::new_from_str(text).map(|event| event.expect("it is YAML").0);
    loop {
        match events.next().expect("it has a value") {
            Event::StreamStart | Event::DocumentStart(..) => {}
            first => return value(first, &mut events, &mut BTreeMap::new()),
        }
    }
}

/// Values with anchors, by the number of the anchor.
type Named = BTreeMap<usize, Value>;

fn value<'a>(event: Event<'a>, events: &mut impl Iterator<Item = Event<'a>>, named: &mut Named) -> Value {
    let name = match &event {
        Event::Alias(name) => return named[name].clone(),
        Event::Scalar(_, _, name, _) => *name,
        Event::SequenceStart(_, name, _) | Event::MappingStart(_, name, _) => *name,
        _ => 0,
    };
    let value = unnamed(event, events, named);
    named.insert(name, value.clone());
    value
}

fn unnamed<'a>(event: Event<'a>, events: &mut impl Iterator<Item = Event<'a>>, named: &mut Named) -> Value {
    match event {
        Event::Scalar(text, ScalarStyle::Plain, ..) => plain(&text),
        Event::Scalar(text, ..) => json!(text),
        Event::SequenceStart(..) => {
            let mut items = Vec::new();
            loop {
                match events.next().expect("it ends") {
                    Event::SequenceEnd => return Value::Array(items),
                    event => items.push(value(event, events, named)),
                }
            }
        }
        Event::MappingStart(..) => {
            let mut object = Map::new();
            loop {
                let key = match events.next().expect("it ends") {
                    Event::MappingEnd => return Value::Object(object),
                    Event::Scalar(key, ..) => key.into_owned(),
                    other => panic!("a key is {other:?}"),
                };
                let event = events.next().expect("it ends");
                object.insert(key, value(event, events, named));
            }
        }
        other => panic!("{other:?} is not for these tests"),
    }
}

fn plain(text: &str) -> Value {
    match text {
        "" | "~" | "null" => Value::Null,
        "true" | "false" => json!(text == "true"),
        _ => match text.parse::<f64>() {
            Ok(number) if text.starts_with(|first: char| first.is_ascii_digit() || first == '-') => {
                json!(number)
            }
            _ => json!(text),
        },
    }
}
