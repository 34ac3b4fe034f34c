//! Tests of the effects and failures of events, and that no event outlives the load.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use lab::events::{
    Action, Event, Lock, Moment, OUTPUT_BYTES_MAX, Occurrence, Reload, Sign, Signalled, Timeline,
};
use lab::{Recipe, Signal, System, When};

use crate::support::{Bench, LONG, text, wait_until};

/// Server that writes a line for each HUP, and ends on TERM.
const SERVER: &str =
    "trap 'echo got HUP' HUP; trap 'exit 0' TERM; echo started; while :; do sleep 0.05; done";

fn event(name: &str, action: Action) -> Event {
    let moment = Moment::At { first: Duration::from_millis(30), every: Duration::ZERO, times: 1 };
    Event { name: name.to_owned(), moment, action, until: None, within: LONG }
}

fn run(bench: &Bench, script: &str) -> Action {
    Action::Run { command: bench.sh(script), lock: None }
}

fn says(process: &str, text: &str) -> Option<Sign> {
    Some(Sign::Text { process: process.to_owned(), text: text.to_owned() })
}

fn hup(process: &str) -> Signalled {
    Signalled { process: process.to_owned(), signal: Signal::named("HUP").expect("a signal") }
}

fn server(bench: &Bench) -> Recipe {
    let web = bench.process("web", bench.sh(SERVER), When::Log("started".to_owned()));
    bench.recipe(vec![web])
}

fn started(recipe: Recipe) -> System {
    lab::start(recipe, &|| false).expect("it starts")
}

/// Runs all events to their end. Returns the last state of each occurrence, ordered by name.
fn all(system: &System, events: Vec<Event>) -> Vec<Occurrence> {
    let count = events.len();
    let mut timeline = Timeline::begin(system, events, Instant::now()).expect("threads");
    let mut told: Vec<Occurrence> = Vec::new();
    let until = Instant::now() + LONG;
    while told.iter().filter(|one| one.ended_ns.is_some() || one.failure.is_some()).count() < count {
        assert!(Instant::now() < until, "they never end: {told:?}");
        told.extend(timeline.take());
        std::thread::sleep(Duration::from_millis(5));
    }
    told.extend(timeline.end());
    last(told)
}

fn last(told: Vec<Occurrence>) -> Vec<Occurrence> {
    let mut last: Vec<Occurrence> = Vec::new();
    for one in told {
        last.retain(|other| (&other.name, other.occurrence) != (&one.name, one.occurrence));
        last.push(one);
    }
    last.sort_by(|one, other| (&one.name, one.occurrence).cmp(&(&other.name, other.occurrence)));
    last
}

fn flaw(happened: &Occurrence) -> &str {
    happened.failure.as_deref().unwrap_or_else(|| panic!("it did not fail: {happened:?}"))
}

#[test]
fn command_and_signal_are_reported_with_times_and_output() {
    let bench = Bench::new();
    let mut system = started(server(&bench));
    let reload = Event { until: says("web", "got HUP"), ..event("reload", Action::Signal(hup("web"))) };
    let echo = event("backup", run(&bench, "echo saved; exit 0"));
    let told = all(&system, vec![reload, echo]);
    let [backup, reload] = &told[..] else { panic!("{told:?}") };
    assert_eq!((backup.exit, backup.signal, &backup.failure), (Some(0), None, &None));
    assert_eq!((&backup.output[..], backup.dropped_bytes), (&b"saved\n"[..], 0));
    for one in [backup, reload] {
        let times = (one.planned_ns, one.begun_ns, one.ended_ns);
        let (Some(planned), Some(begun), Some(ended)) = times else { panic!("{one:?}") };
        assert_eq!(planned, 30_000_000);
        assert!(planned <= begun && begun <= ended, "{one:?}");
    }
    assert_eq!(reload.failure, None);
    assert!(system.died().is_none());
    system.stop();
    bench.assert_clean();
}

