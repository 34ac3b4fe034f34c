//! Output streams that fail, block, or must show no secret: pipes, full devices, and terminals.

use std::fs::{self, File};
use std::process::{Command, Stdio};

use harness::quiet::assert_measured;

use crate::support::{Home, Started, TENBIN, answering, built_in, errors, number, until, url};
use rustix::process::Signal;

const SECRET: &str = "c4nary-Sesame";
/// Base64 of `user:c4nary-Sesame`.
const SECRET_BASE64: &str = "dXNlcjpjNG5hcnktU2VzYW1l";

fn home_with_a_run() -> Home {
    let (home, target) = (Home::new(), built_in());
    home.json(&[url(target.address(), "/status").as_str(), "-n", "100", "-c", "2"]);
    home
}

#[test]
fn closed_pipe_is_no_error() {
    let (home, target) = (home_with_a_run(), built_in());
    let url = url(target.address(), "/status");
    for arguments in [
        &[url.as_str(), "-n", "10", "-c", "1"][..],
        &[url.as_str(), "-n", "10", "-c", "1", "--format", "json"],
        &["report", "last"],
        &["report", "last", "--format", "csv"],
        &["report", "last", "--format", "hlog"],
        &["history"],
        &["--help"],
    ] {
        let mut command = home.command(arguments);
        let (reader, writer) = std::io::pipe().expect("a pipe");
        drop(reader);
        let mut child = command.stdout(writer).stderr(Stdio::piped()).spawn().expect("started");
        drop(command);
        let mut stderr = String::new();
        std::io::Read::read_to_string(&mut child.stderr.take().expect("a pipe"), &mut stderr).expect("UTF-8");
        let code = child.wait().expect("an end").code();
        assert_eq!(code, Some(0), "{arguments:?}: {stderr}");
        assert!(!stderr.contains("panicked") && !stderr.contains("error: "), "{arguments:?}: {stderr}");
    }
}

#[test]
fn full_device_is_an_error_and_the_run_is_stored() {
    let (home, target) = (home_with_a_run(), built_in());
    let url = url(target.address(), "/status");
    for arguments in [&[url.as_str(), "-n", "10", "-c", "1"][..], &["report", "last"], &["history"]] {
        let mut command = home.command(arguments);
        command.stdout(File::options().write(true).open("/dev/full").expect("a full device"));
        let output = command.stderr(Stdio::piped()).output().expect("started");
        let stderr = String::from_utf8(output.stderr).expect("UTF-8");
        assert_eq!(output.status.code(), Some(1), "{arguments:?}: {stderr}");
        assert!(stderr.contains("No space left on device"), "{arguments:?}: {stderr}");
        assert!(!stderr.contains("panicked"), "{stderr}");
    }
    assert_eq!(home.history().len(), 2, "what was measured is kept");
}

#[test]
fn name_of_the_stored_run_is_printed_even_if_its_report_cannot_be() {
    let (home, target) = (Home::new(), built_in());
    let mut command = home.command(&[url(target.address(), "/status").as_str(), "-n", "10", "-c", "1"]);
    command.stdout(File::options().write(true).open("/dev/full").expect("a full device"));
    let output = command.stderr(Stdio::piped()).output().expect("started");
    let stderr = String::from_utf8(output.stderr).expect("UTF-8");
    let id = home.last()["run"]["id"].as_str().expect("a name").to_owned();
    assert!(stderr.contains(&format!("kept as {id}")), "{stderr}");
}

#[test]
fn closed_standard_error_stops_nothing() {
    let (home, target) = (Home::new(), built_in());
    let mut command =
        home.command(&[url(target.address(), "/status").as_str(), "-n", "10", "-c", "1", "--wide"]);
    let (reader, writer) = std::io::pipe().expect("a pipe");
    drop(reader);
    let output = command.stderr(writer).stdout(Stdio::piped()).output().expect("started");
    assert_eq!(output.status.code(), Some(0));
    assert!(String::from_utf8(output.stdout).expect("UTF-8").contains("planned 10 = sent 10"));
}

