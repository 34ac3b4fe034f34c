//! Stores that cannot be written: an error with its own exit code, in time, and a report of the counted requests.

use std::fs;
use std::process::Command;
use std::time::Duration;

use crate::support::{self, Home, Output, Started, TENBIN, assert_identity, built_in, url};

const STORAGE: Option<i32> = Some(5);

#[track_caller]
fn assert_storage_error(output: &Output, what: &str) {
    assert_eq!(output.code, STORAGE, "{output:?}");
    assert!(output.stderr.starts_with("error: ") && output.stderr.contains(what), "{output:?}");
    assert_eq!(output.stderr.matches(what).count(), 1, "said once: {output:?}");
    assert!(output.stdout.is_empty(), "{output:?}");
    assert!(output.took < Duration::from_secs(3), "{output:?}");
}

#[test]
fn unusable_store_is_reported_before_any_request() {
    let (home, target) = (Home::new(), built_in());
    let url = url(target.address(), "/status");
    let foreign = home.path().join("foreign");
    fs::write(&foreign, "something else entirely\n".repeat(100)).expect("written");
    let below_a_file = foreign.join("below");
    for (path, what) in [
        (home.path(), "cannot be opened for writing"),
        (foreign.as_path(), "is not a Tenbin store"),
        (below_a_file.as_path(), "cannot make the folder"),
        ("/proc/none/runs.sqlite".as_ref(), "cannot make the folder"),
        ("/dev/full".as_ref(), "no room left"),
    ] {
        let mut command = Command::new(TENBIN);
        command.args([url.as_str(), "-n", "5", "--store"]).arg(path);
        home.isolate(&mut command);
        assert_storage_error(&Started::spawn(command).finish(), what);
    }
    assert_eq!(target.counters().requests, 0);
    assert_eq!(fs::read_to_string(&foreign).expect("text"), "something else entirely\n".repeat(100));
}

/// Runs the program in a separate mount namespace, on a small file system, after a shell line that prepares it.
fn on_a_small_disk(home: &Home, prepare: &str, arguments: &[&str]) -> Output {
    let disk = home.path().join("disk");
    fs::create_dir_all(&disk).expect("a folder");
    let line = format!(
        "mount -t tmpfs -o size=400k tmpfs {disk} || exit 77; cd {disk} || exit 77; {prepare}; exec \"$@\"",
        disk = disk.display()
    );
    let mut command = Command::new("unshare");
    command.args(["--map-root-user", "--mount", "sh", "-c", &line, "sh", TENBIN]).args(arguments);
    command.args(["--store", "runs.sqlite"]);
    home.isolate(&mut command);
    let output = Started::spawn(command).finish();
    assert!(
        output.code != Some(77) && !output.stderr.contains("unshare"),
        "this test mounts a file system of its own: run it as root, or allow user namespaces, and \
         `apt-get install util-linux`: {output:?}"
    );
    output
}

#[test]
fn full_disk_ends_the_run_and_the_counts_are_reported() {
    let (home, target) = (Home::new(), built_in());
    let url = url(target.address(), "/status");
    let arguments = [&url, "-R", "1000/s", "-c", "20", "-d", "60s", "--log-requests", "1000"];
    let output = on_a_small_disk(&home, "true", &arguments);
    assert_eq!(output.code, STORAGE, "{output:?}");
    assert!(output.took < Duration::from_secs(30), "long before its time: {output:?}");
    let lines: Vec<&str> = output.stderr.lines().collect();
    let mut counted = lines
        .iter()
        .filter_map(|line| line.strip_prefix("note: counted until the store failed and ended the run: "));
    let counted = counted.next();
    let counted = counted.unwrap_or_else(|| panic!("{output:?}"));
    let figures = counted.split([',', ';']);
    let figures: Vec<u64> =
        figures.map(|figure| figure.rsplit(' ').next().expect("a word").parse().expect("a number")).collect();
    let [planned, sent, not_sent, outcomes @ ..] = &figures[..] else { panic!("{counted}") };
    assert_eq!((*planned, *sent), (sent + not_sent, outcomes.iter().sum()), "{counted}");
    let sent = *sent;
    let seen = target.counters().requests;
    assert!(sent > 0 && sent <= seen && sent + 3_000 > seen, "{sent} of {seen}: stopped within two seconds");
    assert_eq!(output.stderr.matches("no room left to write the store").count(), 1, "{output:?}");
}

#[test]
fn disk_that_is_full_from_the_start_is_reported_before_any_request() {
    let (home, target) = (Home::new(), built_in());
    let url = url(target.address(), "/status");
    let fill = "head -c 390k /dev/zero > filler";
    let output = on_a_small_disk(&home, fill, &[&url, "-d", "60s"]);
    assert_storage_error(&output, "no room left to write the store");
    assert_eq!(target.counters().requests, 0);
}

