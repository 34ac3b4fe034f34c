//! Tests that garbage collections and contended monitors of a real Java virtual machine are read from outside.

use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use lab::probes::{Subject, Watch};

/// Four threads that allocate, and take turns at one monitor.
const PROGRAM: &str = r"
public class Busy {
    static final Object TURN = new Object();
    static byte[][] kept = new byte[64][];
    static void run() {
        for (int i = 0; ; i++) {
            synchronized (TURN) {
                kept[i % kept.length] = new byte[100_000];
                try { Thread.sleep(1); } catch (InterruptedException e) { return; }
            }
        }
    }
    public static void main(String[] words) {
        for (int i = 0; i < 4; i++) new Thread(Busy::run).start();
    }
}
";
/// A virtual machine starts within this time, also on a busy machine.
const LONG: Duration = Duration::from_secs(60);

/// A shell that acts as a keeper. It ends its child when its input ends.
struct Keeper(Child);

impl Drop for Keeper {
    fn drop(&mut self) {
        drop(self.0.stdin.take());
        self.0.wait().unwrap();
    }
}

/// Starts the program in this folder.
fn start(folder: &Path) -> Keeper {
    let source = folder.join("Busy.java");
    std::fs::write(&source, PROGRAM).unwrap();
    let java = Command::new("java").arg("-version").stderr(Stdio::null()).status();
    assert!(java.is_ok(), "a Java runtime is needed: apt-get install openjdk-17-jdk-headless");
    let script = format!("java -Xmx32m '{}' < /dev/null & read end; kill $!; wait", source.display());
    let mut shell = Command::new("sh");
    shell.args(["-c", &script]).stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null());
    Keeper(shell.spawn().unwrap())
}

#[test]
fn thread_dumps_of_an_instrumented_run_name_the_monitor_and_its_holder() {
    let folder = tempfile::tempdir().unwrap();
    let keeper = start(folder.path());
    let roots = vec![("app".into(), keeper.0.id())];
    let instruments = Some(folder.path().to_owned());
    let watch = Watch::begin(Subject { roots, instruments, ..Subject::default() });
    let end = Instant::now() + LONG;
    let (mut waiters, mut held) = (0.0_f64, false);
    while waiters < 2.0 || !held {
        assert!(Instant::now() < end, "{waiters} threads waited");
        thread::sleep(Duration::from_millis(50));
        for reading in watch.take().iter().flat_map(|look| &look.readings) {
            let is_of_turn = reading.label.contains("java.lang.Object in Busy.run(Busy.java:");
            match reading.metric {
                "jvm_monitor_waiters" if is_of_turn => waiters = waiters.max(reading.value),
                "jvm_monitor_holder" if is_of_turn => held |= reading.label.contains(" holds "),
                _ => {}
            }
        }
    }
}

#[test]
fn collections_and_contended_monitors_are_counted() {
    let folder = tempfile::tempdir().unwrap();
    let keeper = start(folder.path());
    let watch = Watch::begin(Subject { roots: vec![("app".into(), keeper.0.id())], ..Subject::default() });
    let end = Instant::now() + LONG;
    let (mut collections, mut collecting_s, mut contended) = (0.0, 0.0, 0.0);
    while collections < 2.0 || collecting_s == 0.0 || contended < 100.0 {
        assert!(Instant::now() < end, "{collections} collections of {collecting_s} s, {contended} contended");
        thread::sleep(Duration::from_millis(50));
        for reading in watch.take().iter().flat_map(|look| &look.readings).filter(|one| one.subject == "app")
        {
            match reading.metric {
                "jvm_gc_runs" => collections += reading.value,
                "jvm_gc_s" => collecting_s += reading.value,
                "jvm_contended_monitors" => contended += reading.value,
                "jvm_processes" => assert_eq!(reading.value, 1.0),
                _ => {}
            }
        }
    }
}
