//! T24: events whose cost is known: a stall, a reset of every connection, two seconds of 503, a slow recovery, and one that does
//! nothing.

use std::fs;
use std::thread;
use std::time::Duration;

use harness::figures;

use crate::bench::Bench;
use crate::broken::Faults;
use crate::grade::{Finding, Grade};
use crate::tool::{ATTEMPTS, Output, conserves, fit};

const TIMEOUT: Duration = Duration::from_secs(120);
const USERS: f64 = 20.0;

/// An event of a target, and what it costs.
struct Upset {
    what: &'static str,
    /// Flags of the target.
    flags: &'static str,
    action: &'static str,
    load: &'static str,
    path: &'static str,
    /// Both within [`tolerance_s`]; `None`: exactly no outage, and no effect.
    truth: Option<Truth>,
    /// The outcome that every lost request has, and no other; nothing if none is lost.
    lost: Option<&'static str>,
}

/// What is planted, in seconds since the event began.
#[derive(Clone, Copy)]
struct Truth {
    outage_s: f64,
    /// When answers come in the usual number, and within 10 % of the usual response time.
    recovery_s: f64,
}

/// So far an estimate may be from the truth.
fn tolerance_s(truth_s: f64) -> f64 {
    (0.05 * truth_s).max(0.1)
}

const CLOSED: &str = "users: 20";
const OPEN: &str = "rate: 500/s, connections: 100";
const EVEN: &str = "/hold?mean_us=20000";
/// Users who come and go at the same time would all have just asked when they are reset, or none of them. And after a stall they would
/// go on in step, which is another load than before.
const CHANCE: &str = "/hold?dist=exp&mean_us=20000";
const SIGNAL: &str = "signal: USR1";

const UPSETS: [Upset; 5] = [
    Upset {
        what: "stalled for 800 ms",
        flags: "--trouble stall --trouble-for 800ms",
        action: SIGNAL,
        load: CLOSED,
        path: CHANCE,
        // Whoever was asked within it answers at its end.
        truth: Some(Truth { outage_s: 0.8, recovery_s: 0.8 }),
        lost: None,
    },
    Upset {
        what: "every connection is reset",
        flags: "--trouble reset",
        action: SIGNAL,
        load: CLOSED,
        path: CHANCE,
        // Users connect and ask again at once, and holds that are drawn have no memory.
        truth: Some(Truth { outage_s: 0.0, recovery_s: 0.0 }),
        lost: Some("failed"),
    },
    Upset {
        what: "503 for 2 s",
        flags: "--trouble reject --trouble-for 2s",
        action: SIGNAL,
        load: OPEN,
        path: EVEN,
        truth: Some(Truth { outage_s: 2.0, recovery_s: 2.0 }),
        lost: Some("rejected"),
    },
    // Holds are three times longer, and less so until the end: a tenth when 5 % of the time is left. Whoever asks then, after
    // 3.8 s, is answered 0.11 s later. Holds are long beside delays on a busy machine, so the margin is that tenth.
    Upset {
        what: "slower, and less so for 4 s",
        flags: "--trouble slow --trouble-for 4s",
        action: SIGNAL,
        load: "rate: 500/s, connections: 250",
        path: "/hold?mean_us=100000",
        truth: Some(Truth { outage_s: 0.0, recovery_s: 3.91 }),
        lost: None,
    },
    Upset {
        what: "nothing",
        flags: "",
        action: "run: \"true\"",
        load: OPEN,
        path: EVEN,
        truth: None,
        lost: None,
    },
];

pub(crate) fn run(bench: &Bench) -> Vec<Grade> {
    let (tries, needed) = (bench.profile.pick(1, 20), bench.profile.pick(1, 20));
    thread::scope(|scope| {
        let grade = |upset: &'static Upset| {
            let found = bench.side_by_side(tries, |_| judged(bench, upset));
            Grade::of("T24", format!("event: {}", upset.what), needed, found)
        };
        let running: Vec<_> = UPSETS.iter().map(|upset| scope.spawn(move || grade(upset))).collect();
        running
            .into_iter()
            .map(|grade| grade.join().unwrap_or_else(|_| Grade::broken("T24", "it panicked")))
            .collect()
    })
}

