//! Connections that concentrate on few processes of a system are reported with a remedy. Waiting for a steady system avoids them.

use std::fs;
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::os::unix::process::CommandExt as _;
use std::process::{Child, Command};

use rustix::process::{Pid, Signal, kill_process_group};
use serde_json::Value;

use crate::support::{Home, causes, until};
use harness::quiet::assert_measured;

/// Forks servers that keep connections alive. All but the first work for 0.7 s before they accept connections.
///
/// `own`: each listens on a separate socket. `late`: like `own`, but all but the first listen only once the load has its connections.
/// `helpers`: all but the first inherit the socket, and never accept connections.
const SERVER: &str = r#"
import os, selectors, socket, sys, time
port, count, mode = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3]

def listener():
    s = socket.socket()
    s.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    if mode in ("own", "late"):
        s.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
    s.bind(("127.0.0.1", port))
    s.listen(1024)
    s.setblocking(False)
    return s

def serve(s):
    selector = selectors.EpollSelector()
    selector.register(s, selectors.EVENT_READ)
    accepted = 0
    while True:
        for key, _ in selector.select():
            if key.fileobj is s:
                time.sleep(0.0005)
                try:
                    selector.register(s.accept()[0], selectors.EVENT_READ)
                    accepted += 1
                    if accepted == 48:
                        open("full", "w").close()
                except BlockingIOError:
                    pass
            else:
                data = key.fileobj.recv(65536)
                if data:
                    key.fileobj.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
                else:
                    selector.unregister(key.fileobj)
                    key.fileobj.close()

shared = None if mode in ("own", "late") else listener()
for number in range(count):
    if os.fork() == 0:
        if number > 0 and mode == "helpers":
            time.sleep(60)
        while number > 0 and mode == "late" and not os.path.exists("full"):
            time.sleep(0.01)
        begun = time.monotonic()
        while number > 0 and time.monotonic() - begun < 0.7:
            pass
        serve(shared or listener())
time.sleep(60)
"#;

/// The only run of a plan with this number of processes.
fn run(home: &Home, mode: &str, processes: u32, ready: &str) -> Value {
    fs::write(home.path().join("server.py"), SERVER).expect("written");
    let plan = format!(
        "scenario: [ get: / ]\nload: {{ users: 48, think: 5ms, for: 2s }}\nsystems:\n  forks:\n    \
         start: python3 server.py {{port}} {processes} {mode}\n    in: .\n    ready: {{ {ready} }}\ncompare: {{ blocks: 1 }}\n"
    );
    let path = home.path().join(format!("{mode}{processes}.yaml"));
    fs::write(&path, plan).expect("written");
    // A busy machine makes the run invalid, which does not affect its connections.
    home.run(&["run", &path.to_string_lossy(), "--format", "json"]).json()["runs"][0].clone()
}

/// Processes of a server that Tenbin does not start. Dropping it ends them.
struct RunningServer {
    child: Child,
    url: String,
}

impl RunningServer {
    fn start(home: &Home, mode: &str, processes: u32) -> Self {
        fs::write(home.path().join("server.py"), SERVER).expect("written");
        let free =
            TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("a port").local_addr().expect("its port");
        let mut command = Command::new("python3");
        command.args(["server.py", &free.port().to_string(), &processes.to_string(), mode]);
        home.isolate(&mut command);
        let child = command.process_group(0).spawn().expect("started");
        until("the server accepts connections", || TcpStream::connect(free).is_ok());
        Self { child, url: format!("http://{free}/") }
    }
}

impl Drop for RunningServer {
    fn drop(&mut self) {
        let _ = kill_process_group(Pid::from_child(&self.child), Signal::KILL);
        let _ = self.child.wait();
    }
}

fn uneven(run: &Value) -> Option<&str> {
    let causes = run["validity"]["causes"].as_array().expect("a list");
    let cause = causes.iter().find(|cause| cause["code"] == "uneven_connections")?;
    assert!(cause["remedy"].as_str().is_some_and(|remedy| remedy.contains("--connection-lifetime 5s")));
    cause["sentence"].as_str()
}

#[test]
fn connections_on_the_first_of_several_processes_are_reported() {
    assert_measured(|| {
        let home = Home::new();
        for (mode, processes) in [("shared", 2), ("own", 4)] {
            let run = run(&home, mode, processes, "steady: false");
            let expected = format!(
                "1 of {processes} processes that can accept connections holds all 48 connections of the load, during the whole load"
            );
            assert_eq!(uneven(&run), Some(expected.as_str()), "{run}");
            assert!(run.get("steady_start").is_none(), "{run}");
        }
    });
}

#[test]
fn processes_that_listen_late_on_a_running_server_are_reported() {
    assert_measured(|| {
        for processes in [2, 4] {
            let home = Home::new();
            let server = RunningServer::start(&home, "late", processes);
            let run = home.run(&[&*server.url, "-c", "48", "-d", "3s", "--format", "json"]).json();
            let expected = format!(
                "1 of {processes} processes that can accept connections holds all 48 connections of the load, during the whole load"
            );
            assert_eq!(uneven(&run), Some(expected.as_str()), "{run}");
        }
    });
}

#[test]
fn load_waits_for_starting_processes_and_connections_are_even() {
    let home = Home::new();
    for mode in ["shared", "own"] {
        let run = run(&home, mode, 4, "steady: 30s");
        assert_eq!(uneven(&run), None, "{run}");
        let start = &run["steady_start"];
        assert!(start["is_steady"] == true && start["waited_s"].as_f64() > Some(0.5), "{start}");
        assert_eq!(run["connections_by_process"]["processes"].as_array().map(Vec::len), Some(4), "{run}");
    }
}

#[test]
fn helpers_that_never_accept_connections_do_not_count() {
    let home = Home::new();
    let run = run(&home, "helpers", 3, "steady: true");
    assert!(!causes(&run).contains(&"uneven_connections"), "{run}");
    let processes = run["connections_by_process"]["processes"].as_array().expect("a list");
    assert_eq!(processes.len(), 1, "{run}");
}
