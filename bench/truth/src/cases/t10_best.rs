//! T10: the best-of search names the configuration that is 5 % better. Among equal ones, it reports none as better.

use std::time::Duration;

use crate::bench::Bench;
use crate::grade::{Finding, Grade};
use crate::plan::{LONGER, Plan, system};
use crate::tool::Output;

pub(crate) fn run(bench: &Bench) -> Vec<Grade> {
    let (ahead, needed_ahead) = bench.profile.pick((1, 1), (20, 17));
    let (equal, needed_equal) = bench.profile.pick((2, 1), (20, 18));
    let settings = bench.profile.pick(6, 8);
    // Equal configurations are eliminated late. Five are as good a test as six in the short profile, and take half a minute less.
    let equals = bench.profile.pick(5, 8);
    vec![
        Grade::of(
            "T10",
            format!("one of {settings} 5 % ahead"),
            needed_ahead,
            bench.attempt_in_parallel(ahead, |number| one_ahead(bench, settings, number)),
        ),
        Grade::of(
            "T10",
            format!("all of {equals} equal"),
            needed_equal,
            bench.attempt_in_parallel(equal, |number| all_equal(bench, equals, number)),
        ),
    ]
}

fn one_ahead(bench: &Bench, settings: u32, number: u32) -> Result<Finding, String> {
    let said = tournament(bench, settings, "1.05", number)?;
    let best = knob(&said, "/comparison/found/0/best");
    Ok(Finding::new(best == "2", format!("{best:?}, confirmed: {}", confirmed(&said))))
}

fn all_equal(bench: &Bench, settings: u32, number: u32) -> Result<Finding, String> {
    let said = tournament(bench, settings, "1", 100 + number)?;
    let tied = said.list("/comparison/found/0/tied").len();
    let verdict = confirmed(&said);
    Ok(Finding::new(tied > 1 || verdict != "differs", format!("{tied} tied, confirmed: {verdict}")))
}

/// Searches for the best of several configurations. The second is unchanged, all others are slower by `factor`.
fn tournament(bench: &Bench, settings: u32, factor: &str, number: u32) -> Result<Output, String> {
    let settings: Vec<String> = (1..=settings).map(|setting| setting.to_string()).collect();
    let flags = format!("{LONGER} $(test {{setting}} = 2 && echo 1 || echo {factor})");
    let start = system("target", &flags, &format!("{{ setting: [{}] }}", settings.join(", ")));
    // A shell picks the factor, so that Tenbin knows only the number of the configuration.
    let systems = start.replace("start: \"", "start: \"sh -c 'exec ").replace(")\"\n", ")'\"\n");
    let plan = Plan {
        question: "Which setting is the best?",
        path: "/hold?dist=lognormal&median_us=10000&sigma=0.2",
        load: "{ users: 2, warm-up: 100ms, for: 1s }",
        systems: &systems,
        compare: "{ by: throughput, matters: 3%, find: best, blocks: 24 }",
        seed: bench.seed_of(10, number),
    };
    let file = plan.write(bench)?;
    bench.tenbin(&["run", &file.display().to_string()], Duration::from_secs(900))
}

/// Returns the configuration's number at a JSON pointer, from the name of a variant or from an object with its parameters.
fn knob(said: &Output, pointer: &str) -> String {
    let named = said.json.pointer(pointer);
    let knob = named.map(|named| named.pointer("/knobs/setting").unwrap_or(named));
    let text =
        knob.map(|knob| knob.as_str().map_or_else(|| knob.to_string(), str::to_owned)).unwrap_or_default();
    text.rsplit(['=', ' ']).next().unwrap_or_default().to_owned()
}

fn confirmed(said: &Output) -> String {
    let verdict = said.word("/comparison/found/0/confirmed/verdict");
    if verdict.is_empty() { "no".to_owned() } else { verdict.to_owned() }
}