#[test]
fn failing_hanging_and_flooding_commands_are_reported_and_bounded() {
    let bench = Bench::new();
    let system = started(server(&bench));
    let hang = "trap '' TERM; sleep 60 & while :; do sleep 1; done";
    let events = vec![
        event("fails", run(&bench, "echo wrong >&2; exit 3")),
        event("floods", run(&bench, "head -c 20000000 /dev/zero | tr '\\0' x; echo end")),
        Event { within: Duration::from_millis(300), ..event("hangs", run(&bench, hang)) },
        event("missing", Action::Run { command: bench.command(&["/no/such/program"]), lock: None }),
        event("unknown", Action::Stop("nobody".to_owned())),
    ];
    let told = all(&system, events);
    let [fails, floods, hangs, missing, unknown] = &told[..] else { panic!("{told:?}") };
    assert_eq!((fails.exit, &fails.output[..]), (Some(3), &b"wrong\n"[..]));
    assert!(flaw(fails).contains("exited with code 3"), "{fails:?}");
    assert_eq!((floods.exit, &floods.failure, floods.output.len()), (Some(0), &None, OUTPUT_BYTES_MAX));
    assert!(floods.output.ends_with(b"xend\n"));
    assert_eq!(floods.dropped_bytes as usize + floods.output.len(), 20_000_004);
    assert!(flaw(hangs).contains("did not end within 300 ms"), "{hangs:?}");
    assert!(flaw(missing).contains("could not be started"), "{missing:?}");
    assert!(flaw(unknown).contains("no process nobody"), "{unknown:?}");
    assert!(told.iter().all(|one| !one.is_cut));
    system.stop();
    bench.assert_clean();
}

#[test]
fn process_can_be_stopped_started_restarted_and_killed_without_a_death() {
    let bench = Bench::new();
    let mut recipe = server(&bench);
    let spare = bench.process("spare", bench.sh(SERVER), When::Log("started".to_owned()));
    recipe.processes.push(lab::Process { is_started_by_event: true, ..spare });
    let mut system = started(recipe);
    let roots = system.roots();
    let of = |action: fn(String) -> Action, process: &str| action(process.to_owned());
    let told =
        all(&system, vec![event("a", of(Action::Start, "spare")), event("b", of(Action::Restart, "web"))]);
    assert!(told.iter().all(|one| one.failure.is_none()), "{told:?}");
    assert!(system.died().is_none());
    assert_eq!(system.roots(), roots, "probes find the new process where the old one was");

    let told = all(&system, vec![event("a", of(Action::Stop, "spare")), event("b", of(Action::Kill, "web"))]);
    assert!(told.iter().all(|one| one.failure.is_none()), "{told:?}");
    assert!(system.died().is_none());
    let told =
        all(&system, vec![event("a", of(Action::Stop, "spare")), event("b", of(Action::Start, "web"))]);
    assert!(flaw(&told[0]).contains("does not run"), "{told:?}");
    assert_eq!(told[1].failure, None, "{told:?}");
    let told = all(&system, vec![event("a", of(Action::Start, "web"))]);
    assert!(flaw(&told[0]).contains("runs already"), "{told:?}");

    // An end by any other cause is a death.
    let kill = Action::Signal(Signalled { process: "web".to_owned(), signal: Signal::KILL });
    all(&system, vec![event("a", kill)]);
    let mut died = None;
    let until = Instant::now() + LONG;
    while died.is_none() && Instant::now() < until {
        died = system.died();
    }
    assert!(died.expect("it died").what.contains("KILL"));
    let stopped = system.stop();
    assert!(text(&stopped.outputs, "web").matches("started").count() >= 3, "all lives are in its output");
    bench.assert_clean();
}

#[test]
fn processes_that_events_killed_are_not_blamed_at_the_stop() {
    let bench = Bench::new();
    // Ignores the signal of a stop, so that an event kills it after the timeout.
    let deaf = "trap '' TERM; echo started; while :; do sleep 0.05; done";
    let mut deaf = bench.process("deaf", bench.sh(deaf), When::Log("started".to_owned()));
    deaf.stop.within = Duration::from_millis(100);
    let mut recipe = server(&bench);
    recipe.processes.push(deaf);
    let system = started(recipe);
    let told = all(
        &system,
        vec![event("a", Action::Kill("web".to_owned())), event("b", Action::Stop("deaf".to_owned()))],
    );
    assert_eq!(told[0].failure, None, "{told:?}");
    assert!(flaw(&told[1]).contains("did not stop within 100 ms, and was killed"), "{told:?}");
    assert_eq!(system.stop().failures, []);
    bench.assert_clean();
}

#[test]
fn failed_restart_is_a_failed_event() {
    let bench = Bench::new();
    let once = "test -e gone && { echo again; exit 7; }; touch gone; trap 'exit 0' TERM; echo started; while :; do sleep 0.05; done";
    let web = bench.process("web", bench.sh(once), When::Log("started".to_owned()));
    let mut system = started(bench.recipe(vec![web]));
    let told = all(&system, vec![event("deploy", Action::Restart("web".to_owned()))]);
    assert!(flaw(&told[0]).contains("exited with code 7 before it was ready"), "{told:?}");
    assert!(system.died().is_none(), "the event says it");
    system.stop();
    bench.assert_clean();
}

