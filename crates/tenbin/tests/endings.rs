//! Every ending of every command occurs, with the listed exit code, name in JSON, and outcome in JUnit.

use std::fs::{self, File};
use std::process::Command;
use std::time::Duration;

use judge::endings::{ENDINGS, EndingRow};
use judge::{CheckOutcome, CommandEnding, CommandGroup};
use rustix::process::Signal;
use serde_json::Value;

use crate::support::systems::assert_nothing_is_left;
use crate::support::{Home, Output, Started, TENBIN, built_in, until, url};

const INCONSISTENT: &str =
    "consistency::inconsistent_tables_end_load_and_study_with_an_exit_code_of_their_own";

/// Cells of the table that other tests reach, each with its test.
const ELSEWHERE: [(CommandEnding, CommandGroup, &str); 8] = [
    (CommandEnding::NothingHolds, CommandGroup::Capacity, "capacity::a_system_that_holds_nothing_is_told_so"),
    // A load that a rule cut off, and a search without a credible run, only occur on a machine that is out of order.
    (CommandEnding::SystemFailed, CommandGroup::Load, "judge: endings::tests::every_verdict_has_one_ending"),
    (
        CommandEnding::Invalid,
        CommandGroup::Capacity,
        "report: ending::tests::a_search_ends_by_the_rates_that_it_found",
    ),
    (
        CommandEnding::SystemFailed,
        CommandGroup::Compare,
        "judge: baseline::tests::a_side_without_runs_that_count_ends_the_command",
    ),
    (CommandEnding::Invalid, CommandGroup::Compare, "invalid_figures_give_no_answer"),
    (CommandEnding::Inconsistent, CommandGroup::Load, INCONSISTENT),
    (CommandEnding::Inconsistent, CommandGroup::Study, INCONSISTENT),
    // A search with such a run ends like any other study.
    (CommandEnding::Inconsistent, CommandGroup::Capacity, INCONSISTENT),
];

/// Endings of a group that the tests below reach.
fn shown(group: CommandGroup) -> Vec<CommandEnding> {
    use CommandEnding::{
        BadArguments, Breached, CouldNotRun, Degraded, Interrupted, Invalid, Ok, Storage, SystemFailed,
        Terminated, Undecided,
    };
    let mut shown = vec![Ok, CouldNotRun, BadArguments];
    shown.extend(match group {
        CommandGroup::Load => vec![Storage, Interrupted, Terminated, Breached, Invalid, Degraded],
        CommandGroup::Study => {
            vec![Storage, Interrupted, Terminated, Breached, Invalid, SystemFailed, Degraded, Undecided]
        }
        CommandGroup::Capacity => vec![Storage, Interrupted, Terminated, SystemFailed],
        CommandGroup::Compare => vec![Storage, Breached, Undecided],
        CommandGroup::Stored => vec![Storage],
        CommandGroup::Check => vec![Interrupted, Terminated, SystemFailed],
        CommandGroup::Work => vec![Interrupted, Terminated],
        CommandGroup::Serve | CommandGroup::Text => Vec::new(),
    });
    shown
}

#[test]
fn every_cell_of_the_table_has_a_test() {
    for row in &ENDINGS {
        for group in CommandGroup::ALL {
            let elsewhere = ELSEWHERE.iter().any(|(ending, of, _)| (*ending, *of) == (row.ending, group));
            let is_shown = shown(group).contains(&row.ending) || elsewhere;
            assert_eq!(is_shown, row.commands.contains(&group), "{} of {:?}", row.name, group.commands());
        }
    }
}

/// Builds a command line with these arguments. `{store}` is replaced by the store of the home.
fn command(home: &Home, arguments: &[&str]) -> Command {
    let mut command = Command::new(TENBIN);
    let store = home.store().to_string_lossy().into_owned();
    command.args(arguments.iter().map(|argument| argument.replace("{store}", &store)));
    home.isolate(&mut command);
    command
}

#[track_caller]
fn assert_ends(output: &Output, ending: CommandEnding) {
    assert_eq!(output.code, Some(ending.code().into()), "{ending:?}: {output:?}");
}

/// Commands, one per group. `{}` is replaced by the input.
const ON: [(CommandGroup, &[&str]); 9] = [
    (CommandGroup::Load, &["{}", "-n", "20", "-c", "2", "--store", "{store}"]),
    (CommandGroup::Study, &["run", "{}", "--store", "{store}"]),
    (CommandGroup::Capacity, &["capacity", "{}", "--slo", "p50<1s", "--quick", "--store", "{store}"]),
    (CommandGroup::Compare, &["compare", "{}", "{}", "--store", "{store}"]),
    (CommandGroup::Stored, &["report", "{}", "--store", "{store}"]),
    (CommandGroup::Check, &["check", "{}"]),
    (CommandGroup::Work, &["machine", "--quick", "--dir", "{}"]),
    (CommandGroup::Serve, &["target", "--listen", "{}"]),
    (CommandGroup::Text, &["completions", "{}"]),
];

