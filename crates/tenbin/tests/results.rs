//! Results in files and in browsers: a file is written completely or not at all, and no load is made if it cannot be written.

use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::Path;

use crate::support::{self, Home, Output, built_in, until, url};

/// A home with one short run, and the output of the program.
fn home_with_a_run(flags: &[&str]) -> (Home, Output) {
    let (home, target) = (Home::new(), built_in());
    let url = url(target.address(), "/status");
    let output = home.run(&[&[url.as_str(), "-n", "200", "-c", "2"], flags].concat());
    (home, output)
}

/// Names of the files in the folder, except the store.
fn files(home: &Home) -> Vec<String> {
    let entries = fs::read_dir(home.path()).expect("a folder").flatten();
    let names = entries.map(|entry| entry.file_name().to_string_lossy().into_owned());
    let mut names: Vec<String> = names.filter(|name| !name.starts_with("runs.sqlite")).collect();
    names.sort();
    names
}

fn assert_is_a_page(text: &str) {
    assert!(text.starts_with("<!doctype html>") && text.trim_end().ends_with("</html>"), "{text:.200}");
    assert!(text.contains("\"schema\":\"tenbin.page/1\""), "{text:.200}");
    assert_eq!(text.matches("<script").count(), 2);
    assert!(!text.contains("{{"), "every placeholder is filled");
}

#[test]
fn load_shows_its_result_and_writes_the_page() {
    let (home, output) = home_with_a_run(&["-o", "report.html", "--wide"]);
    assert_eq!(output.code, Some(0), "{output:?}");
    assert!(output.stdout.contains("planned 200 = sent 200"), "{output:?}");
    assert!(output.stderr.contains("written to ") && output.stderr.contains("report.html\n"), "{output:?}");
    assert_is_a_page(&fs::read_to_string(home.path().join("report.html")).expect("a page"));
    assert_eq!(files(&home), ["report.html"]);
    let later = home.run(&["report", "-o", "later.html"]);
    assert_eq!((later.code, later.stdout.as_str()), (Some(0), ""), "{later:?}");
    let [one, other] =
        ["report.html", "later.html"].map(|name| fs::read_to_string(home.path().join(name)).expect("a page"));
    assert!(one == other, "the page of a run stays the same");
}

#[test]
fn load_shows_its_result_even_if_the_file_is_full() {
    let (_, output) = home_with_a_run(&["-o", "/dev/full", "--format", "csv", "--wide"]);
    assert_ne!(output.code, Some(0), "{output:?}");
    assert!(output.stdout.contains("planned 200 = sent 200"), "{output:?}");
    assert!(output.stderr.contains("/dev/full cannot be written: "), "{output:?}");
    assert!(output.stderr.contains("kept as "), "{output:?}");
    assert!(!output.stderr.contains("written to "), "{output:?}");
}

#[test]
fn page_can_be_written_to_a_pipe() {
    let (home, _) = home_with_a_run(&[]);
    let output = home.run(&["report", "--format", "html"]);
    assert_eq!((output.code, output.stderr.as_str()), (Some(0), ""));
    assert_is_a_page(&output.stdout);
}

#[test]
fn file_extension_selects_the_format_unless_a_flag_does() {
    let (home, _) = home_with_a_run(&[]);
    for (name, flags, beginning) in [
        ("a.json", &[][..], "{\n  \"schema\": \"tenbin.run/1\""),
        ("a.MD", &[], "#"),
        ("a.csv", &[], "Label,"),
        ("a.txt", &[], "GET http://127.0.0.1:"),
        ("a.hlog", &[], "#["),
        ("a.html", &[], "<!doctype html>"),
        ("plain", &["--format", "json"], "{\n"),
        ("other.html", &["--format", "md"], "#"),
    ] {
        let output = home.run(&[&["report", "-o", name], flags].concat());
        assert_eq!((output.code, output.stdout.as_str()), (Some(0), ""), "{name}: {output:?}");
        let text = fs::read_to_string(home.path().join(name)).expect("a file");
        assert!(text.starts_with(beginning), "{name}: {text:.100}");
    }
    let stdout = home.run(&["report", "-o", "-", "--format", "csv"]);
    assert!(stdout.stdout.starts_with("Label,"), "{stdout:?}");
}

