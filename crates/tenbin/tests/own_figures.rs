//! Parameters and figures of a plan from outside: variants with other loads are compared, and figures are read, kept, and limited.

use std::fs;

use serde_json::Value;

use crate::support::{Home, systems::assert_nothing_is_left};

/// Start of a system that is this program itself.
const TARGET: &str = "start: '{tenbin} target --listen 127.0.0.1:{port} --threads 1'";

fn plan(home: &Home, text: &str) -> String {
    let path = home.path().join("plan.yaml");
    fs::write(&path, text).expect("written");
    path.to_string_lossy().into_owned()
}

fn figure(run: &Value, name: &str) -> Option<f64> {
    let figures = run["own_figures"].as_array().expect("the run has figures");
    figures.iter().find(|figure| figure["name"] == name).expect("the figure is there")["value"].as_f64()
}

#[test]
fn variants_with_other_loads_and_figures_are_run_and_kept() {
    let home = Home::new();
    let path = plan(
        &home,
        &format!(
            "vary: {{ users: [1, 3], us: [10, 1000] }}\nscenario:\n  - get: /hold?mean_us={{us}}\nload: {{ users: '{{users}}', for: 1s }}\nsystems:\n  \
             target: {{ {TARGET} }}\nfigures:\n  weight: {{ command: 'echo {{users}}{{us}}', unit: ms }}\n  \
             same: {{ command: echo 7, every: 200ms, better: higher }}\ncompare: {{ by: weight, blocks: 1 }}\ngates: [ \"weight<5s\", \"same>=8\" ]\n"
        ),
    );
    let study = home.run(&["run", &path, "--format", "json"]).json();
    let runs = study["runs"].as_array().expect("a list");
    assert_eq!(runs.len(), 4);
    for run in runs {
        let knobs = &run["system"]["variant"];
        let (users, weight) = match knobs.as_str().expect("a name") {
            "users=1 us=10" => (1, 110.0),
            "users=1 us=1000" => (1, 11_000.0),
            "users=3 us=10" => (3, 310.0),
            "users=3 us=1000" => (3, 31_000.0),
            other => panic!("{other}"),
        };
        assert!(run["load"].to_string().contains(&format!("{users} user")), "{run}");
        assert_eq!((figure(run, "weight"), figure(run, "same")), (Some(weight), Some(7.0)), "{run}");
        let holds: Vec<bool> =
            run["gates"].as_array().expect("gates").iter().map(|gate| gate["holds"] == true).collect();
        assert_eq!(holds, [weight < 5_000.0, false], "{run}");
    }
    assert_nothing_is_left(&home);
}

#[test]
fn figure_that_cannot_be_read_fails_the_run_and_is_never_zero() {
    for (source, why) in [
        ("command: echo NaN", "\"NaN\" is not a finite number"),
        ("command: sh -c 'exit 3'", "exited with code 3"),
        ("command: sh -c 'head -c 9000000 /dev/zero'", "is not a number"),
        ("prometheus: 'http://127.0.0.1:{port}/', name: queue", "has no metric queue"),
    ] {
        let home = Home::new();
        let path = plan(
            &home,
            &format!(
                "scenario: [ get: / ]\nload: {{ users: 1, for: 1s }}\nsystems:\n  target: {{ {TARGET} }}\nfigures:\n  \
                 odd: {{ {source} }}\ncompare: no\n"
            ),
        );
        let study = home.run(&["run", &path, "--format", "json"]).json();
        let told = study["failures"].to_string();
        assert!(
            told.contains("the figure `odd` cannot be read") && told.contains(&why.replace('"', "\\\"")),
            "{told}"
        );
        assert_nothing_is_left(&home);
    }
}
