//! Tests that a system that already runs is found by its listening socket, and measured with its descendants but without Tenbin.

use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use lab::listening::ListenAddress;
use lab::probes::{Look, Subject, Watch};
use lab::running::{self, SearchedSystem, SystemLocator};

use crate::support::{Bench, LONG, SUBJECT, wait_until};

/// A listener below a shell. The shell ends the listener and itself when its input ends.
struct Server(Child);

impl Drop for Server {
    fn drop(&mut self) {
        drop(self.0.stdin.take());
        self.0.wait().unwrap();
    }
}

fn value(look: &Look, subject: &str, metric: &str) -> Option<f64> {
    let mut readings = look.readings.iter();
    readings.find(|r| r.subject == subject && r.metric == metric).map(|reading| reading.value)
}

fn serve(path: &str) -> Server {
    let script = format!("'{SUBJECT}' unix '{path}' < /dev/null & read end; kill $!; wait");
    let mut shell = Command::new("sh");
    shell.arg("-c").arg(script).stdin(Stdio::piped()).stdout(Stdio::null());
    Server(shell.spawn().unwrap())
}

/// Waits for a look that satisfies `is_so`.
fn until(watch: &Watch, is_so: impl Fn(&Look) -> bool) -> Look {
    let (end, mut last) = (Instant::now() + LONG, None);
    while Instant::now() < end {
        for look in watch.take() {
            if is_so(&look) {
                return look;
            }
            last = Some(look);
        }
        thread::sleep(Duration::from_millis(20));
    }
    panic!("it did not come: {last:#?}");
}

#[test]
fn listener_is_measured_and_found_again_after_a_restart() {
    let bench = Bench::new();
    let path = bench.path("app.sock");
    let at = path.display().to_string();
    let by = SystemLocator::Listening(vec![ListenAddress::Unix(path.clone())]);
    let server = serve(&at);
    wait_until("the socket", || running::find(&by).is_ok());
    let found = running::find(&by);
    let name = found.as_ref().map(|running| running.name.clone()).unwrap();
    assert_eq!(name, "lab-subject");
    let watch = Watch::begin(Subject {
        running: Some(SearchedSystem { by, found }),
        unix_sockets: vec![path.clone()],
        ..Subject::default()
    });
    let look =
        until(&watch, |look| value(look, &name, "thread_samples").is_some_and(|samples| samples > 0.0));
    assert_eq!(value(&look, &name, "processes"), Some(1.0), "without the shell above it, and this process");
    assert_eq!(value(&look, "system", "processes"), Some(1.0));
    assert!(value(&look, "system", "rss_bytes").is_some_and(|bytes| bytes > 0.0));
    assert!(value(&look, &name, "threads_accept").is_some(), "{look:#?}");
    drop(server);
    until(&watch, |look| value(look, "system", "processes") == Some(0.0));
    std::fs::remove_file(&path).unwrap();
    let _server = serve(&at);
    until(&watch, |look| value(look, "system", "processes") == Some(1.0));
    assert!(watch.end().1.iter().all(|missing| missing.probe != "processes of the system"));
}

#[test]
fn system_that_is_not_found_has_a_reason_instead_of_readings() {
    let bench = Bench::new();
    let by = SystemLocator::Listening(vec![ListenAddress::Unix(bench.path("nobody.sock"))]);
    let found = running::find(&by);
    let (looks, missing) =
        Watch::begin(Subject { running: Some(SearchedSystem { by, found }), ..Subject::default() }).end();
    assert!(looks[0].readings.iter().all(|reading| reading.subject != "system"));
    let reason = missing.iter().find(|missing| missing.probe == "processes of the system");
    assert!(reason.is_some_and(|reason| reason.because.starts_with("no socket listens on ")), "{missing:?}");
}