#[test]
fn read_only_disk_is_reported_before_any_request() {
    let (home, target) = (Home::new(), built_in());
    let url = url(target.address(), "/status");
    let output = on_a_small_disk(&home, "mount -o remount,ro .", &[&url, "-d", "60s"]);
    assert_storage_error(&output, "cannot be opened for writing");
    assert_eq!(target.counters().requests, 0);
}

#[test]
fn read_only_store_can_be_reported() {
    let (home, target) = (Home::new(), built_in());
    let url = url(target.address(), "/status");
    home.json(&[url.as_str(), "-n", "50", "-c", "1"]);
    home.json(&[url.as_str(), "-n", "50", "-c", "1"]);
    let names = home.history().into_iter().map(|run| run["id"].as_str().expect("a name").to_owned());
    let names: Vec<String> = names.collect();
    let copy = format!("cp {} runs.sqlite && mount -o remount,ro .", home.store().display());
    for arguments in [&["report", "last"][..], &["history"], &["compare", &names[0], &names[1]]] {
        let output = on_a_small_disk(&home, &copy, arguments);
        assert_eq!((output.code, output.stderr.as_str()), (Some(0), ""), "{arguments:?}: {output:?}");
        assert!(output.stdout.contains("127.0.0.1"), "{output:?}");
    }
    let unfinished = format!(
        "cp {} runs.sqlite && echo x > runs.sqlite-wal && mount -o remount,ro .",
        home.store().display()
    );
    let output = on_a_small_disk(&home, &unfinished, &["report", "last"]);
    assert_storage_error(&output, "another program has not finished writing it");
}

#[test]
fn rejects_store_that_is_no_file() {
    let (home, target) = (Home::new(), built_in());
    let mut command = Command::new(TENBIN);
    command.args([url(target.address(), "/status").as_str(), "-n", "5", "--store", ":memory:"]);
    home.isolate(&mut command);
    let output = Started::spawn(command).finish();
    assert_eq!(output.code, Some(2), "{output:?}");
    assert!(output.stderr.contains("names no file"), "{output:?}");
    assert_eq!(target.counters().requests, 0);
}

#[test]
fn limit_on_file_sizes_is_named() {
    let (home, target) = (Home::new(), built_in());
    let url = url(target.address(), "/status");
    let mut command = Command::new("prlimit");
    command.args([
        "--fsize=300000",
        TENBIN,
        &url,
        "-R",
        "1000/s",
        "-c",
        "20",
        "-d",
        "60s",
        "--log-requests",
        "1000",
    ]);
    command.arg("--store").arg(home.store());
    home.isolate(&mut command);
    let output = Started::spawn(command).finish();
    assert_eq!(output.code, STORAGE, "{output:?}");
    assert!(output.stderr.contains("limit of this process on the size of files (ulimit -f)"), "{output:?}");
    assert!(output.stderr.contains("counted until the store failed"), "{output:?}");
}

#[test]
fn damaged_store_is_an_error_without_a_panic() {
    let (home, target) = (Home::new(), built_in());
    let url = url(target.address(), "/status");
    home.json(&[url.as_str(), "-n", "2000", "-c", "2", "--log-requests", "1000"]);
    let good = fs::read(home.store()).expect("a store");
    for from in [100, 4_096, 8_192, 20_000, good.len() / 2] {
        let mut bad = good.clone();
        let to = (from + 3_000).min(bad.len());
        bad[from..to].fill(0x5a);
        fs::write(home.store(), &bad).expect("written");
        for arguments in [&["report", "last"][..], &["history"], &["report", "last", "--format", "json"]] {
            let output = home.run(arguments);
            // The command may not read the part that was overwritten.
            assert!(matches!(output.code, Some(0 | 1 | 2 | 5)), "{from}: {output:?}");
            assert!(!output.stderr.contains("panicked"), "{from}: {output:?}");
        }
    }
}

#[test]
fn store_locked_by_another_program_does_not_hang_the_run() {
    let (home, target) = (Home::new(), built_in());
    let url = url(target.address(), "/status");
    home.json(&[url.as_str(), "-n", "5", "-c", "1"]);
    let program = home.start(&[&url, "-R", "100/s", "-c", "5", "-d", "1s", "--timeout", "1s"]);
    support::until("the load begins", || target.counters().requests > 10);
    let locker = rusqlite::Connection::open(home.store()).expect("the store");
    locker.execute_batch("BEGIN IMMEDIATE").expect("the lock");
    let output = program.finish();
    // Opening connections may take another second.
    assert!(output.took < Duration::from_secs(1 + 1 + 1 + 5 + 1), "{output:?}");
    assert!(matches!(output.code, Some(1 | 5)), "{output:?}");
    assert!(!output.stderr.is_empty(), "and it says why");
    drop(locker);
    let run = home.last();
    assert_eq!(run["verdict"], "partial");
    assert_identity(&run);
    assert_eq!(home.history().len(), 2);
}
