//! Requests that are lost when a server resets its connections, is killed, or is restarted, compared with the server's log. The log
//! survives the server: a file with one byte for each request that was read completely, was answered, or could not be answered.
//!
//! `LOST_REQUESTS_CASES=50 cargo test -p engine --test all lost_requests` runs 50 cases.

use std::collections::HashMap;
use std::env;
use std::fs::{self, File, OpenOptions};
use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use record::Loss;

use crate::support::{Done, MS, finish, get, limit, open, reply, tcp};

/// Environment variable with the path of the log, for the server process.
const LOG: &str = "LOST_REQUESTS_LOG";
/// Environment variable with the port of the server process.
const PORT: &str = "LOST_REQUESTS_PORT";
const CONNECTIONS: u32 = 64;

/// Event at the server during a load.
#[derive(Clone, Copy, Debug)]
enum Act {
    Reset,
    Kill,
    Restart,
}

/// Server in a process of its own. Dropping it kills the process.
struct Serving {
    child: Child,
    address: SocketAddr,
    log: PathBuf,
}

impl Serving {
    /// Starts the server on a port (0 for any), and waits until it listens.
    fn start(log: &Path, port: u16) -> Self {
        let mut child = Command::new(env::current_exe().expect("this program"))
            .args(["--exact", "lost_requests::serves_and_logs", "--nocapture"])
            .envs([(LOG, log.as_os_str()), (PORT, port.to_string().as_ref())])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("a process");
        let mut lines = BufReader::new(child.stdout.take().expect("a pipe")).lines().map_while(Result::ok);
        let line = lines.find_map(|line| Some(line.split_once("listens on ")?.1.to_owned()));
        let address = line.expect("it listens").parse().expect("an address");
        Self { child, address, log: log.to_owned() }
    }

    fn kill(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }

    fn reset_connections(&mut self) {
        let stdin = self.child.stdin.as_mut().expect("a pipe");
        stdin.write_all(b"reset\n").expect("it listens to this");
    }

    /// Number of requests that the server read completely and did not answer.
    fn unanswered(&self) -> u64 {
        let log = fs::read(&self.log).expect("the log");
        let count = |byte: u8| log.iter().filter(|logged| **logged == byte).count() as u64;
        count(b'r') - (count(b'a') - count(b'u'))
    }
}

impl Drop for Serving {
    fn drop(&mut self) {
        self.kill();
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
        if socket.write_all(&reply(200, "ok")).is_err() {
            log.write_all(b"u").ok()?;
            return None;
        }
    }
}

#[test]
fn serves_and_logs() {
    let (Ok(path), Ok(port)) = (env::var(LOG), env::var(PORT)) else { return };
    let log = Arc::new(OpenOptions::new().append(true).create(true).open(path).expect("the log"));
    let listener = TcpListener::bind(("127.0.0.1", port.parse().expect("a port"))).expect("the port");
    writeln!(io::stdout(), "\nlistens on {}", listener.local_addr().expect("an address")).expect("written");
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
    for line in std::io::stdin().lines().map_while(Result::ok) {
        if line == "reset" {
            for socket in sockets.lock().expect("no thread died").values() {
                // Disconnecting a TCP socket resets its connection.
                let _ = rustix::net::connect_unspec(socket);
            }
        }
    }
}

/// Runs a load at a rate, during which `act` happens twice. Also returns the times of these events since the start of the load.
fn load(act: Act, per_s: f64, serving: &mut Serving) -> (Done, Vec<(u64, u64)>) {
    let mut job = open(tcp(serving.address), per_s, 1_600 * MS, CONNECTIONS);
    (job.keeps_course, job.log_per_second, job.timeout_ns) = (true, 100_000, 3_000 * MS);
    let limit = limit(&job);
    let begun = Instant::now();
    let running = engine::start(job, get("/")).expect("threads");
    let mut times = Vec::new();
    for at in [Duration::from_millis(500), Duration::from_millis(1_000)] {
        thread::sleep((begun + at).saturating_duration_since(Instant::now()));
        let from = begun.elapsed();
        match act {
            Act::Reset => serving.reset_connections(),
            Act::Kill | Act::Restart => {
                serving.kill();
                let down = if let Act::Kill = act { 150 } else { 0 };
                thread::sleep(Duration::from_millis(down));
                *serving = Serving::start(&serving.log, serving.address.port());
            }
        }
        times.push((from.as_nanos() as u64, begun.elapsed().as_nanos() as u64));
    }
    (finish(running, limit), times)
}

/// Number of requests lost on a connection, and number of requests that got no connection.
fn lost(done: &Done) -> (u64, u64) {
    let of = |is_meant: fn(Loss) -> bool| {
        let losses = done.moments.iter().flat_map(|moment| &moment.losses);
        losses.filter(|((loss, _), _)| is_meant(*loss)).map(|(_, count)| *count).sum()
    };
    (of(|loss| !matches!(loss, Loss::StaleReuse | Loss::Connect)), of(|loss| loss == Loss::Connect))
}

#[test]
fn lost_requests_lie_between_unanswered_and_in_flight() {
    let cases: usize = env::var("LOST_REQUESTS_CASES").ok().and_then(|text| text.parse().ok()).unwrap_or(4);
    let dir = tempfile::tempdir().expect("a folder");
    for case in 0..cases {
        let act = [Act::Reset, Act::Kill, Act::Restart][case % 3];
        let per_s = [500.0, 1_500.0, 3_000.0, 5_000.0][case % 4];
        let mut serving = Serving::start(&dir.path().join(case.to_string()), 0);
        let (done, times) = load(act, per_s, &mut serving);
        serving.kill();
        let ((lost, unconnected), unanswered) = (lost(&done), serving.unanswered());
        // The load begins shortly after `start` returns.
        let is_in_flight = |sent_ns: u64, finished_ns: u64| {
            times.iter().any(|(from_ns, to_ns)| sent_ns <= *to_ns && finished_ns + 200 * MS >= *from_ns)
        };
        let finishes = done.sampled.iter().map(|sampled| sampled.finish);
        let in_flight =
            finishes.filter(|of| of.status == 0 && is_in_flight(of.sent_ns, of.finished_ns)).count();
        let figures = format!(
            "{act:?} at {per_s}/s: received and not answered {unanswered}, lost {lost}, not connected {unconnected}, stale {}, in \
             flight without a reply {in_flight}, of at most {}",
            done.errors("stale_reuse"),
            2 * CONNECTIONS
        );
        writeln!(io::stdout(), "{figures}").expect("written");
        assert!(done.tally.counts.ok > 300, "{figures}: {:?}", done.tally.counts);
        assert!(lost >= unanswered, "{figures}: {:?}", done.classes());
        assert!(
            lost <= (in_flight as u64).min(u64::from(2 * CONNECTIONS)),
            "{figures}: {:?}",
            done.classes()
        );
    }
}