fn on(group: CommandGroup, what: &str) -> Vec<&str> {
    let (_, arguments) = ON.iter().find(|(of, _)| *of == group).expect("each group has a command");
    arguments.iter().map(|argument| if *argument == "{}" { what } else { argument }).collect()
}

#[test]
fn every_command_rejects_bad_arguments() {
    for (group, wrong) in CommandGroup::ALL.into_iter().zip([
        "http://",
        "nowhere.yaml",
        "nowhere.yaml",
        "nothing",
        "nothing",
        "nowhere.yaml",
        "",
        "nowhere",
        "nothing",
    ]) {
        let home = Home::new();
        let arguments = match group {
            CommandGroup::Work => vec!["prepare", "postgres://me@127.0.0.1/shop", "--workload", "nothing"],
            _ => on(group, wrong),
        };
        assert_ends(&Started::spawn(command(&home, &arguments)).finish(), CommandEnding::BadArguments);
    }
}

/// Writes a plan for the built-in target.
fn plan(home: &Home, system: &str, load: &str, more: &str) -> String {
    let text = format!("scenario: [ get: '/hold?mean_us=5000' ]\nload: {load}\nsystems:\n{system}{more}");
    let path = home.path().join("plan.yaml");
    fs::write(&path, text).expect("written");
    path.to_string_lossy().into_owned()
}

const TARGET: &str = "  web: { start: '{tenbin} target --listen 127.0.0.1:{port}' }\n";
const SHORT: &str = "{ users: 2, for: 500ms }";

#[test]
fn every_command_reports_that_it_could_not_run() {
    let home = Home::new();
    // A public address is rejected.
    let public = plan(&home, "  web: { url: 'http://192.0.2.1' }\n", SHORT, "");
    for (group, what) in [
        // Port 9 is that of the discard service, if anything listens there.
        (CommandGroup::Load, "http://127.0.0.1:9/"),
        (CommandGroup::Study, public.as_str()),
        (CommandGroup::Capacity, public.as_str()),
        (CommandGroup::Check, public.as_str()),
        (CommandGroup::Work, "/nonexistent"),
    ] {
        assert_ends(&Started::spawn(command(&home, &on(group, what))).finish(), CommandEnding::CouldNotRun);
    }
    let target = built_in();
    let taken = target.address().to_string();
    assert_ends(
        &Started::spawn(command(&home, &on(CommandGroup::Serve, &taken))).finish(),
        CommandEnding::CouldNotRun,
    );
    // A full disk takes no report.
    let url = url(target.address(), "/");
    for _ in 0..2 {
        assert_ends(
            &Started::spawn(command(&home, &on(CommandGroup::Load, &url))).finish(),
            CommandEnding::Ok,
        );
    }
    let runs = names_of_runs(&home);
    let compare = ["compare", &runs[0], &runs[1], "--store", "{store}"];
    for arguments in [&compare[..], &on(CommandGroup::Stored, "last"), &on(CommandGroup::Text, "bash")] {
        let full = File::create("/dev/full").expect("it is there");
        let mut command = command(&home, arguments);
        let status = command.stdout(full).status().expect("it ends");
        assert_eq!(status.code(), Some(CommandEnding::CouldNotRun.code().into()), "{arguments:?}");
    }
}

fn names_of_runs(home: &Home) -> Vec<String> {
    home.history().iter().map(|run| run["id"].as_str().expect("a name").to_owned()).collect()
}

#[test]
fn every_command_with_a_store_reports_a_storage_failure() {
    let (home, target) = (Home::new(), built_in());
    fs::write(home.store(), "this is no store, and long enough to be taken for one".repeat(40))
        .expect("written");
    let plan = plan(&home, TARGET, SHORT, "");
    let url = url(target.address(), "/");
    for (group, what) in [
        (CommandGroup::Load, url.as_str()),
        (CommandGroup::Study, &plan),
        (CommandGroup::Capacity, &plan),
        (CommandGroup::Compare, "last"),
        (CommandGroup::Stored, "last"),
    ] {
        assert_ends(&Started::spawn(command(&home, &on(group, what))).finish(), CommandEnding::Storage);
    }
}

