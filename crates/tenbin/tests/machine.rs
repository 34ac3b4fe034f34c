//! `tenbin machine`: its output, the removal of its file, and errors for folders that cannot be used.

use std::process::Command;
use std::time::Duration;

use harness::quiet::assert_measured;
use rustix::process::Signal;
use serde_json::Value;

use crate::support::{Home, Started, TENBIN};

fn machine(home: &Home, arguments: &[&str]) -> Started {
    let mut command = Command::new(TENBIN);
    command.arg("machine").args(arguments);
    home.isolate(&mut command);
    Started::spawn(command)
}

#[test]
fn figures_are_printed_as_json_and_no_file_remains() {
    assert_measured(|| {
        let (home, folder) = (Home::new(), tempfile::tempdir().expect("a folder"));
        let dir = folder.path().to_str().expect("UTF-8");
        let output = machine(&home, &["--quick", "--dir", dir, "--format", "json"]).finish();
        assert_eq!((output.code, output.stderr.as_str()), (Some(0), ""), "{output:?}");
        let value: Value = serde_json::from_str(&output.stdout).expect("JSON");
        assert_eq!((&value["schema"], &value["is_partial"]), (&"tenbin.machine/1".into(), &false.into()));
        assert!(value["host"]["cores"].is_number() && value["file_system"].is_string(), "{value}");
        let figures = value["figures"].as_array().expect("figures");
        for key in ["shift.memmove.forward.int32.2900000", "disk_write", "timer_late_p50", "null_server"] {
            let figure = figures
                .iter()
                .find(|figure| figure["key"] == key)
                .unwrap_or_else(|| panic!("{key}: {value}"));
            let number = |name: &str| figure[name].as_f64().expect("a number");
            assert!(number("min") <= number("median") && number("median") <= number("max"), "{figure}");
            assert_eq!(figure["samples"].as_array().map(Vec::len), Some(5), "{figure}");
        }
        assert_eq!(std::fs::read_dir(folder.path()).expect("it can be listed").count(), 0);
    });
}

#[test]
fn interrupted_command_reports_the_figures_so_far() {
    let (home, folder) = (Home::new(), tempfile::tempdir().expect("a folder"));
    let dir = folder.path().to_str().expect("UTF-8");
    let running = machine(&home, &["--dir", dir]);
    std::thread::sleep(Duration::from_millis(500));
    running.signal(Signal::INT);
    let output = running.finish();
    assert_eq!(output.code, Some(130), "{output:?}");
    assert!(output.stdout.contains("stopped early"), "{output:?}");
    assert_eq!(std::fs::read_dir(folder.path()).expect("it can be listed").count(), 0);
}

#[test]
fn unusable_folder_is_an_error_with_help() {
    let home = Home::new();
    let output = machine(&home, &["--dir", "/nonexistent"]).finish();
    assert_eq!(output.code, Some(1), "{output:?}");
    assert!(output.stderr.starts_with("error: no file can be made in /nonexistent"), "{output:?}");
    assert!(output.stderr.contains("help: name a folder on the disk to measure: --dir PATH"), "{output:?}");
    let output = machine(&home, &["--format", "xml"]).finish();
    assert_eq!(output.code, Some(2), "{output:?}");
}
