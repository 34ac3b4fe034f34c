//! An interruption is not a failure of the system. After a signal at any moment, the study can be resumed, and none of its runs
//! failed.

use std::fs;
use std::os::unix::process::CommandExt;
use std::process::Command;
use std::thread;
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process_group};
use serde_json::Value;
use target::Running;

use crate::support::systems::assert_nothing_is_left;
use crate::support::{Home, Started, TENBIN, built_in, until};

/// A moment of a study at which it is interrupted. Its commands write the file `here`, and are slow until the file `go` exists.
struct Moment {
    name: &'static str,
    /// Load, system, and events. `{url}` is the URL of a running server.
    plan: &'static str,
}

const MOMENTS: [Moment; 6] = [
    Moment {
        name: "warm-up",
        plan: "load: { users: 2, warm-up: 3s, for: 500ms }\nsystems:\n  web: { url: '{url}' }\n",
    },
    Moment { name: "measuring", plan: "load: { users: 2, for: 3s }\nsystems:\n  web: { url: '{url}' }\n" },
    Moment {
        name: "during an event",
        plan: "load: { users: 2, for: 3s }\nevents: { backup: { at: 100ms } }\nsystems:\n  web:\n    url: '{url}'\n    events:\n      \
               backup: { run: [ sh, -c, 'touch {home}/here; test -e {home}/go || exec sleep 40' ], within: 50s }\n",
    },
    Moment {
        name: "while a system starts",
        plan: "load: { users: 2, for: 300ms }\nsystems:\n  web:\n    start: [ sh, -c, 'touch {home}/here; test -e {home}/go || sleep 40; \
               exec {tenbin} target --listen 127.0.0.1:{port}' ]\n    ready: { tcp: true, within: 50s }\n",
    },
    Moment {
        name: "while a system stops",
        plan: "load: { users: 2, for: 300ms }\nsystems:\n  web:\n    start: [ sh, -c, '{tenbin} target --listen 127.0.0.1:{port} & \
               trap \"touch {home}/here; test -e {home}/go || sleep 40; kill $!; exit\" TERM; while :; do sleep 0.1; done' ]\n    \
               stop: { signal: TERM, within: 3s }\n",
    },
    Moment {
        name: "between two runs",
        plan: "load: { users: 2, for: 300ms }\nsystems:\n  web:\n    before: \"sh -c 'if test -e {home}/ran; then touch {home}/here; \
               test -e {home}/go || sleep 40; fi; touch {home}/ran'\"\n    start: '{tenbin} target --listen 127.0.0.1:{port}'\n",
    },
];

/// Signals that are sent one after another, and the exit code.
const SIGNALS: [(&[Signal], i32); 5] = [
    (&[Signal::INT], 130),
    (&[Signal::INT, Signal::INT], 130),
    (&[Signal::TERM], 143),
    (&[Signal::HUP], 143),
    (&[Signal::HUP, Signal::TERM], 143),
];

impl Moment {
    fn write(&self, home: &Home, target: &Running) -> String {
        let url = format!("http://{}", target.address());
        let plan = self.plan.replace("{url}", &url).replace("{home}", &home.path().to_string_lossy());
        let text = format!("scenario: [ get: /status ]\n{plan}compare: {{ blocks: 2 }}\nseed: 1\n");
        let path = home.path().join("plan.yaml");
        fs::write(&path, text).expect("written");
        path.to_string_lossy().into_owned()
    }

    /// Waits until the study has reached the moment.
    fn wait(&self, home: &Home, target: &Running, program: &mut Started) {
        let is_loading = !self.plan.contains("{home}");
        let here = home.path().join("here");
        until(self.name, || {
            !program.is_running() || if is_loading { target.counters().requests >= 4 } else { here.exists() }
        });
        assert!(program.is_running(), "{}: it ended too early", self.name);
    }

