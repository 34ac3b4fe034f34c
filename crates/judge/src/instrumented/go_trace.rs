//! Lines that Go programs write about collections and run queues (`GODEBUG=gctrace=1,schedtrace=1000`).

use evidence::Run;
use stats::median;
use units::Share;

use crate::words::{decimal, percent};

/// Min share of CPU time in collections that a sentence mentions.
const COLLECTING_MIN_SHARE: f64 = 0.02;
/// Min mean number of runnable goroutines without a processor that a sentence mentions.
const QUEUED_MIN: f64 = 0.5;

/// One collection.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Collection {
    /// Time since the program started, in seconds.
    at_s: f64,
    /// CPU time without idle time, and time for which the program was stopped.
    cpu_ms: f64,
    stopped_ms: f64,
    processors: f64,
}

/// State of the scheduler at one time.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Scheduled {
    at_s: f64,
    processors: f64,
    idle: f64,
    queued: f64,
}

/// Describes each process that wrote such lines. Names come from outside: escape them.
pub(super) fn said(runs: &[&Run]) -> Vec<String> {
    let mut names: Vec<&str> = Vec::new();
    for output in runs.iter().flat_map(|run| run.outputs()) {
        if !names.contains(&output.process.as_str()) {
            names.push(&output.process);
        }
    }
    names.into_iter().filter_map(|name| describe_process(name, runs)).collect()
}

