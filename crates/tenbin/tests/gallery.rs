//! The gallery: its comparisons are copied by `tenbin init --from`, and every plan passes `tenbin check`.

use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::support::{Home, Output, Started, TENBIN};

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/gallery")
}

/// Names of the plans in the folder, in order.
fn names() -> Vec<String> {
    let mut names: Vec<String> = std::fs::read_dir(folder())
        .expect("docs/gallery")
        .map(|entry| entry.expect("an entry").path())
        .filter(|path| path.extension().is_some_and(|ending| ending == "yaml"))
        .filter_map(|path| Some(path.file_stem()?.to_str()?.to_owned()))
        .collect();
    names.sort();
    names
}

/// Runs the program in the folder of `home`, without a store.
fn program(home: &Home, arguments: &[&str]) -> Output {
    let mut command = Command::new(TENBIN);
    command.args(arguments);
    home.isolate(&mut command);
    Started::spawn(command).finish()
}

/// Checks a plan. Servers that this machine lacks are empty files in `home`, because `check` starts nothing.
fn check(home: &Home, plan: &str) -> Output {
    let servers = home.path().join("servers");
    std::fs::create_dir_all(&servers).expect("a folder");
    let path = format!("{}:{}", std::env::var("PATH").expect("PATH"), servers.display());
    loop {
        let mut command = Command::new(TENBIN);
        command.args(["check", plan]);
        home.isolate(&mut command);
        command.env("PATH", &path);
        let output = Started::spawn(command).finish();
        let missing = output
            .stderr
            .split_once("the program \"")
            .and_then(|(_, rest)| rest.split_once("\" is not there"));
        let Some((name, _)) = missing else { return output };
        let server = servers.join(name);
        assert!(!server.exists(), "{output:?}");
        std::fs::write(&server, "").expect("a file");
        std::fs::set_permissions(&server, std::fs::Permissions::from_mode(0o755)).expect("a mode");
    }
}

fn read(home: &Home, name: &str) -> String {
    std::fs::read_to_string(home.path().join(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
}

#[test]
fn every_comparison_is_copied_and_passes_check() {
    let home = Home::new();
    for name in names() {
        let output = program(&home, &["init", "--from", &name, &format!("{name}/plan.yaml")]);
        assert_eq!(output.code, Some(1), "no folder is created: {output:?}");
        std::fs::create_dir(home.path().join(&name)).expect("a folder");
        let plan = format!("{name}/plan.yaml");
        let output = program(&home, &["init", "--from", &name, &plan]);
        assert_eq!(output.code, Some(0), "{output:?}");
        let original = std::fs::read_to_string(folder().join(format!("{name}.yaml"))).expect("a plan");
        assert_eq!(read(&home, &plan), original);
        let checked = check(&home, &plan);
        assert_eq!(checked.code, Some(0), "{name}: {checked:?}");
    }
}

#[test]
fn plans_have_ten_to_forty_lines_and_a_comment() {
    for name in names() {
        let text = std::fs::read_to_string(folder().join(format!("{name}.yaml"))).expect("a plan");
        let lines = text.lines().count();
        assert!((10..=40).contains(&lines), "{name}: {lines} lines");
        assert!(text.starts_with("# "), "{name}");
    }
}

#[test]
fn copy_overwrites_nothing_and_keeps_files_that_are_equal() {
    let home = Home::new();
    let copy = |arguments: &[&str]| program(&home, &[&["init", "--from"], arguments].concat());
    let first = copy(&["uuid-keys"]);
    assert_eq!(first.code, Some(0), "{first:?}");
    assert!(first.stdout.starts_with("wrote uuid-keys.yaml, postgresql.sh\n"), "{first:?}");
    let again = copy(&["uuid-keys"]);
    assert!(again.code == Some(2) && again.stderr.contains("uuid-keys.yaml exists"), "{again:?}");
    assert!(again.stderr.contains("tenbin init --from uuid-keys OTHER.yaml"), "{again:?}");
    let other = copy(&["uuid-keys", "other.yaml"]);
    assert_eq!(other.code, Some(0), "{other:?}");
    std::fs::write(home.path().join("postgresql.sh"), "mine").expect("written");
    let third = copy(&["uuid-keys", "third.yaml"]);
    assert!(third.code == Some(2) && third.stderr.contains("postgresql.sh exists"), "{third:?}");
    assert_eq!(read(&home, "postgresql.sh"), "mine");
    assert!(!home.path().join("third.yaml").exists(), "half of a comparison");
}

#[test]
fn unknown_comparison_is_rejected_with_a_similar_name_and_the_list() {
    let home = Home::new();
    let output = program(&home, &["init", "--from", "uuid-key"]);
    assert_eq!(output.code, Some(2), "{output:?}");
    assert!(
        output.stderr.contains("did you mean uuid-keys? write tenbin init --from uuid-keys"),
        "{output:?}"
    );
    for name in names() {
        assert!(output.stderr.contains(&name), "{name}: {output:?}");
    }
    let output = program(&home, &["init", "--from", "../uuid-keys"]);
    assert_eq!(output.code, Some(2), "{output:?}");
}

#[test]
fn pages_have_the_plan_as_it_is_and_a_result() {
    let mut pages = 0;
    for name in names() {
        let Ok(page) = std::fs::read_to_string(folder().join(format!("{name}.md"))) else { continue };
        let plan = std::fs::read_to_string(folder().join(format!("{name}.yaml"))).expect("a plan");
        let help = format!("run scripts/gallery.sh target/release/tenbin page {name}");
        assert!(page.contains(&format!("\n```yaml\n{plan}```\n")), "{name}: {help}");
        assert!(
            page.contains(&format!("\n## Result\n\n![Chart of the result]({name}.svg)\n\n```text\n")),
            "{name}: {help}"
        );
        assert!(folder().join(format!("{name}.svg")).exists(), "{name}: {help}");
        pages += 1;
    }
    assert!(pages >= 12, "{pages} pages");
}

#[test]
fn comparisons_that_commits_run_in_turn_exist() {
    let script = std::fs::read_to_string(folder().join("../../scripts/gallery.sh")).expect("a script");
    let list = script.lines().find_map(|line| line.strip_prefix("IN_TURN=\"")).expect("a list");
    let known = names();
    for name in list.trim_end_matches('"').split(' ') {
        assert!(known.iter().any(|one| one == name), "{name}");
    }
}
