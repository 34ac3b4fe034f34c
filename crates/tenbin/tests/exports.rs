//! `tenbin export` writes one run or study to a file, which every command accepts instead of a name.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;

use crate::support::{Home, built_in, url};

/// Makes a study of one run, with a secret in its plan.
fn study(home: &Home, label: &str) -> String {
    let target = built_in();
    let plan = format!(
        "scenario: [ {{ get: /, headers: {{ Authorization: Bearer hunter2hunter2 }} }} ]\nload: {{ users: 1, requests: 20 }}\n\
         url: http://{}\n",
        target.address()
    );
    fs::write(home.path().join("plan.yaml"), plan).expect("written");
    let study = home.json(&["run", "plan.yaml", "--label", label]);
    study["study"]["id"].as_str().expect("a name").to_owned()
}

#[test]
fn exported_run_is_read_without_its_original_store() {
    let (home, target) = (Home::new(), built_in());
    for _ in 0..2 {
        home.run(&[url(target.address(), "/status").as_str(), "-n", "50", "-c", "2", "--label", "main"]);
    }
    let (main, older) = (home.json(&["report", "main"]), home.history()[1]["id"].clone());
    let exported = home.run(&["export", "main", "-o", "main.sqlite"]);
    assert_eq!(exported.code, Some(0), "{exported:?}");
    assert!(exported.stdout.starts_with("exported run ") && exported.stdout.ends_with(" to main.sqlite\n"));
    let file = home.path().join("main.sqlite");
    assert_eq!(fs::metadata(&file).expect("written").permissions().mode() & 0o777, 0o600);
    assert!(!home.path().join("main.sqlite-wal").exists());
    let elsewhere = Home::new();
    fs::copy(&file, elsewhere.path().join("main.sqlite")).expect("copied");
    assert_eq!(elsewhere.json(&["report", "main.sqlite"]), main, "no other run, and no store");
    fs::copy(&file, elsewhere.store()).expect("copied");
    let list = elsewhere.history();
    assert_eq!((list[0]["label"].as_str(), list.len()), (Some("main"), 1), "{list:?}");
    let compared = home.json(&["compare", older.as_str().expect("a name"), "./main.sqlite"]);
    assert_eq!((&compared["a"]["id"], &compared["b"]["id"]), (&older, &main["run"]["id"]));
    let same = home.run(&["compare", "main", "main.sqlite"]);
    assert_eq!(same.code, Some(2), "{same:?}");
    assert!(same.stderr.contains("both names mean"), "{same:?}");
}

#[test]
fn exported_study_has_its_runs_and_no_secret() {
    let home = Home::new();
    let id = study(&home, "main");
    let run = home.json(&["history", "--runs"])[0]["id"].as_str().expect("a name").to_owned();
    let of_study = home.run(&["export", &run, "-o", "run.sqlite"]);
    assert_eq!(of_study.code, Some(2), "{of_study:?}");
    assert!(of_study.stderr.contains(&format!("tenbin export {id} -o FILE")), "{of_study:?}");
    assert_eq!(home.run(&["export", "main", "-o", "study.sqlite"]).code, Some(0));
    assert_eq!(home.json(&["report", "study.sqlite"]), home.json(&["report", &id]));
    let bytes = fs::read(home.path().join("study.sqlite")).expect("written");
    assert!(!bytes.windows(7).any(|window| window == b"hunter2"), "the secret is in the file");
    assert!(bytes.windows(13).any(|window| window == b"Authorization"), "the plan is not in the file");
}

#[test]
fn replaces_existing_files_only_with_force_and_never_the_store() {
    let home = Home::new();
    study(&home, "main");
    let export = |arguments: &[&str]| home.run(&[&["export", "main"], arguments].concat());
    fs::write(home.path().join("there"), "mine").expect("written");
    let refused = export(&["-o", "there"]);
    assert_eq!(refused.code, Some(2), "{refused:?}");
    assert!(refused.stderr.contains("-o there: exists") && refused.stderr.contains("--force"), "{refused:?}");
    assert_eq!(fs::read(home.path().join("there")).expect("read"), b"mine");
    assert_eq!(export(&["-o", "there", "--force"]).code, Some(0));
    assert_eq!(home.json(&["report", "there"])["schema"], "tenbin.study/1");
    let store = export(&["-o", "./runs.sqlite", "--force"]);
    assert_eq!(store.code, Some(2), "{store:?}");
    assert!(store.stderr.contains("is the store itself"), "{store:?}");
    for path in [".", "/"] {
        assert_eq!(export(&["-o", path]).code, Some(2), "{path}");
    }
    let left: Vec<_> = fs::read_dir(home.path()).expect("a folder").flatten().collect();
    assert!(left.iter().all(|entry| !entry.file_name().to_string_lossy().contains(".part")), "{left:?}");
}

#[test]
fn rejects_files_that_hold_no_single_run_or_study() {
    let home = Home::new();
    study(&home, "main");
    study(&home, "other");
    assert_eq!(home.run(&["export", "main", "-o", "main.sqlite"]).code, Some(0));
    let bytes = fs::read(home.path().join("main.sqlite")).expect("read");
    fs::write(home.path().join("short.sqlite"), &bytes[..bytes.len() / 2]).expect("written");
    let mut newer = bytes.clone();
    // Bytes 60 to 63 of a SQLite file are its user version, which is the version of the store.
    newer[60..64].copy_from_slice(&99_u32.to_be_bytes());
    fs::write(home.path().join("newer.sqlite"), newer).expect("written");
    fs::write(home.path().join("other.txt"), "not a store at all, but long enough to be read")
        .expect("written");
    for (file, code, says) in [
        ("short.sqlite", 5, "short.sqlite"),
        ("newer.sqlite", 5, "has version 99"),
        ("other.txt", 5, "is not a Tenbin store"),
        ("missing.sqlite", 2, "missing.sqlite"),
    ] {
        for command in [&["report", file][..], &["compare", file, "other"], &["export", file, "-o", "x"]] {
            let refused = home.run(command);
            assert_eq!((refused.code, refused.stdout.as_str()), (Some(code), ""), "{command:?} {refused:?}");
            assert!(refused.stderr.contains(says), "{refused:?}");
        }
    }
    let store = home.run(&["report", &home.store().to_string_lossy()]);
    assert_eq!(store.code, Some(2), "{store:?}");
    assert!(
        store.stderr.contains("0 runs and 2 studies") && store.stderr.contains("tenbin export"),
        "{store:?}"
    );
}
