//! Requests that are lost when the events of a plan reset a server's connections, kill it, or restart it, compared with the server's log.
//! The log survives the server: a file with one byte for each request that was read completely, was answered, or could not be answered.
//!
//! `LOST_REQUESTS_CASES=50 cargo test -p tenbin --test all lost_requests` runs 50 cases.

use std::collections::HashMap;
use std::env;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

use serde_json::Value;
use signal_hook::consts::SIGUSR1;
use signal_hook::iterator::Signals;

use crate::support::Home;
use crate::support::systems::assert_nothing_is_left;

/// Environment variable with the path of the log, for the server process.
const LOG: &str = "LOST_REQUESTS_LOG";
/// Environment variable with the port of the server process.
const PORT: &str = "LOST_REQUESTS_PORT";
const CONNECTIONS: u64 = 64;
/// Largest distance between the clocks of the load, its events, and its request log, in milliseconds.
const CLOCKS_MS: f64 = 200.0;

/// Event at the server during a load.
#[derive(Clone, Copy, Debug)]
enum Act {
    Reset,
    Kill,
    Restart,
}

impl Act {
    /// Events of the plan, and the actions of the system. What is usual is known from the three seconds before an event.
    fn events(self) -> [&'static str; 2] {
        match self {
            Self::Reset => {
                ["act: { at: 3200ms }", "act: { signal: USR1, until: { log: connections were reset } }"]
            }
            Self::Kill => [
                "act: { at: 3200ms }, up: { after: act, delay: 150ms }",
                "act: { kill: web }, up: { start: web }",
            ],
            Self::Restart => ["act: { at: 3200ms }", "act: { restart: web }"],
        }
    }
}

/// Answers each request of a connection after 4 ms, and logs it.
fn serve(socket: &TcpStream, log: &File) -> Option<()> {
    let (mut socket, mut log) = (socket, log);
    let (mut request, mut piece) = (Vec::new(), [0; 1024]);
    loop {
        while !request.ends_with(b"\r\n\r\n") {
            let count = socket.read(&mut piece).ok().filter(|count| *count > 0)?;
            request.extend_from_slice(&piece[..count]);
        }
        request.clear();
        log.write_all(b"r").ok()?;
        thread::sleep(Duration::from_millis(4));
        // Logged before sending, so a server killed in between seems to have answered more requests than it did.
        log.write_all(b"a").ok()?;
        if socket.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok").is_err() {
            log.write_all(b"u").ok()?;
            return None;
        }
    }
}

/// Server in a separate process. Passes at once as a test.
#[test]
fn serves_and_logs() {
    let (Ok(path), Ok(port)) = (env::var(LOG), env::var(PORT)) else { return };
    let mut signals = Signals::new([SIGUSR1]).expect("a signal");
    let log = Arc::new(OpenOptions::new().append(true).create(true).open(path).expect("the log"));
    let listener = TcpListener::bind(("127.0.0.1", port.parse().expect("a port"))).expect("the port");
    let sockets: Arc<Mutex<HashMap<usize, TcpStream>>> = Arc::default();
    let accepted = Arc::clone(&sockets);
    thread::spawn(move || {
        for (number, socket) in listener.incoming().flatten().enumerate() {
            socket.set_nodelay(true).expect("an option");
            let (log, sockets) = (Arc::clone(&log), Arc::clone(&accepted));
            let shared = socket.try_clone().expect("a descriptor");
            sockets.lock().expect("no thread died").insert(number, shared);
            thread::spawn(move || {
                serve(&socket, &log);
                sockets.lock().expect("no thread died").remove(&number);
            });
        }
    });
    for _ in signals.forever() {
        for socket in sockets.lock().expect("no thread died").values() {
            // Disconnecting a TCP socket resets its connection.
            let _ = rustix::net::connect_unspec(socket);
        }
        writeln!(io::stdout(), "connections were reset").expect("written");
    }
}