    fn interrupt(&self, signals: &[Signal], code: i32) {
        let (home, target) = (Home::new(), built_in());
        let path = self.write(&home, &target);
        let mut program = home.start(&["run", &path]);
        self.wait(&home, &target, &mut program);
        for signal in signals {
            program.signal(*signal);
            thread::sleep(Duration::from_millis(100));
        }
        let what = format!("{}, {signals:?}", self.name);
        let output = program.finish();
        assert_eq!(output.code, Some(code), "{what}: {output:?}");
        assert_nothing_is_left(&home);
        let study = study(&home);
        assert_eq!(study["study"]["state"], "interrupted", "{what}: {study}");
        assert_blames_nobody(&what, &study);
        assert!(
            ["interrupted", ""].contains(&study["ending"].as_str().unwrap_or_default()),
            "{what}: {study}"
        );
        fs::write(home.path().join("go"), "").expect("written");
        let resumed = home.run(&["run", &path, "--resume"]);
        let study = self::study(&home);
        assert_eq!(study["study"]["state"], "complete", "{what}: {resumed:?}");
        assert_blames_nobody(&what, &study);
        let runs = study["runs"].as_array().expect("a list");
        let is_whole =
            |run: &Value| ["complete", "degraded", "invalid"].map(Value::from).contains(&run["verdict"]);
        assert!(runs.len() == 2 && runs.iter().all(is_whole), "{what}: {study}");
    }
}

fn study(home: &Home) -> Value {
    let id = home.history()[0]["id"].as_str().expect("a name").to_owned();
    home.json(&["report", &id])
}

#[track_caller]
fn assert_blames_nobody(what: &str, study: &Value) {
    assert_eq!(study["failures"], Value::Array(Vec::new()), "{what}");
    let runs = study["runs"].as_array().expect("a list");
    assert!(
        runs.iter().all(|run| run["failure"].is_null() && run["verdict"] != "aborted"),
        "{what}: {study}"
    );
}

#[test]
fn study_interrupted_at_any_moment_can_be_resumed() {
    thread::scope(|scope| {
        for moment in &MOMENTS {
            scope.spawn(move || SIGNALS.iter().for_each(|(signals, code)| moment.interrupt(signals, *code)));
        }
    });
}

#[test]
fn terminal_interrupts_its_whole_process_group() {
    let (home, target) = (Home::new(), built_in());
    let moment = &MOMENTS[2];
    let mut command = home.command(&["run", &moment.write(&home, &target)]);
    command.process_group(0);
    let mut program = Started::spawn(command);
    moment.wait(&home, &target, &mut program);
    let group = Pid::from_raw(program.pid() as i32).expect("a group");
    for _ in 0..2 {
        kill_process_group(group, Signal::INT).expect("told");
        thread::sleep(Duration::from_millis(100));
    }
    assert_eq!(program.finish().code, Some(130));
    let study = study(&home);
    assert_eq!(study["study"]["state"], "interrupted", "{study}");
    assert_blames_nobody("Ctrl-C twice", &study);
}

/// Python program that starts a command on a new terminal, waits for a file, closes the terminal, and prints the exit code.
const ON_A_TERMINAL: &str = "\
import os, pty, select, sys
pid, terminal = pty.fork()
if pid == 0:
    os.execv(sys.argv[2], sys.argv[2:])
while not os.path.exists(sys.argv[1]):
    if select.select([terminal], [], [], 0.01)[0]:
        os.read(terminal, 4096)
os.close(terminal)
print(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
";

#[test]
fn closed_terminal_interrupts_without_an_error() {
    let (home, target) = (Home::new(), built_in());
    let moment = &MOMENTS[2];
    let path = moment.write(&home, &target);
    let mut command = Command::new("python3");
    command.args(["-c", ON_A_TERMINAL]).arg(home.path().join("here")).args([TENBIN, "run", &path, "--store"]);
    command.arg(home.store());
    home.isolate(&mut command);
    let output = Started::spawn(command).finish();
    assert_eq!(output.stdout.trim(), "143", "{output:?}");
    let study = study(&home);
    assert_eq!(study["study"]["state"], "interrupted", "{study}");
    assert_blames_nobody("a closed terminal", &study);
}

#[test]
fn program_under_nohup_outlives_its_terminal() {
    let (home, target) = (Home::new(), built_in());
    let url = format!("http://{}/status", target.address());
    let mut command = Command::new("nohup");
    command.args([TENBIN, &url, "-c", "2", "-d", "1s", "--format", "json", "--store"]).arg(home.store());
    home.isolate(&mut command);
    let program = Started::spawn(command);
    until("the load begins", || target.counters().requests >= 4);
    program.signal(Signal::HUP);
    let output = program.finish();
    assert!(matches!(output.code, Some(0 | 4 | 6)), "{output:?}");
    assert_ne!(output.json()["verdict"], "partial", "{output:?}");
}