fn judged(bench: &Bench, upset: &Upset) -> Result<Finding, String> {
    let said = confirmed(bench, upset)?;
    let run = &said.json;
    conserves(run)?;
    let (validity, causes) = said.validity();
    if validity == "invalid" {
        return Err(format!("called invalid: {}", causes.join(", ")));
    }
    let event = run["events"].get(0).ok_or("no event")?;
    let cost = &event["cost"];
    if cost.is_null() {
        return Err(format!("its cost is unknown: {}", event["cost_unknown"]));
    }
    if cost["recovered"] != "yes" {
        return Err(format!("its recovery is called {}", cost["recovered"]));
    }
    let seconds = |key: &str| cost[key].as_f64().map(|us| us / 1e6);
    let (outage_s, recovery_s) = (seconds("outage_us"), seconds("recovery_us"));
    let lost = cost["lost"].as_f64().ok_or("no lost requests")?;
    let stale = cost["lost_by_class"]["stale_reuse"].as_f64().unwrap_or_default();
    let mut faults = Faults::default();
    let planted = upset.truth.unwrap_or(Truth { outage_s: 0.0, recovery_s: 0.0 });
    let figures = [("outage", outage_s, planted.outage_s), ("recovery", recovery_s, planted.recovery_s)];
    for (name, found_s, planted_s) in figures {
        let tolerance_s = upset.truth.map_or(0.0, |_| tolerance_s(planted_s));
        let is_within = found_s.is_some_and(|found_s| (found_s - planted_s).abs() <= tolerance_s);
        faults.unless(is_within, || {
            format!("{name} {found_s:?} s, planted {planted_s} s within {tolerance_s:.3} s")
        });
    }
    match upset.lost {
        None => faults.unless(lost + stale == 0.0, || format!("{lost} lost, {stale} stale")),
        Some(outcome) => {
            let planted = figures::at(run, &format!("/outcomes/{outcome}"))?;
            faults.unless(lost + stale == planted && planted > 0.0, || {
                format!("{lost} lost, {stale} stale, of {planted} {outcome}")
            });
            // Of 20 ms that a request takes, a reset comes in the first two or three for a few: these may be races.
            faults.unless(lost > planted / 2.0, || {
                format!("{stale} of {planted} {outcome} called unavoidable")
            });
            faults.unless(outcome != "failed" || planted <= USERS, || format!("{planted} {outcome}"));
        }
    }
    let of = |figure: Option<f64>| figure.map_or("–".to_owned(), |s| format!("{s:.2} s"));
    Ok(faults.found(format!("lost {lost}, outage {}, recovery {}", of(outage_s), of(recovery_s))))
}

/// A run, made again if the program itself says that it cannot tell the event from what else went on.
fn confirmed(bench: &Bench, upset: &Upset) -> Result<Output, String> {
    let mut said = fit(|| measured(bench, upset))?;
    for _ in 1..ATTEMPTS {
        if said.word("/events/0/cost/recovered") != "unconfirmed" {
            break;
        }
        said = fit(|| measured(bench, upset))?;
    }
    Ok(said)
}

/// One run of a plan with one event.
fn measured(bench: &Bench, upset: &Upset) -> Result<Output, String> {
    let Upset { flags, action, load, path, .. } = upset;
    let target = bench.target.display();
    let text = format!(
        "scenario: [ {{ get: \"{path}\" }} ]\nload: {{ {load}, warm-up: 1s, for: 14s, timeout: 5s }}\n\
         events: {{ upset: {{ at: 6s }} }}\nsystems:\n  target:\n    \
         start: \"{target} target --listen 127.0.0.1:{{port}} {flags}\"\n    \
         ready: {{ get: /status, within: 20s }}\n    events: {{ upset: {{ {action} }} }}\n"
    );
    let file = bench.file("yaml");
    fs::write(&file, text).map_err(|error| format!("cannot write a plan: {error}"))?;
    let store = bench.file("sqlite");
    let words = ["run", &file.display().to_string(), "--store", &store.display().to_string()];
    let said = bench.tenbin(&words, TIMEOUT)?;
    let run = said.json.pointer("/runs/0").cloned().ok_or("the study has no run")?;
    Ok(Output { json: run, ..said })
}
