//! Steps over raw TCP, in a plan and on the command line.

use plan::{Draft, Study};
use std::path::PathBuf;
use wire::tcp::{Receive, TcpStep};

use crate::good_plans::launch;
use crate::good_plans::request;

fn read(text: &str) -> Result<Study, String> {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/good");
    Study::from_bytes(text.as_bytes(), "plan.yaml", "plan".to_owned(), folder, false)
        .map_err(|errors| errors.to_string())
}

#[test]
fn plan_defines_writes_and_end_of_reply() {
    let study = read(
        "scenario:\n- tcp: { send: 1KiB, write: 64, receive: { bytes: 1 } }\n- tcp: { text: \"GET {n}\\r\\n\" }\n  name: get\n\
         data: { n: { uniform: 1..9 } }\nload: { users: 3 }\nsystems: { a: { start: \"./a {port}\" } }\n",
    )
    .unwrap_or_else(|errors| panic!("{errors}"));
    assert_eq!(study.step_names().collect::<Vec<_>>(), ["send 1KiB in writes of 64", "get"]);
    let launch = launch(&study, 0);
    assert_eq!(launch.url, "tcp://127.0.0.1:7000");
    let plan = study.plan(0, &launch).expect("a plan");
    assert_eq!(
        (plan.endpoint().protocol().map(|protocol| protocol.name), plan.endpoint().peer().port),
        (Some("tcp"), 7000)
    );
    assert!(plan.steps.iter().all(|step| step.owned().is_some() && request(step).is_none()));
    let own: Vec<_> = plan.steps.iter().filter_map(|step| step.owned()).collect();
    let steps: Vec<&TcpStep> = own.iter().filter_map(|action| action.step.downcast()).collect();
    let exchange = &steps[0].exchange;
    assert_eq!((exchange.write_bytes, &exchange.receive), (Some(64), &Receive::Bytes(1)));
    assert_eq!((steps[0].message.len(), own[0].host.as_str()), (1024, "127.0.0.1:7000"));
    assert_eq!(steps[1].message, b"GET {n}\r\n");
    // Stores of earlier versions have steps in this form.
    let expected = serde_json::json!({
        "name": "send 1KiB in writes of 64",
        "method": "TCP",
        "path": "/",
        "host": "127.0.0.1:7000",
        "headers": [],
        "body_bytes": 1024,
        "keep_alive": true,
        "expect": { "status": "200–399", "headers": [], "body_checks": 0, "size": null },
        "saves": [],
        "write_bytes": 64,
        "receive": { "bytes": 1 },
    });
    assert_eq!(plan.to_json()["steps"][0], expected);
    assert_eq!(plan.to_json()["steps"][1]["receive"], serde_json::json!({ "until": "\n" }));
}

#[test]
fn rejects_steps_of_other_protocol_than_url() {
    let of = |step: &str, url: &str| {
        read(&format!("{{ scenario: [ {step} ], load: {{ users: 1 }}, url: {url} }}"))
            .err()
            .unwrap_or_default()
    };
    assert_eq!(of("tcp: { send: 1 }", "tcp://127.0.0.1:9"), "");
    assert!(of("get: /", "tcp://127.0.0.1:9").contains("the URL is that of raw TCP, and the steps are HTTP"));
    assert!(
        of("tcp: { send: 1 }", "http://127.0.0.1:9").contains("the steps are raw TCP, and the URL is not")
    );
}

#[test]
fn command_line_reads_step_from_query() {
    let draft = |url: &str| Draft { url: url.to_owned(), ..Draft::default() };
    let plan = draft("tcp://127.0.0.1:9000?send=1MiB&write=4KiB&bytes=1").check().expect("a plan");
    assert_eq!(plan.title, "send 1MiB in writes of 4KiB to tcp://127.0.0.1:9000");
    assert_eq!((plan.endpoint().peer().host.as_str(), plan.endpoint().peer().port), ("127.0.0.1", 9000));
    let faults =
        Draft { method: Some("PUT".to_owned()), ..draft("tcp://127.0.0.1:9000?send=0") }.check().unwrap_err();
    let words: String = faults.iter().map(ToString::to_string).collect();
    assert!(words.contains("it applies to HTTP") && words.contains("0 is not from 1"), "{words}");
}
