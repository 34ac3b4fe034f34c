//! Completions that a shell gets, through bash and the script that the program prints.

use std::fs;
use std::process::Command;

use crate::support::{Home, Started, TENBIN, built_in, url};

/// Candidates of bash for the last of these words.
#[track_caller]
fn offered(home: &Home, words: &[&str]) -> Vec<String> {
    let script = "eval \"$(\"$0\" completions bash)\"; \
                  tenbin() { \"$PROGRAM\" \"$@\"; }; COMP_WORDS=(tenbin \"$@\"); COMP_CWORD=$#; COMP_TYPE=9; \
                  _clap_complete_tenbin tenbin \"${@: -1}\" 2>&1; printf '%s\\n' \"${COMPREPLY[@]}\"";
    let mut command = Command::new("bash");
    command.args(["--norc", "-c", script, TENBIN]).args(words).env("PROGRAM", TENBIN);
    home.isolate(&mut command);
    let output = Started::spawn(command).finish();
    assert_eq!(output.code, Some(0), "{output:?}");
    output.stdout.lines().map(|line| line.trim().to_owned()).collect()
}

#[test]
fn offers_plan_files_for_a_plan() {
    let home = Home::new();
    for name in ["demo.yaml", "notes.txt"] {
        fs::write(home.path().join(name), "").unwrap();
    }
    for command in ["run", "check", "capacity"] {
        let offered = offered(&home, &[command, ""]);
        assert!(offered.contains(&"demo.yaml".to_owned()), "{command}: {offered:?}");
        assert!(!offered.iter().any(|name| name.contains("notes")), "{command}: {offered:?}");
    }
}

#[test]
fn offers_formats_for_a_format() {
    let offered = offered(&Home::new(), &["report", "--format", "j"]);
    assert_eq!(offered, ["json", "junit", "jtl"]);
}

#[test]
fn offers_stored_runs_for_a_run() {
    let home = Home::new();
    assert!(offered(&home, &["report", "2"]).iter().all(String::is_empty));
    let target = built_in();
    let store = home.path().join(".local/share/tenbin/tenbin.sqlite");
    let mut command = Command::new(TENBIN);
    command.args([url(target.address(), "/"), "-n".into(), "5".into(), "--store".into()]).arg(&store);
    home.isolate(&mut command);
    assert_eq!(Started::spawn(command).finish().code, Some(0));
    let names = offered(&home, &["report", "2"]);
    let is_name = |name: &String| name.len() > 16 && name.starts_with('2');
    assert!(names.iter().all(is_name) && names.len() == 1, "{names:?}");
    assert_eq!(offered(&home, &["compare", "la"]), ["last"]);
}

#[test]
fn offers_flags_and_commands() {
    let home = Home::new();
    assert_eq!(offered(&home, &["rep"]), ["replay", "report"]);
    assert!(offered(&home, &["run", "--qu"]).contains(&"--quick".to_owned()));
}

#[test]
fn every_command_has_a_manual_page() {
    let home = Home::new();
    let mut command = Command::new(TENBIN);
    command.arg("man").arg(home.path());
    home.isolate(&mut command);
    assert_eq!(Started::spawn(command).finish().code, Some(0));
    for command in ["", "-run", "-capacity", "-check", "-report", "-compare", "-history", "-target", "-proxy"]
    {
        let page = fs::read_to_string(home.path().join(format!("tenbin{command}.1"))).unwrap();
        assert!(page.contains(".SH NAME") && page.contains("SYNOPSIS"), "{page}");
    }
}