fn describe_process(name: &str, runs: &[&Run]) -> Option<String> {
    let (mut collecting, mut stopped, mut queued, mut idle) =
        (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    let mut processors: f64 = 0.0;
    for run in runs {
        let length_s = run.window().map_or(f64::INFINITY, |window| window.ns as f64 / 1e9);
        for output in run.outputs().iter().filter(|output| output.process == name) {
            let text = String::from_utf8_lossy(&output.text);
            let scheduled: Vec<Scheduled> = text.lines().filter_map(scheduled).collect();
            let last_s = scheduled.iter().map(|one| one.at_s).reduce(f64::max)?;
            // The load ends shortly before the program does.
            let is_under_load = |at_s: f64| at_s >= last_s - length_s;
            let under_load: Vec<&Scheduled> =
                scheduled.iter().filter(|one| is_under_load(one.at_s)).collect();
            let count = under_load.len() as f64;
            queued.push(under_load.iter().map(|one| one.queued).sum::<f64>() / count);
            idle.push(under_load.iter().map(|one| one.idle).sum::<f64>() / count);
            processors = under_load.iter().map(|one| one.processors).fold(processors, f64::max);
            let collections: Vec<Collection> =
                text.lines().filter_map(collection).filter(|one| is_under_load(one.at_s)).collect();
            let Some((first, last)) = collections.first().zip(collections.last()) else { continue };
            let over_ms = (last.at_s - first.at_s) * 1e3;
            if collections.len() > 2 && over_ms > 0.0 {
                let rest = &collections[1..];
                let cpu_ms: f64 = rest.iter().map(|one| one.cpu_ms).sum();
                let share =
                    |part_ms: f64, whole_ms: f64| Share::of_measured(part_ms, whole_ms).map(Share::get);
                collecting.extend(share(cpu_ms, over_ms * last.processors.max(1.0)));
                stopped.extend(share(rest.iter().map(|one| one.stopped_ms).sum(), over_ms));
            }
        }
    }
    let mut parts = Vec::new();
    if let Some(share) = median(collecting).filter(|share| *share >= COLLECTING_MIN_SHARE) {
        let stopped = median(stopped).unwrap_or(0.0);
        parts.push(format!(
            "{} of the CPU time of its processors in garbage collection, stopped {} of the time",
            percent(share, 0),
            percent(stopped, 1)
        ));
    }
    let queued = median(queued)?;
    if queued >= QUEUED_MIN {
        parts.push(format!(
            "on average {} goroutines ready to run without one of {} processors, of which {} were idle",
            decimal(queued, 1),
            decimal(processors, 0),
            decimal(median(idle)?, 1)
        ));
    }
    (!parts.is_empty()).then(|| format!("{name} (go): {}", parts.join("; ")))
}

/// Parses `gc 5 @1.234s 8%: 0.01+0.4+0.003 ms clock, 0.02+0.1/0.3/0.6+0.007 ms cpu, …, 2 P`.
fn collection(line: &str) -> Option<Collection> {
    let rest = line.strip_prefix("gc ")?;
    let at_s = rest.split_once('@')?.1.split_once('s')?.0.parse().ok()?;
    let (clock, rest) = rest.split_once(": ")?.1.split_once(" ms clock, ")?;
    let (cpu, rest) = rest.split_once(" ms cpu, ")?;
    let numbers = |text: &str| -> Option<Vec<f64>> {
        text.split(['+', '/'])
            .map(|number| number.parse().ok().filter(|number: &f64| number.is_finite()))
            .collect()
    };
    let ([begins, _, ends], [sweep, assist, background, _, mark]) =
        (*numbers(clock)?.first_chunk()?, *numbers(cpu)?.first_chunk()?);
    let processors = rest.rsplit_once(' ').filter(|(_, word)| word.trim() == "P")?.0.rsplit(' ').next()?;
    Some(Collection {
        at_s,
        cpu_ms: sweep + assist + background + mark,
        stopped_ms: begins + ends,
        processors: processors.parse().ok()?,
    })
}

/// Parses `SCHED 2013ms: gomaxprocs=2 idleprocs=0 … runqueue=12 [3 4]`. Newer versions add figures after the brackets.
fn scheduled(line: &str) -> Option<Scheduled> {
    let (at_ms, rest) = line.strip_prefix("SCHED ")?.split_once("ms: ")?;
    let field = |name: &str| -> Option<f64> {
        rest.split_ascii_whitespace()
            .find_map(|word| word.strip_prefix(name)?.strip_prefix('='))?
            .parse()
            .ok()
    };
    let local =
        rest.split_once('[').and_then(|(_, rest)| rest.split_once(']')).map_or("", |(local, _)| local);
    let local: f64 = local.split_ascii_whitespace().filter_map(|count| count.parse::<f64>().ok()).sum();
    Some(Scheduled {
        at_s: at_ms.trim().parse::<f64>().ok()? / 1e3,
        processors: field("gomaxprocs")?,
        idle: field("idleprocs")?,
        queued: field("runqueue")? + local,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const GC: &str = "gc 7 @1.500s 4%: 0.5+2.0+0.25 ms clock, 1.0+1.5/2.0/9.0+0.5 ms cpu, 4->5->2 MB, 4 MB goal, 0 MB stacks, 0 MB globals, 2 P";
    const SCHED: &str = "SCHED 2013ms: gomaxprocs=2 idleprocs=0 threads=6 spinningthreads=0 needspinning=0 idlethreads=2 runqueue=12 [ 3 4 ] schedticks=[ 1 2 ]";

    #[test]
    fn lines_of_go_are_parsed() {
        let expected = Collection { at_s: 1.5, cpu_ms: 5.0, stopped_ms: 0.75, processors: 2.0 };
        assert_eq!(collection(GC), Some(expected));
        let expected = Scheduled { at_s: 2.013, processors: 2.0, idle: 0.0, queued: 19.0 };
        assert_eq!(scheduled(SCHED), Some(expected));
        assert_eq!(
            scheduled("SCHED 5ms: gomaxprocs=2 idleprocs=1 runqueue=0 [0 0]").map(|one| one.queued),
            Some(0.0)
        );
    }

    #[test]
    fn other_lines_are_ignored() {
        for length in 0..GC.len() {
            assert_eq!(collection(&GC[..length]), None, "{length}");
        }
        for line in ["", "gc", "gc 1 @xs", "SCHED", "SCHED xms: ", "gc 7 @1s 4%: 1 ms clock, 1 ms cpu, 2 P"] {
            assert!(collection(line).is_none() && scheduled(line).is_none(), "{line}");
        }
    }
}