#[test]
fn every_long_command_can_be_interrupted() {
    for (signal, ending) in
        [(Signal::INT, CommandEnding::Interrupted), (Signal::TERM, CommandEnding::Terminated)]
    {
        let home = Home::new();
        let here = home.path().join("here");
        let system =
            format!("  web: {{ start: [ sh, -c, 'touch {}; sleep 40', sh, '{{port}}' ] }}\n", here.display());
        let plan = plan(&home, &system, SHORT, "");
        let target = built_in();
        let url = url(target.address(), "/hold?mean_us=5000");
        let load = ["-d", "30s", "--store", "{store}"];
        for (arguments, is_work) in [
            ([&[url.as_str()][..], &load].concat(), false),
            (on(CommandGroup::Study, &plan), false),
            (on(CommandGroup::Capacity, &plan), false),
            (vec!["check", "--start", &plan], false),
            (vec!["machine"], true),
        ] {
            let _ = fs::remove_file(&here);
            let begun = target.counters().requests;
            let mut program = Started::spawn(command(&home, &arguments));
            let is_load = arguments[0] == url;
            match is_work {
                true => std::thread::sleep(Duration::from_millis(500)),
                false => until("it is at work", || {
                    let is_at_work = if is_load { target.counters().requests > begun } else { here.exists() };
                    is_at_work || !program.is_running()
                }),
            }
            program.signal(signal);
            assert_ends(&program.finish(), ending);
        }
        assert_nothing_is_left(&home);
    }
}

/// Repeats a command that a busy machine can disturb until it ends as expected, at most five times.
#[track_caller]
fn until_it_ends(ending: CommandEnding, mut make: impl FnMut() -> Output) -> Output {
    let mut output = make();
    for _ in 0..4 {
        if output.code == Some(ending.code().into()) {
            break;
        }
        output = make();
    }
    assert_ends(&output, ending);
    output
}

/// Asserts that the reports of the newest study or run have this ending in JSON and as test cases.
#[track_caller]
fn assert_reported(home: &Home, row: &EndingRow) {
    let report = |format: &str| {
        let name = home.history()[0]["id"].as_str().expect("a name").to_owned();
        home.run(&["report", &name, "--format", format]).stdout
    };
    let json: Value = serde_json::from_str(&report("json")).expect("JSON");
    assert_eq!(json["ending"], row.name, "{}", json["ending"]);
    let (junit, github) = (report("junit"), report("github"));
    match row.check {
        CheckOutcome::Passed => {
            assert!(
                !junit.contains("<failure") && !junit.contains("<error") && !junit.contains("<skipped"),
                "{junit}"
            );
        }
        other => {
            let [element, annotation] = [other.junit(), other.github()].map(Option::unwrap_or_default);
            assert!(junit.contains(&format!("<{element}")), "{junit}");
            assert!(github.contains(&format!("::{annotation} ")), "{github}");
        }
    }
    let fails = junit.contains("<failure") || junit.contains("<error");
    assert_eq!(fails, row.code != 0, "{junit}");
}

/// A system that stops answering after 500 ms. Its users time out after 300 ms.
const HANGS: &str = "  web: { start: '{tenbin} target --hang-after 500ms --listen 127.0.0.1:{port}' }\n";

#[test]
fn ending_of_a_study_follows_from_its_result() {
    let fails = "  gone: { start: [ sh, -c, 'exit 3', sh, '{port}' ] }\n";
    let not_sent = "{ rate: 1000/s, connections: 1, shed-after: 100ms, for: 1s }";
    let gone = "{ rate: 20/s, for: 2s, timeout: 300ms, connections: 20 }";
    let baseline = "compare: { baseline: { label: main } }\ngates: [ 'errors <= +1% of baseline' ]\n";
    let two = format!("{TARGET}{fails}");
    for (system, load, more, ending) in [
        (TARGET, SHORT, "", CommandEnding::Ok),
        (TARGET, SHORT, "gates: [ mean<1ms ]\n", CommandEnding::Breached),
        (TARGET, not_sent, "", CommandEnding::Invalid),
        (TARGET, not_sent, "gates: [ errors<1% ]\n", CommandEnding::Invalid),
        // The other system is measured.
        (&two, SHORT, "compare: { blocks: 2 }\n", CommandEnding::SystemFailed),
        (HANGS, gone, "", CommandEnding::Degraded),
        (HANGS, gone, "gates: [ errors<1% ]\n", CommandEnding::Breached),
        (TARGET, SHORT, baseline, CommandEnding::Undecided),
    ] {
        let home = Home::new();
        let plan = plan(&home, system, load, more);
        until_it_ends(ending, || home.run(&["run", &plan]));
        assert_reported(&home, ending.row());
        assert_nothing_is_left(&home);
    }
}

