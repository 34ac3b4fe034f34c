//! Requests of a scenario as they are sent: bodies built from values, headers, credentials, and cookies.

use load::values::Source;
use plan::Study;

use crate::good_plans::{launch, request, text};

/// Bytes that a step sends, with these values of its variables.
fn sent(study: &Study, step: &str, values: &[(&str, &str)]) -> String {
    use wire::Script as _;
    let plan = study.plan(0, &launch(study, 0)).expect("it is a plan");
    let action = plan.steps.iter().find(|planned| planned.name == step).and_then(request);
    let action = action.expect("the step is a request");
    let steps = [wire::http1::HttpStep { captures: Vec::new(), ..action.clone() }];
    let script = wire::http1::Http1::compile(&steps, &plan.variables, &plan.secrets).expect("it can be sent");
    let mut conversation = script.open(0);
    for (name, value) in values {
        let number = plan.variables.iter().position(|known| known == name).expect("the variable is there");
        wire::Conversation::set(&mut conversation, number as u16, value.as_bytes());
    }
    wire::Conversation::begin(&mut conversation, 0);
    String::from_utf8_lossy(wire::Conversation::outgoing(&conversation)).into_owned()
}

#[test]
fn encodes_values_for_their_place_in_body() {
    let study = text(
        r#"
scenario:
  - name: json
    post: /json
    json: { name: "{name}", "a{b}": [ 1, true, ~, "2", "1e400", "x \"{name}\" y" ], id: "{name:raw}", empty: {} }
  - name: form
    post: /form
    form: { "a b": "{name}&c", tags: [ x, "{{y}} z" ], none: }
  - name: multipart
    post: /multipart
    multipart: { "ti\"tle": "{name}", order: { file: order.json, type: application/json, name: 'a"b/o.json' } }
data: { name: { text: 8 } }
load: { users: 1 }
url: http://127.0.0.1:8080
"#,
    );
    let values = [("name", "a\"1\r\nb&=")];
    let json = sent(&study, "json", &values);
    assert!(json.contains("\r\nContent-Type: application/json\r\n"), "{json}");
    let expected = r#"{"name":"a\"1\r\nb&=","a{b}":[1,true,null,"2","1e400","x \"a\"1\r\nb&=\" y"],"id":"#;
    assert!(json.contains(&format!("\r\n\r\n{expected}a\"1\r\nb&=,\"empty\":{{}}}}")), "{json}");
    let form = sent(&study, "form", &values);
    assert!(form.contains("\r\nContent-Type: application/x-www-form-urlencoded\r\n"), "{form}");
    let expected = "\r\n\r\na%20b=a%221%0D%0Ab%26%3D%26c&tags=x&tags=%7By%7D%20z&none=";
    assert!(form.ends_with(expected), "{form}");
    let multipart = sent(&study, "multipart", &values);
    let (head, body) = multipart.split_once("\r\n\r\n").expect("a head and a body");
    let (_, boundary) = head.split_once("boundary=").expect("a boundary");
    let boundary = boundary.lines().next().expect("a line");
    let order = std::fs::read_to_string("tests/good/order.json").expect("the file");
    assert_eq!(
        body,
        format!(
            "--{boundary}\r\nContent-Disposition: form-data; name=\"ti%22tle\"\r\n\r\na\"1  b&=\r\n\
             --{boundary}\r\nContent-Disposition: form-data; name=\"order\"; filename=\"o.json\"\r\n\
             Content-Type: application/json\r\n\r\n{order}\r\n--{boundary}--\r\n"
        ),
        "what is in a file is sent as it is, and a value ends no part"
    );
}

#[test]
fn scenario_adds_headers_and_auth_to_all_requests() {
    let study = text(
        r#"
scenarios:
  first:
    share: 1
    headers: { Accept: application/json, X-Token: "{token}" }
    auth: { basic: { user: "{people.name}", password: s3cr3t } }
    steps:
      - { name: log in, post: /login, save: { token: { header: X-Token } } }
      - { name: order, get: /orders, headers: { accept: text/html } }
      - { name: other, get: /, headers: { Authorization: Bearer x } }
  second: { share: 1, auth: { bearer: "{people.name}" }, steps: [ { name: bearer, get: /bearer } ] }
data: { people: { csv: people.csv } }
load: { users: 1 }
url: http://127.0.0.1:8080
"#,
    );
    let values = [("people.name", "Åsa"), ("token", "t1")];
    let basic = "\r\nAuthorization: Basic w4VzYTpzM2NyM3Q=\r\n";
    let log_in = sent(&study, "log in", &values);
    assert!(log_in.contains(basic) && log_in.contains("\r\nAccept: application/json\r\n"), "{log_in}");
    assert!(!log_in.contains("X-Token"), "its value is not saved yet: {log_in}");
    let order = sent(&study, "order", &values);
    assert!(order.contains(basic) && order.contains("\r\nX-Token: t1\r\n"), "{order}");
    assert!(order.contains("\r\naccept: text/html\r\n") && !order.contains("Accept:"), "{order}");
    let other = sent(&study, "other", &values);
    assert!(other.contains("\r\nAuthorization: Bearer x\r\n") && !other.contains("Basic"), "{other}");
    assert!(sent(&study, "bearer", &values).contains("\r\nAuthorization: Bearer Åsa\r\n"));
    assert!(!format!("{study:?}").contains("password: \"s3cr3t\""));
}