#[test]
fn sends_nothing_if_the_result_cannot_be_written() {
    for (flags, said) in [
        (
            &["-o", "report.pdf"][..],
            "-o report.pdf: its ending selects no format\n  help: use one of the endings .txt, ",
        ),
        (&["-o", "report"], "its ending selects no format"),
        (&["-o", "nowhere/report.html"], "-o nowhere/report.html: cannot be written: No such file"),
        (&["-o", "folder.html"], "-o folder.html: cannot be written: it is a folder"),
        (&["-o", "new.html/"], "-o new.html/: cannot be written: it names no file"),
        (&["--open", "--format", "json"], "--open shows a page in a browser, and json is no page\n  help: "),
        (&["--open", "-o", "report.md"], "and md is no page"),
        (
            &["--open", "-o", "-", "--format", "html"],
            "--open -o -: a browser cannot open standard output\n  help: ",
        ),
    ] {
        let (home, target) = (Home::new(), built_in());
        fs::create_dir(home.path().join("folder.html")).expect("a folder");
        let url = url(target.address(), "/status");
        let output = home.run(&[&[url.as_str(), "-n", "20", "-c", "2"], flags].concat());
        assert_eq!(output.code, Some(2), "{output:?}");
        assert!(output.stderr.contains(said), "{said:?}: {output:?}");
        assert!(!home.store().exists(), "no run was begun: {output:?}");
        assert_eq!(files(&home), ["folder.html"]);
    }
}

#[test]
fn runs_no_plan_if_the_file_cannot_be_written() {
    let home = Home::new();
    let plan =
        "scenario:\n  - get: /\nload: { users: 1, for: 1s }\nsystems:\n  a: { url: 'http://127.0.0.1:9' }\n";
    fs::write(home.path().join("plan.yaml"), plan).expect("written");
    for (flags, said) in [
        (["-o", "nowhere/x.html"], "cannot be written"),
        (["-o", "x.hlog"], "--format hlog is for single runs"),
    ] {
        let output = home.run(&[&["run", "plan.yaml"], &flags[..]].concat());
        assert_eq!(output.code, Some(2), "{output:?}");
        assert!(output.stderr.contains(said), "{output:?}");
        assert!(!home.store().exists(), "{output:?}");
    }
}

#[test]
fn existing_file_is_replaced_only_by_a_complete_one() {
    let (home, _) = home_with_a_run(&[]);
    let (path, link) = (home.path().join("report.txt"), home.path().join("link.txt"));
    fs::write(&path, "old").expect("written");
    symlink("report.txt", &link).expect("a link");
    // The run has no requests to list.
    let failed = home.run(&["report", "--format", "jtl", "-o", "report.txt"]);
    assert_ne!(failed.code, Some(0), "{failed:?}");
    assert!(failed.stderr.contains("kept no single requests"), "{failed:?}");
    assert_eq!(fs::read_to_string(&path).expect("a file"), "old");
    let written = home.run(&["report", "-o", "link.txt"]);
    assert_eq!(written.code, Some(0), "{written:?}");
    assert!(fs::read_to_string(&path).expect("a file").starts_with("GET "));
    assert!(fs::symlink_metadata(&link).expect("a link").is_symlink());
    assert_eq!(files(&home), ["link.txt", "report.txt"], "nothing else is left");
    let device = home.run(&["report", "--format", "csv", "-o", "/dev/null"]);
    assert_eq!(device.code, Some(0), "{device:?}");
    assert!(!fs::metadata("/dev/null").expect("a device").is_file(), "a device is not replaced");
}

