//! Command line for users of other load testers: help on one screen, usual flags, and hints.

use std::net::SocketAddr;
use std::process::Command;

use crate::support::{Home, Output, Started, TENBIN, built_in, number, url};
use target::scripted::closed_port;

const COMMANDS: [&str; 15] = [
    "",
    "run",
    "capacity",
    "init",
    "check",
    "prepare",
    "replay",
    "report",
    "compare",
    "export",
    "history",
    "machine",
    "target",
    "proxy",
    "completions",
];

fn program(home: &Home, arguments: &[&str]) -> Output {
    let mut command = Command::new(TENBIN);
    command.args(arguments);
    home.isolate(&mut command);
    Started::spawn(command).finish()
}

#[test]
fn every_short_help_fits_on_a_screen() {
    let home = Home::new();
    for name in COMMANDS {
        let arguments: Vec<&str> = [name, "-h"].into_iter().filter(|word| !word.is_empty()).collect();
        let output = program(&home, &arguments);
        assert_eq!((output.code, output.stderr.as_str()), (Some(0), ""), "{name}: {output:?}");
        let widest = output.stdout.lines().map(|line| line.chars().count()).max();
        assert!(
            output.stdout.lines().count() <= 40,
            "{name}: {}\n{}",
            output.stdout.lines().count(),
            output.stdout
        );
        assert!(widest <= Some(100), "{name}: {widest:?}\n{}", output.stdout);
        let long = program(&home, &[&arguments[..arguments.len() - 1], &["--help"]].concat());
        assert!(long.stdout.len() >= output.stdout.len(), "{name}: {long:?}");
    }
}

#[test]
fn manual_pages_describe_every_flag() {
    let home = Home::new();
    let output = program(&home, &["man", "."]);
    assert_eq!(output.code, Some(0), "{output:?}");
    let mut pages = 0;
    for entry in std::fs::read_dir(home.path()).expect("a folder") {
        let path = entry.expect("an entry").path();
        if path.extension().is_some_and(|ending| ending == "1") {
            let page = std::fs::read_to_string(&path).expect("a page");
            let lines: Vec<&str> = page.lines().collect();
            let is_bare =
                |lines: &&[&str]| lines[0] == ".TP" && (lines[2] == ".TP" || lines[2].starts_with(".SH"));
            assert_eq!(lines.windows(3).find(is_bare), None, "{}", path.display());
            pages += 1;
        }
    }
    assert!(pages > 10, "{pages}");
}

#[test]
fn help_groups_flags_and_lists_exit_codes() {
    let home = Home::new();
    let short = program(&home, &["-h"]).stdout;
    for group in ["Usage:", "Commands:", "Load:", "Request:", "SQL:", "Results:", "Examples:"] {
        assert!(short.contains(group), "{group}: {short}");
    }
    assert!(!short.contains("--expect-body-regex"), "{short}");
    let long = program(&home, &["--help"]).stdout;
    assert!(long.contains("--expect-body-regex") && long.contains("Exit codes:"), "{long}");
    for code in ["0", "1", "2", "3", "4", "5", "6", "130", "143"] {
        assert!(long.lines().any(|line| line.split_whitespace().next() == Some(code)), "{code}: {long}");
    }
}

#[test]
fn flags_of_other_tools_get_a_replacement() {
    let (home, server) = (Home::new(), built_in());
    let url = url(server.address(), "/");
    for (flag, ours) in [
        ("-t", "--threads 5"),
        ("-q", "-R 5"),
        ("-I", "-X HEAD"),
        ("--data", "-b TEXT -H "),
        ("--max-time", "--timeout TIME"),
        ("-z", "-d 5"),
        ("--vus", "-c 5"),
        ("--vus=7", "-c 7"),
        ("--iterations", "-n 5"),
    ] {
        let output = home.run(&[url.as_str(), flag, "5"]);
        assert_eq!(output.code, Some(2), "{flag}: {output:?}");
        let name = flag.split('=').next().unwrap_or_default();
        let expected = format!("error: there is no flag {name}\n  help: write {ours}");
        assert!(output.stderr.starts_with(&expected), "{flag}: {output:?}");
    }
    assert_eq!(server.counters().accepted, 0);
}

#[test]
fn name_before_a_single_url_names_the_system_of_its_run() {
    let (home, server) = (Home::new(), built_in());
    let address = server.address().to_string();
    let run = |url: &str| home.json(&[url, "-n", "50", "-d", "5", "--warm-up", "0", "-c", "1"]);
    let (named, plain) = (run(&format!("old={address}")), run(&address));
    assert_eq!(named["title"], format!("old: GET http://{address}/"), "{named}");
    assert_eq!(named["run"]["plan_hash"], plain["run"]["plan_hash"], "a name changes nothing that is sent");
    let ids = [&named, &plain].map(|run| run["run"]["id"].as_str().unwrap_or_default().to_owned());
    let table = home.run(&["report", &ids[0], &ids[1]]);
    assert!(table.stdout.lines().any(|line| line.trim_start().starts_with("old ")), "{table:?}");
    let wrong = home.run(&["histroy=1"]);
    assert!(wrong.code == Some(2) && wrong.stderr.contains("histroy=1"), "{wrong:?}");
}

