//! S1 to S4: statistical procedures on simulated queues. The planted truths are exact, and a thousand trials take seconds.

use record::Percentile;
use simulator::closed_forms::capacity_per_s;
use simulator::trials::{self, DuelTrial, Duels, SearchTrial, Searches, TournamentTrial, Tournaments};
use simulator::{Condition, Noise, Noisy, Queue, Service, Shape, judge};
use stats::{DuelRules, MinEffect, SearchRules, TournamentRules};

use crate::bench::Bench;
use crate::grade::Grade;

const THREADS: u32 = 2;
const DUEL: DuelRules = DuelRules {
    matters: MinEffect::share(0.03),
    higher_is_better: true,
    blocks_max: 24,
    pilot_blocks: 0,
    family: 1,
    looks_early: false,
    has_control: false,
};
/// Noise of 1.4 % per run, so that the log ratio of two paired runs has a standard deviation of 2 %.
const NOISE: Noise = Noise { of_run: 0.014, of_block: 0.05, wander: 0.0, shape: Shape::Normal };

/// Compares equal queues, and systems that differ by a known ratio.
pub(crate) fn duels(bench: &Bench) -> Vec<Grade> {
    const DUELS: u32 = 1_000;
    let equal = halves(bench.seed, DUELS, |seed, count| trials::duels_of_equal_queues(DUEL, seed, count));
    let differs: u32 = equal.iter().map(|found| found.differs).sum();
    let ended: u32 = equal.iter().map(|found| found.ended).sum();
    let noisy = |ratio: f64| {
        trials::duels(&DuelTrial { rules: DUEL, ratio }, bench.seed, DUELS, |seed| {
            let mut systems = Noisy::new(vec![100.0 * ratio, 100.0], NOISE, seed);
            move |side, block| systems.run(side, block)
        })
    };
    let (five, half) = (noisy(1.05), noisy(1.005));
    vec![
        counted("S1", "equal M/M/1 queues", ended - differs, DUELS, 930, format!("{differs} differ")),
        counted("S1", "5 % apart", five.differs - five.wrong, DUELS, 980, words(&five)),
        counted("S1", "0.5 % apart, 3 % matter", half.equivalent, DUELS, 880, words(&half)),
    ]
}

fn words(found: &Duels) -> String {
    format!("{} differ, {} equivalent, {} undecided", found.differs, found.equivalent, found.inconclusive)
}

/// Searches the capacity of four servers of 10 ms, which is known from theory.
pub(crate) fn searches(bench: &Bench) -> Vec<Grade> {
    const SEARCHES: u32 = 1_000;
    let found = halves(bench.seed, SEARCHES, search_queues);
    let sum = |figure: fn(&Searches) -> u32| found.iter().map(figure).sum::<u32>();
    let (right, too_high, runs) =
        (sum(|found| found.right), sum(|found| found.too_high), sum(|found| found.runs));
    let words = format!("{too_high} too high, {} runs each", runs / SEARCHES);
    let planted = "M/D/4, p95 < 50 ms, within 3 %, at most 6 % wide";
    vec![
        counted("S2", planted, right, SEARCHES, 900, words),
        counted("S2", "never more than 3 % too high", SEARCHES - too_high, SEARCHES, 990, String::new()),
    ]
}

fn search_queues(seed: u64, count: u32) -> Searches {
    let queue = Queue { servers: 4, service: Service::Constant { ns: 10_000_000 } };
    let condition = Condition { percentile: Percentile::P95, limit_s: 0.050, warm_up_s: 1, measured_s: 25 };
    let capacity = capacity_per_s(4, 0.010, 0.95, 0.050).unwrap_or_default();
    let rules = SearchRules {
        resolution: 0.03,
        from_per_s: None,
        to_per_s: None,
        confirm_runs: 5,
        overruled_by: stats::OVERRULE_LEAD,
        has_overload: false,
        has_soak: false,
        runs_max: 200,
        seed,
    };
    let trial = SearchTrial { rules, capacity_per_s: capacity, near: 0.03, wide: 0.06 };
    trials::searches(&trial, seed, count, |seed| {
        let mut runs = 0;
        move |level, overload_per_s| {
            runs += 1;
            judge(&queue, &condition, level, overload_per_s, seed.wrapping_add(runs))
        }
    })
}

/// Searches for the best of eight configurations: one is 5 % ahead, or all are equal.
pub(crate) fn tournaments(bench: &Bench) -> Vec<Grade> {
    const TOURNAMENTS: u32 = 1_000;
    let rules = TournamentRules {
        settings: 8,
        matters: 0.03,
        higher_is_better: true,
        blocks_max: 24,
        incumbent: None,
        has_confirmation: true,
    };
    let of = |best: Option<usize>| {
        let mut truths = vec![100.0; 8];
        if let Some(best) = best {
            truths[best] *= 1.05;
        }
        trials::tournaments(&TournamentTrial { rules, best }, bench.seed, TOURNAMENTS, |seed| {
            let mut systems = Noisy::new(truths.clone(), NOISE, seed);
            move |setting, block| systems.run(setting, block)
        })
    };
    let words = |found: &Tournaments| {
        format!("{} confirmed, {} runs each", found.confirmed, found.runs / TOURNAMENTS)
    };
    let (ahead, equal) = (of(Some(5)), of(None));
    vec![
        counted("S3", "one of eight 5 % ahead", ahead.right, TOURNAMENTS, 930, words(&ahead)),
        counted("S3", "eight equal, none confirmed", equal.right, TOURNAMENTS, 930, words(&equal)),
    ]
}

/// Freezes servers, and checks that rates cover only the measured window.
pub(crate) fn freezes(bench: &Bench) -> Vec<Grade> {
    const FREEZES: u32 = 1_000;
    let found = trials::freezes(bench.seed, FREEZES);
    let words = format!("by first and last request {} would be too fast", found.fast_by_span);
    vec![
        counted("S4", "frozen servers, answers ≤ offered + backlog", found.possible, FREEZES, FREEZES, words),
        counted("S4", "frozen servers, accounts", found.conserved, FREEZES, FREEZES, String::new()),
    ]
}

fn counted(
    case: &'static str,
    planted: impl Into<String>,
    good: u32,
    of: u32,
    needed: u32,
    found: String,
) -> Grade {
    Grade { case, planted: planted.into(), found, good, of, needed, remarks: Vec::new() }
}

/// Runs half of the trials on each of two threads, with a separate seed for each thread.
fn halves<T: Send>(seed: u64, count: u32, of: impl Fn(u64, u32) -> T + Sync) -> Vec<T> {
    std::thread::scope(|scope| {
        let of = &of;
        let started: Vec<_> = (0..THREADS)
            .map(|thread| {
                scope.spawn(move || {
                    of(seed.wrapping_mul(THREADS.into()).wrapping_add(thread.into()), count / THREADS)
                })
            })
            .collect();
        started.into_iter().filter_map(|thread| thread.join().ok()).collect()
    })
}