#[test]
fn ending_of_a_load_follows_from_its_result() {
    let target = built_in();
    let hanging = target::start(target::Settings {
        hang: Some(target::Hang { after: Duration::from_millis(500), share: 1.0 }),
        ..target::Settings::default()
    })
    .expect("a target");
    let answers = url(target.address(), "/hold?mean_us=5000");
    let hangs = url(hanging.address(), "/status");
    let not_sent = ["-R", "1000/s", "-c", "1", "-d", "1s", "--shed-after", "100ms"];
    for (url, flags, ending) in [
        (&answers, &["-n", "50", "-c", "2"][..], CommandEnding::Ok),
        (&answers, &["-n", "50", "-c", "2", "--slo", "mean<1ms"], CommandEnding::Breached),
        (&answers, &not_sent, CommandEnding::Invalid),
        (&answers, &[&not_sent[..], &["--slo", "mean<1ms"]].concat(), CommandEnding::Invalid),
        (&hangs, &["-R", "20/s", "-c", "20", "-d", "2s", "--timeout", "300ms"], CommandEnding::Degraded),
    ] {
        let home = Home::new();
        until_it_ends(ending, || home.run(&[&[url.as_str()][..], flags].concat()));
        assert_reported(&home, ending.row());
    }
}

#[test]
fn invalid_figures_give_no_answer() {
    let (home, target) = (Home::new(), built_in());
    let url = url(target.address(), "/hold?mean_us=5000");
    let load = |more: &[&str]| home.run(&[&[url.as_str()][..], more].concat());
    for _ in 0..2 {
        until_it_ends(CommandEnding::Invalid, || {
            load(&["-R", "1000/s", "-c", "1", "-d", "1s", "--shed-after", "100ms"])
        });
    }
    let compare = |names: &[String], condition: &str, ending: CommandEnding| {
        let arguments = ["compare", &names[1], &names[0], "--fail-if", condition];
        let output = home.run(&[&arguments[..], &["--format", "json"]].concat());
        assert_ends(&output, ending);
        assert_eq!(output.json()["ending"], ending.row().name, "{output:?}");
        let junit = home.run(&[&arguments[..], &["--format", "junit"]].concat()).stdout;
        let fails = junit.contains("<failure") || junit.contains("<error");
        assert_eq!(fails, ending.code() != 0, "{junit}");
    };
    compare(&names_of_runs(&home), "errors>1%", CommandEnding::Invalid);
    for _ in 0..2 {
        until_it_ends(CommandEnding::Ok, || load(&["-n", "50", "-c", "2"]));
    }
    let names = names_of_runs(&home);
    compare(&names, "errors>1%", CommandEnding::Ok);
    compare(&names, "mean>1ms", CommandEnding::Breached);
    compare(&names, "throughput<95% of baseline", CommandEnding::Undecided);
}

#[test]
fn ending_of_other_commands_follows_from_their_result() {
    let home = Home::new();
    let good = plan(&home, TARGET, "{ rate: 10/s, for: 500ms }", "");
    let output = home.run(&[
        "capacity",
        &good,
        "--slo",
        "errors<50%",
        "--from",
        "20/s",
        "--to",
        "30/s",
        "--quick",
        "--no-overload",
    ]);
    // A machine without a free core makes the runs invalid.
    assert!(
        [CommandEnding::Ok, CommandEnding::Invalid]
            .map(|ending| Some(ending.code().into()))
            .contains(&output.code),
        "{output:?}"
    );
    for arguments in [
        &["check", &good][..],
        &["machine", "--permissions"],
        &["completions", "bash"],
        &on(CommandGroup::Stored, "last"),
    ] {
        assert_ends(&Started::spawn(command(&home, arguments)).finish(), CommandEnding::Ok);
    }
    let mut serving = Started::spawn(command(&home, &["target", "--listen", "127.0.0.1:0"]));
    std::thread::sleep(Duration::from_millis(300));
    assert!(serving.is_running());
    serving.signal(Signal::INT);
    assert_ends(&serving.finish(), CommandEnding::Ok);
    let failing = plan(
        &home,
        "  gone: { start: [ sh, -c, 'exit 3', sh, '{port}' ] }\n",
        "{ rate: 10/s, for: 500ms }",
        "",
    );
    for arguments in [vec!["check", "--start", &failing], on(CommandGroup::Capacity, &failing)] {
        assert_ends(&Started::spawn(command(&home, &arguments)).finish(), CommandEnding::SystemFailed);
    }
    assert_nothing_is_left(&home);
}