#[test]
fn address_is_loaded_over_http_and_bare_numbers_have_units() {
    let (home, server) = (Home::new(), built_in());
    let address = server.address().to_string();
    let run = home.json(&[address.as_str(), "-R", "50", "--duration", "0.5", "--warm-up", "0.2", "-c", "2"]);
    assert_eq!(run["title"], format!("GET http://{address}/"), "{run}");
    assert_eq!(number(&run, "offered.planned"), 25, "{run}");
}

#[test]
fn plan_without_a_command_is_run() {
    let (home, server) = (Home::new(), built_in());
    let plan = format!(
        "scenario: [ get: / ]\nload: {{ users: 1, requests: 3 }}\nurl: http://{}\n",
        server.address()
    );
    std::fs::write(home.path().join("plan.yaml"), plan).expect("written");
    let study = home.json(&["plan.yaml"]);
    assert_eq!(number(&study["runs"][0], "outcomes.ok"), 3, "{study}");
    let misplaced = home.run(&["-c", "2", "plan.yaml"]);
    assert_eq!(misplaced.code, Some(2), "{misplaced:?}");
    assert!(misplaced.stderr.contains("tenbin run plan.yaml"), "{misplaced:?}");
}

#[test]
fn waits_for_a_server_that_is_starting() {
    let home = Home::new();
    // A separate address keeps other tests from taking the port before the server does.
    let address = SocketAddr::from(([127, 77, 0, 1], closed_port().expect("a port").address().port()));
    let waiting =
        home.start(&[&url(address, "/"), "-n", "3", "-c", "1", "--wait", "50s", "--format", "json"]);
    // By now the program has met the closed port, or it meets the server at its first attempt. Both are correct.
    std::thread::sleep(std::time::Duration::from_millis(300));
    let server =
        target::start(target::Settings { address, ..target::Settings::default() }).expect("the port is free");
    let output = waiting.finish();
    assert_eq!(output.code, Some(0), "{output:?}");
    assert_eq!(number(&output.json(), "outcomes.ok"), 3);
    drop(server);
    let output = home.run(&[&url(address, "/"), "--wait", "0.3"]);
    assert_eq!(output.code, Some(1), "{output:?}");
    assert!(output.stderr.contains("connection refused"), "{output:?}");
}

#[test]
fn resolve_sets_the_address_of_a_host() {
    let (home, target) = (Home::new(), built_in());
    let port = target.address().port();
    let url = format!("http://app.invalid:{port}/status");
    let run = home.json(&[
        url.as_str(),
        "--resolve",
        &format!("app.invalid:{port}:127.0.0.1"),
        "-n",
        "5",
        "-c",
        "1",
    ]);
    assert_eq!(number(&run, "outcomes.ok"), 5, "{run}");
    for (resolve, said) in [
        ("app.invalid:127.0.0.1".to_owned(), "is not HOST:PORT:ADDRESS[,ADDRESS]"),
        (format!("other.invalid:{port}:127.0.0.1"), "is for another host or port than the URL"),
        (format!("app.invalid:{port}:localhost"), "is not HOST:PORT:ADDRESS[,ADDRESS]"),
        (format!("app.invalid:{port}:8.8.8.8"), "8.8.8.8 is a public address"),
    ] {
        let output = home.run(&[url.as_str(), "--resolve", &resolve]);
        assert_eq!(output.code, Some(2), "{output:?}");
        assert!(output.stderr.contains(said), "{resolve}: {output:?}");
    }
}

#[test]
fn init_writes_a_valid_plan_and_overwrites_nothing() {
    let home = Home::new();
    let output = program(&home, &["init"]);
    assert_eq!(output.code, Some(0), "{output:?}");
    let checked = program(&home, &["check", "plan.yaml"]);
    assert_eq!(checked.code, Some(0), "{checked:?}");
    let before = std::fs::read(home.path().join("plan.yaml")).expect("written");
    let again = program(&home, &["init"]);
    assert_eq!(again.code, Some(2), "{again:?}");
    assert!(again.stderr.contains("plan.yaml exists") && again.stderr.contains("help: "), "{again:?}");
    assert_eq!(std::fs::read(home.path().join("plan.yaml")).expect("written"), before);
    assert_eq!(program(&home, &["init", "nowhere/plan.yaml"]).code, Some(1));
}