/// Script that increments a counter until it is paused.
const COUNTER: &str = "n=0; echo started; while :; do n=$((n+1)); echo $n > count; sleep 0.01; done";

fn counter(bench: &Bench) -> Recipe {
    let script = format!("cd {}; ({COUNTER}) & wait", bench.place.path().display());
    bench.recipe(vec![bench.process("web", bench.sh(&script), When::Log("started".to_owned()))])
}

fn pause(lasting: Duration) -> Event {
    event("pause", Action::Pause { process: "web".to_owned(), lasting })
}

/// Whether the counter does not change for 150 ms.
fn is_paused(bench: &Bench) -> bool {
    let before = bench.read("count");
    std::thread::sleep(Duration::from_millis(150));
    bench.read("count") == before
}

#[test]
fn pause_stops_all_descendants_and_resumes_them() {
    let bench = Bench::new();
    let system = started(counter(&bench));
    let mut timeline =
        Timeline::begin(&system, vec![pause(Duration::from_millis(1500))], Instant::now()).unwrap();
    wait_until("it stands still", || is_paused(&bench));
    let mut told = Vec::new();
    let until = Instant::now() + LONG;
    while !told.iter().any(|one: &Occurrence| one.ended_ns.is_some()) {
        assert!(Instant::now() < until, "it never goes on");
        told.extend(timeline.take());
    }
    wait_until("it counts again", || !is_paused(&bench));
    let told = last(told);
    let lasted = told[0].ended_ns.unwrap() - told[0].begun_ns.unwrap();
    assert!(lasted >= 1_500_000_000 && told[0].failure.is_none(), "{told:?}");
    drop(timeline);
    system.stop();
    bench.assert_clean();
}

#[test]
fn end_of_the_load_ends_running_events_and_reports_pending_ones() {
    let bench = Bench::new();
    let system = started(counter(&bench));
    let later = Moment::At { first: Duration::from_secs(50), every: Duration::from_secs(5), times: 2 };
    let after = |name: &str| Moment::AfterEvent { name: name.to_owned(), delay: Duration::ZERO };
    let text =
        Moment::AfterText { process: "web".to_owned(), text: "never".to_owned(), delay: Duration::ZERO };
    let events = vec![
        pause(Duration::from_secs(60)),
        Event { moment: after("pause"), ..event("follows", run(&bench, "exit 0")) },
        event("hangs", run(&bench, "sleep 60")),
        Event { moment: later, ..event("later", run(&bench, "exit 0")) },
        Event { moment: text, ..event("waits", run(&bench, "exit 0")) },
    ];
    let timeline = Timeline::begin(&system, events, Instant::now()).unwrap();
    wait_until("it stands still", || is_paused(&bench));
    let told = last(timeline.end());
    let begun: Vec<bool> = told.iter().map(|one| one.begun_ns.is_some()).collect();
    let names: Vec<(&str, u32)> = told.iter().map(|one| (&one.name[..], one.occurrence)).collect();
    assert_eq!(names, [("follows", 0), ("hangs", 0), ("later", 0), ("later", 1), ("pause", 0), ("waits", 0)]);
    assert_eq!(begun, [false, true, false, false, true, false]);
    assert!(told.iter().all(|one| one.is_cut && one.failure.is_some()), "{told:?}");
    wait_until("it counts again", || !is_paused(&bench));
    system.stop();
    bench.assert_clean();
}

