//! Every protocol gives the expected result for each of its samples: whole, in pieces, and followed by junk.

use std::sync::Arc;

use wire::braces::{Piece, pieces};
use wire::http1::{Checks, HttpStep, Request};
use wire::step::{self, Kind, LoadSteps, Step, Text, Value, WrittenStep};
use wire::testing::feed_three_ways;
use wire::{Channels, Compile, Next, PROTOCOLS, Protocol, StepError, Ticket, Values};

#[test]
fn every_sample_gives_expected_result_three_ways() {
    let mut fed = 0;
    for protocol in PROTOCOLS {
        let samples = (protocol.samples)();
        assert!(samples.len() >= 10, "{} has too few samples to be trusted", protocol.name);
        for sample in samples {
            feed_three_ways(protocol.open, &sample)
                .unwrap_or_else(|what| panic!("{}: {what}", protocol.name));
            fed += 1;
        }
    }
    assert!(fed >= 40, "{fed} samples were fed");
}

#[test]
fn names_and_schemes_are_unique() {
    let mut names: Vec<_> = PROTOCOLS.iter().map(|protocol| protocol.name).collect();
    names.sort_unstable();
    names.dedup();
    assert_eq!(names.len(), PROTOCOLS.len());
}

/// A value with the text `{v}` in the first place that accepts variables.
fn with_variable(kind: &Kind) -> Option<Value> {
    match kind {
        Kind::Json => {
            let template = br#"{"find":"{v}"}"#.to_vec();
            Some(Value::Text(Text { written: String::new(), template }))
        }
        Kind::Text | Kind::TextOrTexts => {
            Some(Value::Text(Text { written: "{v}".to_owned(), template: b"{v}".to_vec() }))
        }
        Kind::Table(table) => {
            let found = table.keys.iter().find_map(|key| Some((key.name, with_variable(&key.kind)?)));
            found.map(|entry| Value::Table(vec![entry]))
        }
        Kind::List(item) => with_variable(item).map(|item| Value::List(vec![item])),
        Kind::OneOrList(item) | Kind::Optional(item) | Kind::Required(item) => with_variable(item),
        _ => None,
    }
}

/// The text of an example, with the variable `v` instead of all others.
fn example_with_variable(example: &str) -> Value {
    let mut template = Vec::new();
    for piece in pieces(example.trim_matches('"').as_bytes()) {
        template.extend_from_slice(if let Piece::Text(text) = piece { text } else { b"{v}" });
    }
    Value::Text(Text { written: example.to_owned(), template })
}

/// Channels of two equal steps that send the variable `v`.
fn compiled(protocol: &Protocol, variables: &[String]) -> Option<Result<Box<dyn Channels>, StepError>> {
    Some(match protocol.compile {
        Compile::Steps(own) => {
            let key = &own.keys[0];
            let value = with_variable(&key.kind).expect("a text with variables");
            // A protocol may know its commands by name: then its example has one.
            let step = (own.read)(&WrittenStep::of(key.name, &value))
                .or_else(|_| (own.read)(&WrittenStep::of(key.name, &example_with_variable(key.example))))
                .expect("a step");
            assert!(!step.title().is_empty());
            (own.compile)(&LoadSteps::of(&[step.clone(), step], variables))
        }
        Compile::StepsWithExtraKeys(steps, _) => {
            let request = Request { body: Some(b"{v}".to_vec()), ..Request::get("localhost", "/") };
            let step: Arc<dyn Step> =
                Arc::new(HttpStep { request, checks: Checks::default(), captures: Vec::new() });
            (steps.compile)(&LoadSteps::of(&[step.clone(), step], variables))
        }
        Compile::Transactions(_) => return None,
    })
}

#[test]
fn requests_contain_values_of_variables() {
    for protocol in PROTOCOLS {
        let Some(script) = compiled(protocol, &["v".to_owned()]) else { continue };
        let script = script.expect("a script");
        assert!(script.needs(0, 0), "{}: the step needs its variable", protocol.name);
        let (mut channel, mut values) = (script.open(0, 0), Values::default());
        assert!(channel.room() > 0);
        values.set(0, b"of-a-user");
        assert_eq!(channel.begin(Ticket(7), 0, &values), Next::Send);
        let sent = String::from_utf8_lossy(channel.outgoing()).into_owned();
        assert!(sent.contains("of-a-user"), "{}: {sent}", protocol.name);
        // An unknown variable is an error of its step.
        let wrong = compiled(protocol, &[]).and_then(Result::err).expect("an unknown variable");
        assert_eq!(wrong.step, 0);
    }
}

#[test]
fn step_keys_are_unique_and_resolve_to_their_protocol() {
    let of_steps = PROTOCOLS.iter().filter_map(Protocol::steps).flat_map(|steps| steps.keys);
    let further = step::with_extra_keys().flat_map(|(_, further)| further.step);
    let mut keys: Vec<&str> = of_steps.chain(further).map(|key| key.name).collect();
    for (protocol, own) in step::owners() {
        assert!(own.query.starts_with('?') && own.url.starts_with(protocol.schemes[0].name), "{own:?}");
        for key in own.keys {
            assert_eq!(step::owner_of(key.name).map(|(owner, _)| owner.name), Some(protocol.name));
        }
    }
    let all = keys.len();
    keys.sort_unstable();
    keys.dedup();
    assert_eq!(keys.len(), all);
}

#[test]
fn rejects_step_of_another_protocol() {
    #[derive(Debug)]
    struct Foreign;
    impl Step for Foreign {
        fn title(&self) -> String {
            String::new()
        }
        fn message(&self) -> &[u8] {
            b""
        }
    }
    for own in PROTOCOLS.iter().filter_map(Protocol::steps) {
        let wrong = (own.compile)(&LoadSteps::of(&[Arc::new(Foreign)], &[])).expect_err("a foreign step");
        assert_eq!((wrong.step, wrong.what.as_str()), (0, "it is a step of another protocol"));
    }
}
