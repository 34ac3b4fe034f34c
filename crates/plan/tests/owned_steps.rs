//! Steps of protocols that own them: checks and saved values of replies, log-ins in URLs, pipelines, and command mixes.

use load::values::Source;
use load::{Load, Order};
use plan::{CommandMixSpec, Draft, LoadSpec, Plan, Study};
use wire::sql::Secret;
use wire::step::Access;

use crate::good_plans::{launch, text};

fn plan_of(study: &Study) -> Plan {
    study.plan(0, &launch(study, 0)).expect("a plan")
}

#[test]
fn checks_and_saves_reply_for_later_steps() {
    let study = text(
        "{ scenario: [ { redis: 'INCR n', save: { n: { reply: true } } }, \
         { redis: [ SET, 'user:{n}', 'a b {name}' ], expect: { reply: OK } }, \
         { redis: 'GET user:{n}', name: read, expect: { contains: '{name}', type: string } } ], \
         data: { name: { text: 8 } }, load: { users: 3 }, url: redis://127.0.0.1:6379/2 }",
    );
    let plan = plan_of(&study);
    let names: Vec<&str> = plan.steps.iter().map(|step| step.name.as_str()).collect();
    assert_eq!(names, ["INCR n", "SET user:{n} a b {name}", "read"]);
    for step in &plan.steps {
        let channels =
            step.owned().expect("an own step").compile(&plan.variables, &plan.secrets).expect("a protocol");
        assert!(channels.is_ok(), "{}", step.name);
    }
    let message = plan.steps[1].owned().map(|action| action.step.message().to_vec());
    assert_eq!(message.as_deref(), Some(&b"SET user:{n} a b {name}"[..]));
    assert_eq!(plan.endpoint().peer().access.path, "2");
}

#[test]
fn value_of_skipped_step_is_empty() {
    for (first, skipped, save, last, url) in [
        ("redis: PING", "redis: INCR n", "{ reply: true }", "redis: 'GET {n}'", "redis://h"),
        ("memcached: mn", "memcached: mg k v", "{ reply: true }", "memcached: 'mg {n} v'", "memcached://h"),
        (
            "mongo: { ping: 1 }",
            "mongo: { find: a }",
            "{ field: _id }",
            "mongo: { find: a, filter: { _id: '{n}' } }",
            "mongodb://h/d",
        ),
    ] {
        let study = text(&format!(
            "{{ scenario: [ {{ {first} }}, {{ {skipped}, if: '{{user}} == 1', save: {{ n: {save} }} }}, {{ {last}, name: last }} ], \
             data: {{ user: {{ uniform: 1..2 }} }}, load: {{ users: 3 }}, url: '{url}' }}"
        ));
        let plan = plan_of(&study);
        let number = plan.variables.iter().position(|name| name == "n").expect("a variable") as u16;
        let emptied = plan
            .data
            .iter()
            .any(|data| data.fills == [(number, 0)] && matches!(data.source, Source::Text { length: 0, .. }));
        assert!(emptied, "{url}: {:?}", plan.data);
        assert!(study.explain().contains("; saves n"), "{}", study.explain());
    }
}

#[test]
fn steps_with_different_checks_have_different_fingerprints() {
    let fingerprint = |expect: &str| {
        let study = text(&format!(
            "{{ scenario: [ {{ redis: GET a, expect: {expect} }} ], load: {{ users: 1 }}, url: redis://h }}"
        ));
        plan_of(&study).steps[0].owned().map(|action| action.step.fingerprint())
    };
    assert_ne!(fingerprint("{ type: nil }"), fingerprint("{ type: string }"));
}

#[test]
fn reads_user_password_and_database_from_url() {
    let url = "rediss://app:p%40ss%7B@127.0.0.1/3?redis=PING".to_owned();
    let plan = Draft { url, ..Draft::default() }.check().expect("a plan");
    let expected = Access {
        user: Some("app".to_owned()),
        password: Some(Secret("p@ss{".to_owned())),
        scheme: "rediss".to_owned(),
        path: "3".to_owned(),
        ..Access::default()
    };
    let peer = plan.endpoint().peer();
    assert_eq!((&peer.access, peer.port, peer.tls.is_some()), (&expected, 6379, true));
    assert!(!format!("{plan:?}").contains("p@ss"), "the password is shown");
}