#[test]
fn without_a_terminal_only_the_name_of_the_run_is_printed() {
    let (home, target) = (Home::new(), built_in());
    let url = url(target.address(), "/status");
    let output = home.run(&[url.as_str(), "-d", "1500ms", "-c", "2", "-R", "100/s", "--seed", "1"]);
    assert_eq!(output.code, Some(0), "{output:?}");
    let id = home.last()["run"]["id"].as_str().expect("a name").to_owned();
    assert_eq!(output.stderr, format!("kept as {id} in {}\n", home.store().display()));
    assert!(output.stdout.starts_with(&format!("GET {url} · ")), "{output:?}");
    assert!(!output.stdout.contains('\x1b'), "no colours: {output:?}");
    assert_eq!(home.run(&["history"]).stderr, "");
}

#[test]
fn terminal_shows_a_live_line_that_is_erased() {
    assert_measured(|| {
        let (home, target) = (Home::new(), built_in());
        let url = url(target.address(), "/status");
        let line =
            format!("{TENBIN} {url} -d 1500ms -c 2 -R 100/s --wide --store {}", home.store().display());
        // `script` provides the terminal. It is part of bsdutils in Debian.
        let mut command = Command::new("script");
        command.args(["--quiet", "--return", "--command", &line, "/dev/null"]);
        home.isolate(&mut command);
        let output = Started::spawn(command).finish();
        assert_eq!(output.code, Some(0), "{output:?}");
        assert!(output.stdout.contains("\r\x1b[2K"), "{output:?}");
        let shown = output.stdout.rsplit("\x1b[2K").next().expect("what is left");
        assert!(shown.contains("planned 150 = sent 150"), "{shown}");
    });
}

#[test]
fn live_lines_are_narrower_than_the_terminal() {
    let (home, target) = (Home::new(), built_in());
    let url = url(target.address(), "/status?a=long&query=that&makes=the&line=wider");
    for columns in [40, 80, 120] {
        let run = format!("{TENBIN} '{url}' -d 1500ms -c 2 -R 100/s --store {}", home.store().display());
        let mut command = Command::new("script");
        let line = format!("stty cols {columns}; {run} >/dev/null");
        command.args(["--quiet", "--return", "--command", &line, "/dev/null"]);
        home.isolate(&mut command);
        let output = Started::spawn(command).finish();
        let (live, _kept) = output.stdout.rsplit_once("\r\x1b[2K").expect("a live line that was wiped");
        let lines: Vec<&str> = live.split("\r\x1b[2K").collect();
        assert!(lines.len() > 2, "{columns}: {output:?}");
        for line in lines {
            assert!(line.chars().count() < columns, "{columns}: {line:?} in {output:?}");
        }
    }
}

#[test]
fn terminal_that_does_not_read_does_not_hold_up_the_run() {
    // The two pipes have no reader: the load must continue.
    let (home, target) = (Home::new(), built_in());
    let mut command = home.command(&[url(target.address(), "/status").as_str(), "-d", "1s", "-R", "200/s"]);
    let (reader, writer) = std::io::pipe().expect("a pipe");
    let (held, error_writer) = std::io::pipe().expect("a pipe");
    let mut child = command.stdout(writer).stderr(error_writer).spawn().expect("started");
    drop(command);
    assert_eq!(child.wait().expect("an end").code(), Some(0));
    assert_eq!(target.counters().requests, 200);
    drop((reader, held));
}

#[test]
fn bytes_of_a_hostile_server_do_not_reach_the_terminal() {
    let (home, server) = (Home::new(), answering(b"\x1b]0;evil\x07\x1b[31mred\r\n\r\n"));
    let url = url(server.address(), "/");
    let output = home.run(&[url.as_str(), "-n", "3", "-c", "1"]);
    assert!(output.stdout.contains("protocol_error"), "{output:?}");
    for format in ["terminal", "md", "csv", "json", "hlog"] {
        let output = home.run(&["report", "last", "--format", format]);
        assert_eq!(output.code, Some(0), "{format}");
        assert!(!output.stdout.contains(['\x1b', '\x07']), "{format}: {output:?}");
    }
    assert_eq!(errors(&home.last(), "protocol_error"), 3);
}

/// Asserts that neither the text nor any file of the home contains a secret.
#[track_caller]
fn assert_no_secret(home: &Home, text: &str) {
    for secret in [SECRET, SECRET_BASE64] {
        assert!(!text.contains(secret), "{text}");
        for entry in fs::read_dir(home.path()).expect("a folder") {
            let path = entry.expect("an entry").path();
            let bytes = fs::read(&path).expect("a file");
            let found = bytes.windows(secret.len()).any(|window| window == secret.as_bytes());
            assert!(!found, "{} has {secret}", path.display());
        }
    }
}

