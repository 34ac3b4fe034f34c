//! A study that is killed at any moment leaves no process behind, and can be resumed to exactly the runs that it planned.
//!
//! `TENBIN_KILLS` sets the number of kills, and `TENBIN_SEED` their moments.

use std::fs;
use std::thread;
use std::time::Duration;

use crate::support::{
    self,
    systems::{assert_nothing_is_left, marked},
};
use crate::support::{Home, Output, Started, moments, number};
use rustix::process::Signal;
use serde_json::Value;

const PLAN: &str = "\
scenario:
  - get: /status
load: { users: 2, for: 1s }
systems:
  target:
    start: '{tenbin} target --listen 127.0.0.1:{port} --threads {threads}'
    vary: { threads: [1, 2, 3] }
compare: { blocks: 2 }
seed: 1
";
/// Longer than a run with its start and stop, so that kills hit every moment of one.
const MOMENTS_MS: u64 = 2_600;

/// Planned runs, in order: position, variant, block.
fn list(study: &Value) -> Vec<(u64, String, u64)> {
    let runs = study["runs"].as_array().expect("a list").iter();
    let place = |run: &Value| {
        let variant = run["system"]["variant"].as_str().expect("a name").to_owned();
        (number(run, "place.position"), variant, number(run, "place.block"))
    };
    runs.map(place).collect()
}

#[test]
#[expect(clippy::print_stdout, reason = "a failure must show the moments that led to it")]
fn killed_study_is_completed_by_resuming_it() {
    let (seed, kills) = (moments::seed(), moments::kills().unwrap_or(6));
    println!("TENBIN_SEED={seed} TENBIN_KILLS={kills}");
    let (home, mut state) = (Home::new(), seed);
    let path = home.path().join("plan.yaml");
    fs::write(&path, PLAN).expect("written");
    let path = path.to_string_lossy().into_owned();
    let (mut killed, mut studies) = (0, Vec::new());
    while killed < kills {
        killed += kill_until_complete(&home, &path, kills - killed, &mut state);
        let id = home.json(&["report", "last"])["study"]["id"].clone();
        studies.push(home.json(&["report", id.as_str().expect("a name")]));
    }
    let undisturbed = home.json(&["run", &path]);
    for study in &studies {
        assert_eq!(list(study), list(&undisturbed));
        let runs = study["runs"].as_array().expect("a list");
        assert!(runs.iter().all(|run| run["verdict"] == "complete"), "{study}");
    }
    assert_nothing_is_left(&home);
}

/// Runs a study, and kills and resumes it until it is complete. Returns the number of kills.
fn kill_until_complete(home: &Home, path: &str, kills_max: u64, state: &mut u64) -> u64 {
    let mut program = home.start(&["run", path]);
    let mut kills = 0;
    while kills < kills_max {
        let pid = program.pid();
        let was_running =
            killed_after(&mut program, Duration::from_millis(moments::next(state) % MOMENTS_MS));
        let output = program.finish();
        if was_running {
            kills += 1;
            support::until("what it had started is gone", || marked(pid).is_empty());
            program = home.start(&["run", path, "--resume"]);
        } else if had_nothing_to_resume(&output) {
            program = home.start(&["run", path]);
        } else {
            assert_eq!(output.code, Some(0), "{output:?}");
            return kills;
        }
    }
    let output = program.finish();
    if had_nothing_to_resume(&output) {
        home.json(&["run", path]);
    } else {
        assert_eq!(output.code, Some(0), "{output:?}");
    }
    kills
}

/// A kill before the study had a name leaves nothing to resume.
fn had_nothing_to_resume(output: &Output) -> bool {
    output.code == Some(2) && output.stderr.contains("no study")
}

/// Kills the program after this time. Returns whether it was still running.
fn killed_after(program: &mut Started, moment: Duration) -> bool {
    thread::sleep(moment);
    let was_running = program.is_running();
    program.signal(Signal::KILL);
    was_running
}
