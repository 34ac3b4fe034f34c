//! Times without any ok answer that come again and again, and the collection of garbage.

use stats::median;

use super::Rule;
use super::cause::{Bottleneck, Scope, suspected};
use super::evidence::Evidence;
use super::stopped::THEY_WERE_STOPPED;
use super::words::percent;
use crate::causes::Resource;
use crate::words::decimal;

/// So many in a run are no single event.
const TIMES: f64 = 3.0;
/// Of the measured window.
const OF_WINDOW: f64 = 0.05;
/// Of the CPU time of the system, what goes into collecting where it decides.
const COLLECTING: f64 = 0.3;
/// Cores: a system that does next to nothing may collect for a third of it.
const COLLECTING_CORES: f64 = 0.2;

impl Resource {
    /// Stops of the whole system.
    pub const PAUSES: Self = Self::new("pauses", "pauses of the whole system").next(
        "look for what stops it at these times: garbage collection, a blocked event loop, checkpoints, or a job that runs periodically",
    );
    /// Memory of a runtime that is short of it.
    pub const GARBAGE_COLLECTION: Self =
        Self::new("garbage_collection", "garbage collection").next(OF_COLLECTIONS);
}

const OF_COLLECTIONS: &str = "enlarge the heap (-Xmx), keep less alive, or allocate less per request; the log of the collector says how \
                              long each collection stops the program (-Xlog:gc)";

pub(super) const PAUSES: Rule = Rule {
    finds: &[Resource::PAUSES],
    when: "in half of the runs, three outages or more that take 5 % of the measured time together",
    why: "an outage is longer than 250 ms and than ten usual response times: no request is answered meanwhile, so queues do not explain it",
    refuted_by: &[THEY_WERE_STOPPED],
    find: pauses,
};

fn pauses(evidence: &Evidence<'_>) -> Option<Bottleneck> {
    let of_run = |run: &super::RunEvidence<'_>| {
        let outage = run.measured.outage.as_ref()?;
        let share = outage.out_share((run.measured.window?.length_s * 1e9) as u64);
        Some((outage.times.len() as f64, share, outage.longest_s))
    };
    let runs: Vec<(f64, f64, f64)> = evidence.runs.iter().filter_map(of_run).collect();
    let times = median(runs.iter().map(|run| run.0)).filter(|times| *times >= TIMES)?;
    let share = median(runs.iter().map(|run| run.1)).filter(|share| *share >= OF_WINDOW)?;
    let longest_s = median(runs.iter().map(|run| run.2))?;
    let because = format!(
        "nothing was answered ok for {} of the time, in {} pauses of up to {} s",
        percent(share),
        decimal(times, 0),
        decimal(longest_s, 2)
    );
    let cause = suspected(Resource::PAUSES, Scope::System, because);
    Some(match collecting(evidence) {
        // Cores are busy with it: they are no other cause.
        Some(words) => {
            let cause = cause.direct(Some(1.0)).and([words]).next(OF_COLLECTIONS);
            Bottleneck { share: Some(share), ..cause }
        }
        None => cause.direct(Some(share)),
    })
}

pub(super) const COLLECTIONS: Rule = Rule {
    finds: &[Resource::GARBAGE_COLLECTION],
    when: "threads that collect garbage (OpenJDK, .NET) used 30 % of the CPU time of the system, and 0.2 cores, and there \
           were no pauses as above",
    why: "a heap that is large enough is collected seldom. Cores that are busy with it are no other cause",
    refuted_by: &[],
    find: collections,
};

fn collections(evidence: &Evidence<'_>) -> Option<Bottleneck> {
    // They are said with the pauses that they cause.
    if pauses(evidence).is_some() {
        return None;
    }
    let cause = suspected(Resource::GARBAGE_COLLECTION, Scope::System, collecting(evidence)?);
    Some(cause.direct(Some(1.0)).without_share())
}

fn collecting(evidence: &Evidence<'_>) -> Option<String> {
    let [collecting, ran] = cores_of_collecting(evidence)?;
    share_of_collecting(evidence)?;
    Some(format!(
        "threads that collect garbage used {} of the {} cores that the system used",
        decimal(collecting, 2),
        decimal(ran, 2)
    ))
}

fn share_of_collecting(evidence: &Evidence<'_>) -> Option<f64> {
    let [collecting, ran] = cores_of_collecting(evidence)?;
    Some(collecting / ran).filter(|share| *share >= COLLECTING && collecting >= COLLECTING_CORES)
}

fn cores_of_collecting(evidence: &Evidence<'_>) -> Option<[f64; 2]> {
    let collecting = evidence.signal(|signals| signals.waits.collecting_cores)?;
    Some([collecting, evidence.cores()?.system?])
}