#[test]
fn secrets_are_sent_and_never_shown() {
    let (home, target) = (Home::new(), built_in());
    let address = target.address();
    let bearer = format!("Authorization: Bearer {SECRET}");
    let in_query = url(address, &format!("/status?code=200&token={SECRET}"));
    let own = format!("X-Of-Our-Own: {SECRET}");
    let (cookie, key) = (format!("cookie: id={SECRET}"), format!("X-API-Key: {SECRET}"));
    let with_user = format!("http://user:{SECRET}@{address}/status");
    let plain = url(address, "/status");
    for arguments in [
        &[with_user.as_str()][..],
        &[&plain, "-H", &bearer],
        &[&plain, "-H", &cookie, "-H", &key],
        &[&plain, "-H", &own],
        &[&in_query],
        &[&plain, "-b", SECRET, "-m", "GET"],
    ] {
        // The file must not contain a secret during the run, either.
        let program = home.start(&[arguments, &["-d", "400ms", "-c", "2", "-R", "50/s"]].concat());
        let before = target.counters().requests;
        until("the load begins", || target.counters().requests > before);
        assert_no_secret(&home, "");
        let output = program.finish();
        let is_answered = [Some(0), Some(6)].contains(&output.code);
        assert!(is_answered, "a target that asks for the secret elsewhere rejects every request: {output:?}");
        assert_no_secret(&home, &format!("{}{}", output.stdout, output.stderr));
        for format in ["terminal", "json", "md", "csv", "hlog"] {
            let output = home.run(&["report", "last", "--format", format]);
            assert_no_secret(&home, &format!("{}{}", output.stdout, output.stderr));
        }
        assert_no_secret(&home, &home.run(&["history"]).stdout);
    }
}

#[test]
fn secrets_are_not_in_errors() {
    let home = Home::new();
    let port = target::scripted::closed_port().expect("a port");
    let address = port.address();
    for url in [
        format!("http://user:{SECRET}@{address}/"),
        format!("http://user:{SECRET}@127.0.0.1:0/"),
        format!("ftp://user:{SECRET}@127.0.0.1/"),
        format!("http://user:{SECRET}@127.0.0.1:99999/"),
        format!("http://user:{SECRET}@8.8.8.8/"),
        format!("http://user:{SECRET}@no-such-host.invalid/"),
    ] {
        let output = home.run(&[&url]);
        assert!(matches!(output.code, Some(1 | 2)), "{output:?}");
        assert_no_secret(&home, &format!("{}{}", output.stdout, output.stderr));
    }
    for header in [format!("Authorization Bearer {SECRET}"), format!("Authorization: {SECRET}\r\nX: y")] {
        let output = home.run(&["http://127.0.0.1:1/", "-H", &header]);
        assert_eq!(output.code, Some(2), "{output:?}");
        assert_no_secret(&home, &output.stderr);
    }
}

#[test]
fn built_in_target_prints_its_address_and_its_counters() {
    let home = Home::new();
    let mut command = Command::new(TENBIN);
    command.args(["target", "--listen", "127.0.0.1:0"]);
    home.isolate(&mut command);
    let place = home.path().join("place");
    let mut child = command
        .stdout(File::create(&place).expect("a file"))
        .stderr(Stdio::piped())
        .spawn()
        .expect("started");
    let mut line = String::new();
    until("it says where", || {
        line = fs::read_to_string(&place).expect("UTF-8");
        line.ends_with('\n')
    });
    let url = line.split_whitespace().find(|word| word.starts_with("http://")).expect("a URL").to_owned();
    let run = home.json(&[&format!("{url}status"), "-n", "40", "-c", "2"]);
    assert_eq!(number(&run, "outcomes.ok"), 40);
    rustix::process::kill_process(rustix::process::Pid::from_child(&child), Signal::INT).expect("told");
    let mut farewell = String::new();
    std::io::Read::read_to_string(&mut child.stderr.take().expect("a pipe"), &mut farewell).expect("UTF-8");
    assert_eq!(child.wait().expect("an end").code(), Some(0));
    assert!(farewell.starts_with("40 requests on "), "{farewell}");
}
