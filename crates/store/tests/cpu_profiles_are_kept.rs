//! CPU profiles survive a round trip with their run.

use crate::sample;
use evidence::{CpuProfile, FrameKind, ProfileCall, ProfileFrame};
use rusqlite::Connection;
use store::{Store, StoreError};

fn frame(name: &str, kind: FrameKind, [own, total]: [u64; 2]) -> ProfileFrame {
    ProfileFrame { name: name.to_owned(), module: "app".to_owned(), kind, own, total }
}

fn profile() -> CpuProfile {
    CpuProfile {
        frequency_hz: 199,
        stacks: "fp".to_owned(),
        has_kernel: true,
        samples: 10,
        lost: 1,
        span_ns: 2_000_000_000,
        profiler_cpu_s: 0.25,
        is_cut: false,
        frames: vec![
            frame("web", FrameKind::Process, [0, 10]),
            frame("/srv/alice/app.js:handle<\u{1b}[31m>", FrameKind::User, [7, 10]),
            frame("tcp_sendmsg", FrameKind::Kernel, [3, 3]),
        ],
        calls: vec![
            ProfileCall { parent: None, frame: 0, samples: 0 },
            ProfileCall { parent: Some(0), frame: 1, samples: 7 },
            ProfileCall { parent: Some(1), frame: 2, samples: 3 },
        ],
    }
}

#[test]
fn profile_survives_a_round_trip_and_is_deleted_with_its_run() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::open(&folder.path().join("s")).unwrap();
    let id = store.begin(&sample::new_run()).unwrap();
    assert_eq!(store.load(&id).unwrap().cpu_profile(), None);
    store
        .keep_cpu_profile(&id, &CpuProfile { samples: 0, calls: Vec::new(), frames: Vec::new(), ..profile() })
        .unwrap();
    store.keep_cpu_profile(&id, &profile()).unwrap();
    assert_eq!(store.load(&id).unwrap().cpu_profile(), Some(&profile()));

    let exported = folder.path().join("exported");
    store.export_run(&id, &exported).unwrap();
    assert_eq!(Store::open(&exported).unwrap().load(&id).unwrap().cpu_profile(), Some(&profile()));
    store.delete(&id).unwrap();
    let file = Connection::open(folder.path().join("s")).unwrap();
    let left: i64 = file.query_row("SELECT count(*) FROM cpu_profile", [], |row| row.get(0)).unwrap();
    assert_eq!(left, 0);
}

#[test]
fn inconsistent_profile_is_rejected() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::open(&folder.path().join("s")).unwrap();
    let id = store.begin(&sample::new_run()).unwrap();
    let refused = |change: fn(&mut CpuProfile)| {
        let mut broken = profile();
        change(&mut broken);
        let kept = store.keep_cpu_profile(&id, &broken);
        assert!(matches!(kept, Err(StoreError::Unstorable { .. })), "{broken:?}: {kept:?}");
    };
    refused(|profile| profile.samples = 11);
    refused(|profile| profile.calls[1].parent = Some(1));
    refused(|profile| profile.calls[0].frame = 3);
    refused(|profile| profile.frames[1].own = 11);
    refused(|profile| profile.profiler_cpu_s = f64::NAN);
    refused(|profile| profile.frequency_hz = 0);
}

#[test]
fn changed_profile_is_damage() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("s");
    let store = Store::open(&path).unwrap();
    let id = store.begin(&sample::new_run()).unwrap();
    store.keep_cpu_profile(&id, &profile()).unwrap();
    let change = "UPDATE cpu_profile SET profile = replace(profile, 'tcp_sendmsg', 'tcp_recvmsg')";
    assert_eq!(Connection::open(&path).unwrap().execute(change, []).unwrap(), 1);
    let error = store.load(&id).unwrap_err().to_string();
    assert!(error.contains("CPU profile"), "{error}");
}

#[test]
fn shared_profile_has_functions_but_no_paths() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::open(&folder.path().join("s")).unwrap();
    let id = store.begin(&sample::new_run()).unwrap();
    store.keep_cpu_profile(&id, &profile()).unwrap();
    let mut run = store.load(&id).unwrap();
    run.rewrite(
        &|text| text.replace("/srv/alice", "path-1"),
        &|entry| entry.message.clone(),
        &|_, label| label.to_owned(),
        &|_| Vec::new(),
    );
    let names: Vec<&str> =
        run.cpu_profile().unwrap().frames.iter().map(|frame| frame.name.as_str()).collect();
    assert_eq!(names, ["web", "path-1/app.js:handle<\u{1b}[31m>", "tcp_sendmsg"]);
}