#[test]
fn keeps_cookies_by_user_or_by_iteration() {
    let of = |cookies: &str| {
        text(&format!(
            "scenario: {{ {cookies} steps: [ get: /a, get: /b ] }}\nload: {{ users: 1 }}\nurl: http://127.0.0.1:8080\n"
        ))
    };
    let planned = |cookies: &str| {
        let study = of(cookies);
        study.plan(0, &launch(&study, 0)).expect("it is a plan")
    };
    for none in ["", "cookies: false,"] {
        assert!(planned(none).steps.iter().all(|step| request(step).unwrap().request.cookies.is_none()));
        assert!(planned(none).variables.is_empty() && !of(none).explain().contains("cookies"));
    }
    let user = planned("cookies: true,");
    let jars: Vec<_> = user.steps.iter().map(|step| request(step).unwrap().request.cookies).collect();
    assert!(jars[0].is_some() && jars[0] == jars[1] && user.data.is_empty(), "{jars:?}");
    assert!(of("cookies: true,").explain().contains("one after the other; each user keeps cookies\n"));
    let iteration = planned("cookies: iteration,");
    let jar = request(&iteration.steps[0]).unwrap().request.cookies.expect("cookies").jar;
    assert_eq!(iteration.data.len(), 1, "each iteration takes the cookies of the last away");
    assert_eq!(iteration.data[0].fills, [(jar, 0)]);
    let words = of("cookies: iteration,").explain();
    assert!(words.contains("each iteration keeps cookies\n") && !words.contains("data "), "{words}");
}

#[test]
fn follows_redirects_if_plan_sets_them() {
    let study = text(
        "scenario:\n  redirects: 3\n  steps: [ get: /a, { get: /b, redirects: 0 }, { get: /c, redirects: 1 } ]\n\
         load: { users: 1 }\nurl: http://127.0.0.1:8080\n",
    );
    let plan = study.plan(0, &launch(&study, 0)).expect("it is a plan");
    let max =
        |step: usize| request(&plan.steps[step]).unwrap().request.redirects.map(|followed| followed.max);
    assert_eq!((max(0), max(1), max(2)), (Some(3), None, Some(1)));
    let parts: Vec<(u16, String)> = plan.parts().into_iter().map(|part| (part.of, part.name)).collect();
    let names = ["first request", "redirect 1", "redirect 2", "redirect 3", "first request", "redirect 1"];
    assert_eq!(parts.iter().map(|(_, name)| name.as_str()).collect::<Vec<_>>(), names);
    assert_eq!(parts.iter().map(|(of, _)| *of).collect::<Vec<_>>(), [0, 0, 0, 0, 2, 2]);
    let words = study.explain();
    assert!(words.contains("GET /a: follows up to 3 redirects, expects"), "{words}");
    assert!(words.contains("GET /b: expects") && words.contains("GET /c: follows 1 redirect, "), "{words}");
}

#[test]
fn repeats_skips_and_does_steps_once() {
    let study = text(
        r#"
scenario:
  cookies: true
  steps:
    - { name: form, get: /login, once: true, save: { csrf: { body: 'value="(.*)"' } } }
    - { name: log in, post: /login, form: { csrf: "{csrf}" }, once: true, save: { role: { header: X-Role } } }
    - { name: list, get: /orders, repeat: 2, save: { order: { json: "$[0].id" } } }
    - if: "{role} == 'an admin'"
      steps:
        - { name: one, get: "/orders/{order}", save: { next: { header: Link } } }
        - { name: next, get: "{next}", if: "{status} != 404", repeat: 2 }
    - { name: last, get: "/?{csrf}&{next}", if: "{next} is present" }
load: { users: 2 }
url: http://127.0.0.1:8080
"#,
    );
    let plan = study.plan(0, &launch(&study, 0)).expect("it is a plan");
    let scenario = &plan.scenarios.list[0];
    assert_eq!(scenario.once.iter().map(|visit| visit.step).collect::<Vec<_>>(), [0, 1]);
    let visits: Vec<_> = scenario.order.visits().collect();
    assert_eq!(visits.iter().map(|visit| visit.step).collect::<Vec<_>>(), [2, 2, 3, 4, 4, 5]);
    let lengths = |at: usize| visits[at].guards.iter().map(|guard| guard.visits).collect::<Vec<_>>();
    assert_eq!((0..6).map(lengths).collect::<Vec<_>>(), [vec![], vec![], vec![3], vec![1], vec![1], vec![1]]);
    let next = plan.variables.iter().position(|name| name == "next").expect("a variable") as u16;
    assert_eq!(plan.data.len(), 1, "what a step saves that may be left out does not outlive its iteration");
    assert_eq!(plan.data[0].fills, [(next, 0)]);
    let words = study.explain();
    for line in [
        "once for each user: form: expects",
        "list: expects status 200–399; saves order; 2 times",
        "one: expects status 200–399; saves next; if {role} == an admin (for 3 requests)",
        "next: expects status 200–399; 2 times; if {status} != 404",
        "last: expects status 200–399; if {next} is present",
        "4 steps, one after the other; each user keeps cookies",
    ] {
        assert!(words.contains(line), "{line}: {words}");
    }
}