#[test]
fn events_follow_other_events_and_output_and_repeat() {
    let bench = Bench::new();
    let system = started(server(&bench));
    let after = |name: &str, delay_ms| Moment::AfterEvent {
        name: name.to_owned(),
        delay: Duration::from_millis(delay_ms),
    };
    let text = Moment::AfterText {
        process: "web".to_owned(),
        text: "got HUP".to_owned(),
        delay: Duration::from_millis(50),
    };
    let often = Moment::At { first: Duration::ZERO, every: Duration::from_millis(100), times: 3 };
    let events = vec![
        Event { moment: after("second", 100), ..event("first", Action::Signal(hup("web"))) },
        Event { moment: often, ..event("often", run(&bench, "echo x >> often")) },
        event("second", run(&bench, "exit 0")),
        Event { moment: text, ..event("third", run(&bench, "exit 0")) },
    ];
    let mut timeline = Timeline::begin(&system, events, Instant::now()).unwrap();
    let mut told = Vec::new();
    let until = Instant::now() + LONG;
    while told.iter().filter(|one: &&Occurrence| one.ended_ns.is_some()).count() < 6 {
        assert!(Instant::now() < until, "{told:?}");
        told.extend(timeline.take());
    }
    let told = last(told);
    assert!(told.iter().all(|one| one.failure.is_none()), "{told:?}");
    let [first, one, two, three, second, third] = &told[..] else { panic!("{told:?}") };
    assert_eq!(first.planned_ns, second.ended_ns.map(|ended| ended + 100_000_000));
    assert!(third.begun_ns > first.begun_ns);
    let planned = [one, two, three].map(|one| one.planned_ns);
    assert_eq!(planned, [Some(0), Some(100_000_000), Some(200_000_000)]);
    drop(timeline);
    system.stop();
    assert_eq!(bench.read("often"), "x\nx\nx\n");
    bench.assert_clean();
}

#[test]
fn files_are_replaced_atomically_and_reloaded_by_signal() {
    let bench = Bench::new();
    let conf = bench.path("run").join("conf/app.conf");
    let script = format!(
        "trap 'cat {0}' HUP; trap 'exit 0' TERM; echo started; while :; do sleep 0.05; done",
        conf.display()
    );
    let web = bench.process("web", bench.sh(&script), When::Log("started".to_owned()));
    let mut recipe = bench.recipe(vec![web]);
    recipe.files = vec![("conf/app.conf".into(), b"workers 2".to_vec())];
    let system = started(recipe);
    let set = |file: &str| Action::Set {
        files: vec![(file.into(), b"workers 4".to_vec())],
        reload: Reload::Signal(hup("web")),
    };
    let ok = Event { until: says("web", "workers 4"), ..event("a", set("conf/app.conf")) };
    let told = all(&system, vec![ok, event("b", set("../elsewhere"))]);
    assert_eq!(told[0].failure, None, "{told:?}");
    assert!(flaw(&told[1]).contains("outside"), "{told:?}");
    assert!(!bench.path("elsewhere").exists());
    let names: Vec<_> =
        std::fs::read_dir(bench.path("run/conf")).unwrap().flatten().map(|e| e.file_name()).collect();
    assert_eq!(names, ["app.conf"]);
    system.stop();
    bench.assert_clean();
}

#[derive(Debug)]
struct FakeLock {
    held: Arc<AtomicUsize>,
    moments: Arc<Mutex<Vec<&'static str>>>,
    refuses: bool,
}

impl Lock for FakeLock {
    fn take(&mut self, _: &(dyn Fn() -> bool + Sync)) -> Result<(), String> {
        if self.refuses {
            return Err("the database says no".to_owned());
        }
        self.held.fetch_add(1, Ordering::SeqCst);
        self.moments.lock().unwrap().push("taken");
        Ok(())
    }

    fn release(&mut self) -> Result<(), String> {
        self.held.fetch_sub(1, Ordering::SeqCst);
        self.moments.lock().unwrap().push("released");
        Ok(())
    }
}

#[test]
fn lock_is_released_even_if_the_command_fails() {
    let bench = Bench::new();
    let system = started(server(&bench));
    let (held, moments) = (Arc::new(AtomicUsize::new(0)), Arc::new(Mutex::new(Vec::new())));
    let locked = |name: &str, script: &str, refuses: bool| {
        let lock = FakeLock { held: Arc::clone(&held), moments: Arc::clone(&moments), refuses };
        event(name, Action::Run { command: bench.sh(script), lock: Some(Box::new(lock)) })
    };
    let told = all(&system, vec![locked("fails", "exit 1", false), locked("refused", "touch ran", true)]);
    assert!(flaw(&told[0]).contains("code 1") && flaw(&told[1]).contains("says no"), "{told:?}");
    assert!(!bench.path("ran").exists());
    let timeline =
        Timeline::begin(&system, vec![locked("hangs", "sleep 60", false)], Instant::now()).unwrap();
    wait_until("it is held", || held.load(Ordering::SeqCst) == 1);
    let told = last(timeline.end());
    assert!(told[0].is_cut, "{told:?}");
    assert_eq!(held.load(Ordering::SeqCst), 0);
    assert_eq!(*moments.lock().unwrap(), ["taken", "released", "taken", "released"]);
    system.stop();
    bench.assert_clean();
}