#[test]
fn replaced_file_keeps_its_permissions_and_may_have_the_longest_name() {
    let (home, _) = home_with_a_run(&[]);
    let private = home.path().join("private.txt");
    fs::write(&private, "old").expect("written");
    fs::set_permissions(&private, fs::Permissions::from_mode(0o600)).expect("may be changed");
    let long = format!("{}.txt", "n".repeat(251));
    for name in ["private.txt", &long] {
        let written = home.run(&["report", "-o", name]);
        assert_eq!(written.code, Some(0), "{written:?}");
    }
    assert!(fs::read_to_string(&private).expect("a file").starts_with("GET "));
    assert_eq!(fs::metadata(&private).expect("a file").permissions().mode() & 0o777, 0o600);
    symlink("nowhere.txt", home.path().join("dangling.txt")).expect("a link");
    let refused = home.run(&["report", "-o", "dangling.txt"]);
    assert_eq!(refused.code, Some(2), "{refused:?}");
    assert!(
        refused.stderr.contains("-o dangling.txt: cannot be written: it is a link to nothing"),
        "{refused:?}"
    );
    assert_eq!(files(&home), ["dangling.txt", &long, "private.txt"]);
}

#[test]
fn removes_temporary_page_that_could_not_be_written() {
    let (home, _) = home_with_a_run(&[]);
    // The page is larger than the limit on file sizes. The signal is ignored, and the error is reported.
    let mut command = std::process::Command::new("sh");
    command.args(["-c", "trap '' XFSZ; ulimit -f 128; exec \"$@\"", "sh", env!("CARGO_BIN_EXE_tenbin")]);
    command.args(["report", "--open", "--store"]).arg(home.store());
    command.env("TMPDIR", home.path()).env("BROWSER", "/no/such/browser");
    let output = support::Started::spawn(command).finish();
    assert_ne!(output.code, Some(0), "{output:?}");
    assert!(output.stderr.contains("a temporary file cannot be written"), "{output:?}");
    assert_eq!(files(&home), Vec::<String>::new());
}

/// Writes a program that records what it is asked to open. Returns its path.
fn browser(home: &Home) -> String {
    let path = home.path().join("browser");
    let asked = home.path().join("asked");
    fs::write(
        &path,
        format!("#!/bin/sh\nprintf %s \"$1\" > '{}.part'\nmv '{0}.part' '{0}'\n", asked.display()),
    )
    .expect("written");
    fs::set_permissions(&path, fs::Permissions::from_mode(0o700)).expect("may be run");
    path.to_string_lossy().into_owned()
}

#[track_caller]
fn opened(home: &Home, flags: &[&str], browser: &str) -> Output {
    let mut command = home.command(&[&["report"], flags].concat());
    command.env("BROWSER", browser).env("TMPDIR", home.path());
    command.env_remove("DISPLAY").env_remove("WAYLAND_DISPLAY");
    let output = support::Started::spawn(command).finish();
    assert_eq!((output.code, output.stdout.as_str()), (Some(0), ""), "{output:?}");
    output
}

#[test]
fn page_is_opened_in_the_browser_of_the_environment() {
    let (home, _) = home_with_a_run(&[]);
    let browser = browser(&home);
    let asked = home.path().join("asked");
    for (flags, browser) in
        [(&["--open", "-o", "a b.html"][..], &browser), (&["--open"], &format!("{browser} %s --new-window"))]
    {
        opened(&home, flags, browser);
        until("the browser is asked", || asked.exists());
        let url = fs::read_to_string(&asked).expect("an address");
        fs::remove_file(&asked).expect("there");
        let path = url.strip_prefix("file://").expect("of a file").replace("%20", " ");
        assert_is_a_page(&fs::read_to_string(Path::new(&path)).expect("a page"));
        assert_eq!(path.ends_with("/a b.html"), flags.len() > 1, "{path}");
    }
}

#[test]
fn address_of_the_page_is_printed_without_a_browser() {
    let (home, _) = home_with_a_run(&[]);
    let output = opened(&home, &["--open"], "/no/such/browser");
    assert!(output.stderr.contains("no browser was found to open it with; it is at file:///"), "{output:?}");
    let page = files(&home).into_iter().find(|name| name.starts_with("tenbin-")).expect("a page");
    let mode = fs::metadata(home.path().join(page)).expect("a file").permissions().mode();
    assert_eq!(mode & 0o777, 0o600, "only for whom it was made");
}