#[test]
fn built_in_values_need_no_section() {
    let study = text(
        r#"
scenario:
  - { name: a, get: "/{uuid}/{timestamp}/{timestamp.s}/{random.int}/{random.int.-5..5}/{uuid.other}/{uuid}" }
  - { name: b, get: "/{uuid}" }
load: { users: 1 }
url: http://127.0.0.1:8080
"#,
    );
    let plan = study.plan(0, &launch(&study, 0)).expect("it is a plan");
    let sources: Vec<_> = plan.data.iter().map(|data| (&data.source, data.fills.len())).collect();
    assert_eq!(
        sources,
        [
            (&Source::Uuid, 1),
            (&Source::Timestamp { unit_ns: 1_000_000 }, 1),
            (&Source::Timestamp { unit_ns: 1_000_000_000 }, 1),
            (&Source::Uniform { min: 0, max: 2_147_483_647 }, 1),
            (&Source::Uniform { min: -5, max: 5 }, 1),
            (&Source::Uuid, 1),
        ]
    );
    let own = text(
        "scenario: [ get: \"/{uuid}\" ]\ndata: { uuid: { uniform: 1..2 } }\nload: { users: 1 }\nurl: http://127.0.0.1:1\n",
    );
    assert!(own.explain().contains("data        uuid: 1 to 2, all equally likely"), "{}", own.explain());
}

#[test]
fn setup_and_teardown_are_outside_load_and_share_saved_values() {
    let study = text(
        r#"
setup:
  cookies: true
  redirects: 1
  headers: { X-A: "1" }
  steps: [ { name: make, post: /users, json: { name: "{uuid}" }, save: { user: { json: $.id } } } ]
teardown: [ { name: delete, delete: "/users/{user}" } ]
scenario: [ { name: read, get: "/users/{user}" } ]
load: { users: 2 }
url: http://127.0.0.1:8080/api
"#,
    );
    let plan = study.plan(0, &launch(&study, 0)).expect("it is a plan");
    assert_eq!(plan.steps.iter().map(|step| step.name.as_str()).collect::<Vec<_>>(), ["read"]);
    let requests: Vec<_> =
        plan.errands.steps().map(|step| &request(step).expect("a request").request).collect();
    let targets: Vec<&str> = requests.iter().map(|request| request.target.as_str()).collect();
    assert_eq!(targets, ["/api/users", "/api/users/{user}"]);
    assert!(requests.iter().all(|request| request.host == "127.0.0.1:8080"));
    assert!(
        requests[0].cookies.is_some() && requests[0].redirects.is_some() && requests[1].redirects.is_none()
    );
    let user = plan.variables.iter().position(|name| name == "user").expect("a variable") as u16;
    assert_eq!(plan.errands.saved(), [user]);
    assert!(plan.parts().is_empty(), "a redirect of the setup has no account");
    let words = study.explain();
    assert!(
        words.contains("setup       make: follows 1 redirect, expects status 200–399; saves user\n"),
        "{words}"
    );
    assert!(words.contains("teardown    delete: expects status 200–399\n"), "{words}");
    assert!(
        plan.to_json()["setup"][0]["name"] == "make" && plan.to_json()["teardown"][0]["name"] == "delete"
    );
}

#[test]
fn json_of_expect_takes_paths_and_values() {
    let study = text(
        "scenario:\n  - { get: /a, save: { n: { json: $.n } } }\n  - get: '/b/{n}'\n    expect:\n      json:\n        $.status: ok\n        \
         $.items[0].id: '{n}'\n        $.token:\nload: { users: 1 }\nurl: http://127.0.0.1:8080\n",
    );
    let plan = study.plan(0, &launch(&study, 0)).expect("it is a plan");
    let bodies = &request(&plan.steps[1]).expect("a request").checks.bodies;
    let shown: Vec<(&str, bool, usize)> = bodies
        .iter()
        .map(|check| match check {
            wire::http1::BodyCheck::Json(path, value) => {
                let variables = value.as_ref().map_or(0, |value| value.variables().count());
                (path.written(), value.is_some(), variables)
            }
            other => panic!("{other:?}"),
        })
        .collect();
    assert_eq!(shown, [("$.status", true, 0), ("$.items[0].id", true, 1), ("$.token", false, 0)]);
}

#[test]
fn unused_saved_value_is_a_warning() {
    let study = text(
        "scenario:\n  - { get: /a, save: { n: { json: $.n } } }\nload: { users: 1 }\nurl: http://127.0.0.1:8080\n",
    );
    let [warning] = study.warnings.as_slice() else { panic!("one warning: {:?}", study.warnings) };
    let expected = ":2:24: unused saved value `n`\n  help: use {n} in a later step, or remove it";
    assert!(warning.ends_with(expected), "{warning}");
}
