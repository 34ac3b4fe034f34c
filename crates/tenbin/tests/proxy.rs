//! `tenbin proxy`: a load through it, its reports, and errors in its arguments.

use std::io::{BufRead, BufReader, Write};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::process::Command;
use std::time::Instant;

use rustix::process::Signal;
use serde_json::Value;

use crate::support::{Home, Output, Started, TENBIN, TIMEOUT, built_in, number};

fn proxy(home: &Home, arguments: &[&str]) -> Started {
    let mut command = Command::new(TENBIN);
    command.arg("proxy").args(arguments);
    home.isolate(&mut command);
    Started::spawn(command)
}

/// Waits until clients can connect to the socket.
#[track_caller]
fn wait_for(socket: &Path) {
    let begun = Instant::now();
    while !socket.exists() {
        assert!(begun.elapsed() < TIMEOUT, "{} does not appear", socket.display());
        std::thread::sleep(std::time::Duration::from_millis(5));
    }
}

#[test]
fn load_through_the_proxy_has_its_delay_and_the_proxy_reports_its_counters() {
    let (home, target) = (Home::new(), built_in());
    let (socket, address) = (home.path().join("front.sock"), target.address().to_string());
    let socket_text = socket.to_str().expect("UTF-8");
    let proxy = proxy(&home, &[socket_text, &address, "--rtt", "20ms", "--format", "json"]);
    wait_for(&socket);
    let run = home.json(&["http://localhost/status", "--unix-socket", socket_text, "-c", "4", "-n", "40"]);
    assert_eq!(number(&run, "outcomes.ok"), 40, "{run}");
    assert!(run["service_time_us"]["min"].as_f64().expect("a time") >= 20_000.0, "{run}");
    proxy.signal(Signal::INT);
    let output = proxy.finish();
    assert_eq!((output.code, output.stderr.as_str()), (Some(0), ""), "{output:?}");
    let lines: Vec<Value> =
        output.stdout.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
    let [listening, ended] = lines.as_slice() else { panic!("{output:?}") };
    assert_eq!((&listening["event"], &ended["event"]), (&"listening".into(), &"ended".into()));
    assert_eq!(listening["target"], address);
    // Before the load, one connection checks that the server is up.
    assert_eq!((number(ended, "connections"), number(ended, "resets")), (5, 0), "{ended}");
    assert!(number(ended, "bytes_to_clients") > 40 * 50 && ended["late"]["p50_us"].is_number(), "{ended}");
    assert!(!socket.exists());
}

#[test]
fn resets_are_in_the_summary_in_words() {
    let (home, target) = (Home::new(), built_in());
    let (socket, address) = (home.path().join("front.sock"), target.address().to_string());
    let socket_text = socket.to_str().expect("UTF-8");
    let proxy = proxy(&home, &[socket_text, &address, "--reset-after", "10", "--bandwidth", "1MB/s"]);
    wait_for(&socket);
    let output = home.run(&["http://localhost/status", "--unix-socket", socket_text, "-c", "1", "-n", "5"]);
    assert!(output.stdout.contains("none of 5 requests ended ok"), "{output:?}");
    proxy.signal(Signal::TERM);
    let output = proxy.finish();
    assert_eq!(output.code, Some(0), "{output:?}");
    assert!(output.stdout.contains("1,000,000 B/s each way per connection"), "{output:?}");
    assert!(output.stderr.contains("reset by the proxy"), "{output:?}");
}

fn refused(home: &Home, arguments: &[&str]) -> Output {
    let output = proxy(home, arguments).finish();
    assert_eq!((output.code, output.stdout.as_str()), (Some(2), ""), "{arguments:?}: {output:?}");
    output
}