/// The only run of a plan whose events act on the server during a load, with its request log in JMeter's format.
fn load(home: &Home, act: Act, per_s: u32, log: &Path) -> (Value, String) {
    let exe = env::current_exe().expect("this program");
    let [events, actions] = act.events();
    let plan = format!(
        "scenario: [ get: / ]\nload: {{ rate: {per_s}/s, connections: {CONNECTIONS}, timeout: 3s, warm-up: 0s, for: 4500ms, \
         log-requests: 10000 }}\nevents: {{ {events} }}\nsystems:\n  web:\n    start: [ env, '{PORT}={{port}}', {exe:?}, --exact, \
         'lost_requests::serves_and_logs', --nocapture ]\n    env: {{ {LOG}: {log:?} }}\n    events: {{ {actions} }}\n\
         compare: {{ blocks: 1 }}\n"
    );
    let path = home.path().join("plan.yaml");
    fs::write(&path, plan).expect("written");
    // A degraded run has another exit code.
    let output = home.run(&["run", &path.to_string_lossy(), "--format", "json"]);
    let study: Value = serde_json::from_str(&output.stdout).unwrap_or_else(|_| panic!("{output:?}"));
    assert_nothing_is_left(home);
    let run = study["runs"][0].clone();
    assert!(run["failure"].is_null(), "{run}");
    let id = run["run"]["id"].as_str().expect("an ID");
    (run.clone(), home.run(&["report", id, "--format", "jtl"]).stdout)
}

/// Number of requests that the server read completely and did not answer.
fn unanswered(log: &Path) -> u64 {
    let log = fs::read(log).expect("the log");
    let count = |byte: u8| log.iter().filter(|logged| **logged == byte).count() as u64;
    count(b'r') - (count(b'a') - count(b'u'))
}

/// Requests lost on a connection in the costs of all events, and stale ones.
fn lost(run: &Value) -> [u64; 2] {
    let events = run["events"].as_array().expect("a list");
    let of = |class: &str| -> u64 {
        events.iter().filter_map(|event| event["cost"]["lost_by_class"][class].as_u64()).sum()
    };
    [of("timed_out") + of("reset") + of("other"), of("stale_reuse")]
}

/// Number of requests that were sent, got no reply, and were under way while an event acted.
fn in_flight(run: &Value, jtl: &str) -> u64 {
    let rows = || jtl.lines().skip(1).map(|line| line.split(',').collect::<Vec<_>>());
    let begun_ms = rows().filter_map(|row| row[0].parse::<f64>().ok()).fold(f64::INFINITY, f64::min);
    let times: Vec<[f64; 2]> = run["events"]
        .as_array()
        .expect("a list")
        .iter()
        .map(|event| ["begun_s", "ended_s"].map(|key| event[key].as_f64().expect("a time") * 1e3))
        .collect();
    let is_in_flight = |row: &Vec<&str>| {
        let [at_ms, lasting_ms] = [row[0], row[1]].map(|text| text.parse::<f64>().unwrap_or(f64::NAN));
        let from_ms = at_ms - begun_ms;
        let overlaps =
            |[from, to]: &[f64; 2]| from_ms <= *to + CLOCKS_MS && from_ms + lasting_ms + CLOCKS_MS >= *from;
        let is_sent = row[10] != "0";
        is_sent && row[3] != "200" && times.iter().any(overlaps)
    };
    rows().filter(is_in_flight).count() as u64
}

#[test]
fn lost_requests_of_events_lie_between_unanswered_and_in_flight() {
    let cases: usize = env::var("LOST_REQUESTS_CASES").ok().and_then(|text| text.parse().ok()).unwrap_or(4);
    for case in 0..cases {
        let home = Home::new();
        let act = [Act::Reset, Act::Kill, Act::Restart][case % 3];
        let per_s = [500, 1_500, 3_000, 5_000][case % 4];
        let log = home.path().join("log");
        let (run, jtl) = load(&home, act, per_s, &log);
        let ([lost, stale], unanswered, in_flight) = (lost(&run), unanswered(&log), in_flight(&run, &jtl));
        let figures = format!(
            "{act:?} at {per_s}/s: received and not answered {unanswered}, lost {lost}, stale {stale}, in flight without a reply \
             {in_flight}"
        );
        writeln!(io::stdout(), "{figures}").expect("written");
        let events = &run["events"];
        assert!(run["outcomes"]["ok"].as_u64() > Some(300), "{figures}: {run}");
        assert!(lost >= unanswered, "{figures}: {events}");
        assert!(lost <= in_flight, "{figures}: {events}");
    }
}