#[test]
fn keeps_secret_in_url_unfilled_where_urls_are_shown() {
    // The environment of tests has this variable.
    let study = text(
        "{ scenario: [ { redis: PING } ], load: { users: 1 }, url: 'redis://app:{env.PATH}@127.0.0.1:{port}' }"
            .replace(":{port}", ":6379")
            .as_str(),
    );
    let launch = launch(&study, 0);
    assert_eq!(launch.url, "redis://app:{env.PATH}@127.0.0.1:6379");
    let plan = study.plan(0, &launch).expect("a plan");
    let access = plan.endpoint().peer().access.filled(&plan.secrets);
    assert_eq!(access.password.map(|password| password.0), std::env::var("PATH").ok());
}

#[test]
fn pipeline_multiplies_users_and_not_connections() {
    let load = LoadSpec { users: Some(50.into()), pipeline: Some(16.into()), ..LoadSpec::default() };
    let plan = Draft { url: "redis://h".to_owned(), load, ..Draft::default() }.check().expect("a plan");
    let Load::Closed(closed) = &plan.load else { panic!("a closed load") };
    assert_eq!((closed.users, plan.pipeline, plan.connections()), (800, 16, 50));
    assert_eq!(plan.load_words(), "50 users, closed, 16 requests under way on each connection");
}

#[test]
fn rejects_pipeline_if_replies_cannot_follow_each_other() {
    for url in ["http://h/", "tcp://h?text=x", "postgres://u@h/d"] {
        let load = LoadSpec { pipeline: Some(16.into()), ..LoadSpec::default() };
        let faults = Draft { url: url.to_owned(), load, ..Draft::default() }.check().expect_err("an error");
        let words = faults.iter().map(ToString::to_string).collect::<String>();
        assert!(words.contains("--pipeline: requests of this load cannot share a connection"), "{words}");
    }
}

#[test]
fn url_without_step_gets_command_mix_on_random_keys() {
    let command_mix = CommandMixSpec {
        commands: Some("get,incr".to_owned()),
        keys: Some("1000".to_owned()),
        key_distribution: Some("zipf".to_owned()),
        ..CommandMixSpec::default()
    };
    let plan =
        Draft { url: "redis://h:1".to_owned(), command_mix, ..Draft::default() }.check().expect("a plan");
    let names: Vec<&str> = plan.steps.iter().map(|step| step.name.as_str()).collect();
    assert_eq!((names.as_slice(), plan.title.as_str()), (&["GET", "INCR"][..], "get,incr on redis://h:1"));
    assert_eq!(plan.data[0].source, Source::Zipf { min: 0, max: 999, exponent: 1.0, is_scattered: false });
    assert!(matches!(&plan.scenarios.list[0].order, Order::Mix(visits) if visits.len() == 2));
}

#[test]
fn latest_keys_are_the_highest() {
    let command_mix = CommandMixSpec {
        keys: Some("1000".to_owned()),
        key_distribution: Some("latest".to_owned()),
        ..CommandMixSpec::default()
    };
    let plan =
        Draft { url: "redis://h:1".to_owned(), command_mix, ..Draft::default() }.check().expect("a plan");
    let latest = Source::Latest { min: 0, max: 999, exponent: 1.0, grows_with: None };
    assert_eq!(plan.data[0].source, latest);
}

#[test]
fn names_wrong_flags_of_commands() {
    let faults = |url: &str, command_mix: CommandMixSpec| {
        let faults =
            Draft { url: url.to_owned(), command_mix, ..Draft::default() }.check().expect_err("errors");
        faults.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n")
    };
    let given = |text: &str| Some(text.to_owned());
    let wrong = CommandMixSpec {
        commands: given("get,flushall"),
        keys: given("0"),
        data_size: given("much"),
        key_distribution: given("normal"),
    };
    let words = faults("redis://h", wrong.clone());
    for expected in [
        "--commands: unknown command \"flushall\"",
        "--keys: 0 is not between 1 and",
        "--data-size: \"much\" is no size",
        "--key-distribution: unknown distribution \"normal\"",
    ] {
        assert!(words.contains(expected), "{expected}: {words}");
    }
    assert!(faults("http://h", wrong.clone()).contains("--commands: it applies to Redis"));
    let words =
        faults("redis://h?redis=PING", CommandMixSpec { commands: given("get"), ..Default::default() });
    assert!(words.contains("--commands: the query of the URL is the step"), "{words}");
}
