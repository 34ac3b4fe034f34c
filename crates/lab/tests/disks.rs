//! Tests of disks mounted from an image file. They need root, e2fsprogs, and loop devices.

use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

use crate::support::{Bench, LONG, wait_until};
use lab::events::{Action, Event, Moment, Occurrence, Timeline};
use lab::{Recipe, Stage, When};

const BYTES: u64 = 16 << 20;

fn is_mounted(point: &Path) -> bool {
    let mounts = fs::read_to_string("/proc/self/mountinfo").expect("the mounts");
    mounts.contains(&format!(" {} ", point.display()))
}

/// Whether a loop device still uses a file below this folder.
fn has_device(folder: &Path) -> bool {
    let devices = fs::read_dir("/sys/block").expect("devices").flatten();
    let mut files = devices.filter_map(|one| fs::read_to_string(one.path().join("loop/backing_file")).ok());
    files.any(|file| Path::new(file.trim_end()).starts_with(folder))
}

/// Returns a system that writes a block to its disk repeatedly, and records the result.
fn writer(bench: &Bench) -> Recipe {
    let script = format!(
        "cd {}; ls -A run/disk > content; echo started; while :; do \
         if dd if=/dev/zero of=run/disk/block bs=64k count=1 conv=fsync 2> said; then echo wrote; else cat said; fi > state.new; \
         mv state.new state; rm -f run/disk/block; sleep 0.01; done",
        bench.place.path().display()
    );
    let process = bench.process("web", bench.sh(&script), When::Log("started".to_owned()));
    Recipe { disk_bytes: Some(BYTES), ..bench.recipe(vec![process]) }
}

fn fill(leave_bytes: u64, lasting: Option<Duration>) -> Event {
    let moment = Moment::At { first: Duration::ZERO, every: Duration::ZERO, times: 1 };
    let action = Action::Fill { leave_bytes, lasting };
    Event { name: "full".to_owned(), moment, action, until: None, within: LONG }
}

#[test]
fn disk_is_mounted_at_start_and_removed_at_stop() {
    lab::disks::check(BYTES)
        .unwrap_or_else(|failure| panic!("this test needs root, e2fsprogs, and loop devices: {failure}"));
    let bench = Bench::new();
    let point = bench.path("run/disk");
    let system = lab::start(writer(&bench), &|| false).expect("it starts");
    assert!(is_mounted(&point) && has_device(bench.place.path()));
    assert_eq!(bench.read("content"), "", "a database may begin there");
    wait_until("it writes", || bench.read("state") == "wrote\n");
    assert_eq!(system.stop().failures, []);
    assert!(!is_mounted(&point));
    wait_until("no device is left", || !has_device(bench.place.path()));
    bench.assert_clean();
}

#[test]
fn writes_to_a_full_disk_fail_until_the_event_ends() {
    let bench = Bench::new();
    let system = lab::start(writer(&bench), &|| false).expect("it starts");
    let lasting = Duration::from_millis(1_500);
    let timeline = Timeline::begin(&system, vec![fill(0, Some(lasting))], Instant::now()).expect("a thread");
    // Space that the system frees meanwhile is filled too.
    wait_until("it is full", || bench.read("state").contains("No space left on device"));
    std::thread::sleep(Duration::from_millis(200));
    assert!(bench.read("state").contains("No space left on device"), "it stays full");
    wait_until("it writes again", || bench.read("state") == "wrote\n");
    let told = timeline.end();
    let last = told.last().expect("the event");
    assert_eq!(last.failure, None, "{told:?}");
    let lasted_ns = last.ended_ns.expect("an end") - last.begun_ns.expect("a beginning");
    assert!(lasted_ns >= 1_500_000_000, "{lasted_ns}");
    assert_eq!(system.stop().failures, []);
    bench.assert_clean();
}

#[test]
fn requested_free_space_is_left() {
    let bench = Bench::new();
    let system = lab::start(writer(&bench), &|| false).expect("it starts");
    let timeline = Timeline::begin(&system, vec![fill(1 << 20, None)], Instant::now()).expect("a thread");
    let free = || {
        let about = rustix::fs::statvfs(bench.path("run/disk")).expect("a file system");
        about.f_bavail * about.f_frsize
    };
    wait_until("it is nearly full", || (900 << 10..=1 << 20).contains(&free()));
    wait_until("it still writes", || bench.read("state") == "wrote\n");
    let told = timeline.end();
    assert_eq!(told.last().and_then(|last| last.failure.clone()), None);
    assert!(free() <= 1 << 20, "without a time it stays so");
    assert_eq!(system.stop().failures, []);
    bench.assert_clean();
}

#[test]
fn only_a_separate_disk_can_be_filled() {
    let bench = Bench::new();
    let system = lab::start(bench.recipe(vec![bench.script("web", "exec sleep 60")]), &|| false);
    let system = system.expect("it starts");
    let mut timeline = Timeline::begin(&system, vec![fill(0, None)], Instant::now()).expect("a thread");
    let mut told: Vec<Occurrence> = Vec::new();
    let until = Instant::now() + LONG;
    while told.iter().all(|one| one.failure.is_none()) {
        assert!(Instant::now() < until, "it never fails: {told:?}");
        told.extend(timeline.take());
    }
    assert_eq!(told.last().unwrap().failure.as_deref(), Some("the system has no disk of its own"));
    drop(timeline);
    assert_eq!(system.stop().failures, []);

    // A disk that is larger than the free space is not created.
    let recipe = Recipe { disk_bytes: Some(1 << 49), ..bench.recipe(vec![bench.script("web", "exit 0")]) };
    let failure = lab::start(recipe, &|| false).expect_err("no machine has it");
    assert_eq!(failure.stage, Stage::Disk);
    assert!(failure.what.contains("a disk of 562949953421312 bytes"), "{failure}");
    bench.assert_clean();
}