#[test]
fn rejects_impossible_arguments_together() {
    let home = Home::new();
    for (arguments, said) in [
        (&["9000", "8.8.8.8:80"][..], "TARGET: 8.8.8.8 is a public address; the proxy uses loopback"),
        (&["0.0.0.0:9000", "80"], "LISTEN: 0.0.0.0 is no address of a server"),
        (&["9000", "http://localhost:80/x"], "write localhost:80 without http://"),
        (&["9000", "localhost"], "\"localhost\" is not an address"),
        (&["9000", "9000"], "connect to itself"),
        (&["9000", "0"], "has port 0"),
        (&["9000", "80", "--delay", "2h"], "--delay: 2h is more than the limit of 1h"),
        (&["9000", "80", "--bandwidth", "0"], "lets nothing pass"),
        (&["9000", "80", "--bandwidth", "fast"], "write it like 10MB/s"),
        (&["9000", "80", "--reset-after", "soon"], "neither a size nor a duration"),
        (&["9000", "80", "--reset-share", "5%"], "--reset-share: it needs --reset-after"),
        (&["9000", "80", "--reset-after", "1s", "--reset-share", "500%"], "write 0% to 100%"),
        (&["9000", "80", "--stall-after", "1s"], "--stall-after: it needs --stall-for"),
        (&["9000", "80", "--connections", "0"], "not from 1 to 1M"),
        (&["9000", "80", "--buffer", "1"], "not from 1KiB to 1GiB"),
        (&["9000", "80", "--format", "html"], "write terminal or json"),
        (&["9000", "80", "--delay", "1ms", "--rtt", "1ms"], "cannot be used with"),
    ] {
        let output = refused(&home, arguments);
        assert!(output.stderr.contains(said), "{arguments:?}: {output:?}");
    }
    let output = refused(&home, &["nowhere", "nothing", "--delay", "x"]);
    assert!(output.stderr.contains("3 errors"), "{output:?}");
}

#[test]
fn address_in_use_is_reported_with_help() {
    let (home, target) = (Home::new(), built_in());
    let address = target.address().to_string();
    let output = proxy(&home, &[&address, "9"]).finish();
    assert_eq!(output.code, Some(1), "{output:?}");
    assert!(output.stderr.contains(&format!("cannot listen on {address}: ")), "{output:?}");
    assert!(output.stderr.contains("help: choose another port"), "{output:?}");
}

#[test]
fn running_proxy_takes_orders_and_rejects_unknown_ones() {
    let (home, target) = (Home::new(), built_in());
    let (socket, control) = (home.path().join("front.sock"), home.path().join("front.control"));
    let (front, orders) = (socket.to_str().expect("UTF-8"), control.to_str().expect("UTF-8"));
    let address = target.address().to_string();
    let proxy = proxy(&home, &[front, &address, "--delay", "1ms", "--control", orders]);
    wait_for(&control);
    let mut stream = UnixStream::connect(&control).expect("it listens");
    stream.set_read_timeout(Some(TIMEOUT)).expect("set");
    let mut answers = BufReader::new(stream.try_clone().expect("a second one"));
    let mut order = |text: &str| {
        stream.write_all(format!("{text}\n").as_bytes()).expect("sent");
        let mut line = String::new();
        answers.read_line(&mut line).expect("an answer");
        serde_json::from_str::<Value>(&line).expect("JSON")
    };
    let fastest_us = || {
        let run = home.json(&["http://localhost/status", "--unix-socket", front, "-c", "1", "-n", "3"]);
        assert_eq!(number(&run, "outcomes.ok"), 3, "{run}");
        run["service_time_us"]["min"].as_f64().expect("a time")
    };
    assert_eq!(order(r#"{"order":"change","delay":"30ms"}"#)["ok"], true);
    assert!(fastest_us() >= 60_000.0);
    for wrong in
        ["x", "[]", r#"{"order":"explode"}"#, r#"{"order":"change","delay":7}"#, r#"{"order":"stall"}"#]
    {
        let answer = order(wrong);
        assert!(answer["ok"] == false && answer["error"].is_string(), "{wrong}: {answer}");
    }
    for both in [["cut", "mend"], ["reset", "restore"]] {
        for name in both {
            assert_eq!(order(&format!(r#"{{"order":"{name}"}}"#))["ok"], true, "{name}");
        }
    }
    assert!((2_000.0..60_000.0).contains(&fastest_us()), "the delay of the start again");
    let counters = order(r#"{"order":"counters"}"#);
    assert!(number(&counters, "connections") >= 2 && counters["event"] == "counters", "{counters}");
    proxy.signal(Signal::TERM);
    assert_eq!(proxy.finish().code, Some(0));
    assert!(!control.exists() && !socket.exists());
}

#[test]
fn stall_that_is_interrupted_before_it_begins_is_not_counted() {
    let (home, target) = (Home::new(), built_in());
    let socket = home.path().join("front.sock");
    let front = socket.to_str().expect("UTF-8");
    let address = target.address().to_string();
    let proxy =
        proxy(&home, &[front, &address, "--stall-after", "60s", "--stall-for", "9s", "--format", "json"]);
    wait_for(&socket);
    proxy.signal(Signal::INT);
    let output = proxy.finish();
    let ended: Value = serde_json::from_str(output.stdout.lines().last().expect("a line")).expect("JSON");
    assert_eq!((&ended["event"], number(&ended, "stalls")), (&"ended".into(), 0), "{ended}");
}
