//! The GitHub action, run as GitHub runs it: its shell script, with the inputs as environment variables.

use std::fs;
use std::path::Path;
use std::process::Command;

use crate::support::{Home, Output, Started, TENBIN, built_in, url};

/// Runs the script of the action with these inputs. The job summary is the file `summary.md`.
fn action(home: &Home, arguments: &str, slo: &str, wait: &str) -> Output {
    let text = fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("../../action.yml"))
        .expect("the action");
    let shell = text.split("run: |\n").nth(1).expect("its shell");
    let program = Path::new(TENBIN).parent().expect("a folder");
    let path = std::env::var("PATH").unwrap_or_default();
    let mut command = Command::new("bash");
    command.args(["--noprofile", "--norc", "-eo", "pipefail", "-c", shell]);
    home.isolate(&mut command);
    command.env("PATH", format!("{}:{path}", program.display()));
    command.envs([
        ("ARGUMENTS", arguments),
        ("SLO", slo),
        ("WAIT", wait),
        ("GITHUB_STEP_SUMMARY", "summary.md"),
    ]);
    Started::spawn(command).finish()
}

#[test]
fn action_fails_if_a_condition_fails() {
    let (home, target) = (Home::new(), built_in());
    let load = format!("{} -n 60 -c 2", url(target.address(), "/hold?mean_us=20000"));
    let passed = action(&home, &load, "mean<50s, errors<50%", "5s");
    assert!(matches!(passed.code, Some(0 | 4)), "{passed:?}");
    assert!(passed.stdout.contains("::notice title=tenbin::"), "{passed:?}");
    let failed = action(&home, &load, "mean<1ms", "");
    assert!(matches!(failed.code, Some(3 | 4)), "{failed:?}");
    assert!(failed.stdout.contains("::error title="), "{failed:?}");
    let summary = fs::read_to_string(home.path().join("summary.md")).expect("a summary");
    assert_eq!(summary.matches("/hold").count().min(2), 2, "each step adds its own: {summary}");
    let wrong = action(&home, "--frobnicate", "", "");
    assert_eq!(wrong.code, Some(2), "{wrong:?}");
}

#[test]
fn arguments_of_the_action_may_have_quotes_and_line_breaks() {
    let (home, target) = (Home::new(), built_in());
    let load = format!("{}\n  -n 5 -c 1 -X POST\n  --body 'a b'\n", url(target.address(), "/echo"));
    let checked = action(&home, &format!("{load} --expect-body \"a b\" --expect-size 3"), "errors=0", "");
    assert!(matches!(checked.code, Some(0 | 4 | 6)), "{checked:?}");
    assert!(!checked.stdout.contains("errors=0::"), "{checked:?}");
    let open = action(&home, &format!("{load} 'x"), "", "");
    assert_eq!(open.code, Some(1), "{open:?}");
    assert_eq!(target.counters().requests, 5, "nothing was sent for a quote without an end");
}
