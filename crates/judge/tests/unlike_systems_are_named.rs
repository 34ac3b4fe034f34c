//! Fifty seeded pairs of stored runs: systems that do other work are named, and equal ones are not.

use evidence::{Ending, NewRun, Run, SizeClasses, StepContents, Unit};
use fixtures::{Chance, OwnStore, ending, new_run};
use judge::alike::compare_work_of_runs;
use record::{Finish, Interval, Outcome, Phase, Sizes, Tally};

const SEED: u64 = 0xa11e;
const REPLIES: u64 = 600;

/// Replies of a system to one step.
#[derive(Clone, Copy, Debug)]
struct Replies {
    unit: Unit,
    /// Share of replies with status 404 in place of 200.
    missing: f64,
    /// Median size in bytes, or number of rows; individual ones differ by up to 20 %.
    size: f64,
    gzip: f64,
    cached: f64,
}

impl Replies {
    fn any(unit: Unit, chance: &mut Chance) -> Self {
        let size = if unit == Unit::Transactions {
            chance.between(4.0, 40.0)
        } else {
            chance.between(300.0, 90_000.0)
        };
        Self {
            unit,
            missing: chance.between(0.0, 0.3),
            size,
            gzip: chance.between(0.0, 0.4),
            cached: chance.between(0.0, 0.4),
        }
    }

    /// Stores a run with these replies, and loads it.
    fn stored(&self, store: &OwnStore, chance: &mut Chance) -> Run {
        let (mut tally, mut sizes) = (Tally::default(), Sizes::default());
        let (mut gzip, mut cache_hits) = (0, 0);
        for number in 0..REPLIES {
            let intended_ns = number * 1_000_000;
            let status = if chance.unit() < self.missing { 404 } else { 200 };
            let finished_ns = intended_ns + 500_000;
            tally.note_sent(intended_ns);
            tally.note_finished(&Finish {
                intended_ns,
                sent_ns: intended_ns,
                first_byte_ns: None,
                finished_ns,
                outcome: Outcome::Ok,
                status,
            });
            sizes.record((self.size * chance.between(0.9, 1.1)).round() as u64);
            gzip += u64::from(chance.unit() < self.gzip);
            cache_hits += u64::from(chance.unit() < self.cached);
        }
        let classes = SizeClasses(sizes.classes().collect());
        let is_http = self.unit == Unit::Requests;
        let contents = StepContents {
            replies: REPLIES,
            sizes: if is_http { classes.clone() } else { SizeClasses::default() },
            rows: if is_http { SizeClasses::default() } else { classes },
            codings: if is_http { vec![("gzip".to_owned(), gzip)] } else { Vec::new() },
            cache_hits: if is_http { cache_hits } else { 0 },
            ..StepContents::default()
        };
        let new = NewRun { units: vec![self.unit], warm_up_ns: 0, ..new_run() };
        let seconds = [Interval { second: 0, phase: Phase::Measured, tally, sampled: Vec::new() }];
        store.kept(&new, &seconds, &[], &Ending { contents: vec![contents], ..ending() })
    }
}

/// Changes the replies of the second system.
type Change = fn(&mut Replies, &mut Chance);

/// Ways in which the work of the second system differs, each with the kind that must be named.
const CHANGES: [(&str, Unit, Change); 5] = [
    ("status", Unit::Requests, |other, chance| other.missing += chance.between(0.15, 0.6)),
    ("size", Unit::Requests, |other, chance| other.size *= chance.between(1.4, 30.0)),
    ("coding", Unit::Requests, |other, chance| other.gzip += chance.between(0.2, 0.6)),
    ("cache", Unit::Requests, |other, chance| other.cached += chance.between(0.2, 0.6)),
    ("rows", Unit::Transactions, |other, chance| other.size *= chance.between(1.4, 10.0)),
];

#[test]
fn fifty_pairs_of_unlike_systems_are_named_and_equal_ones_are_not() {
    let (store, mut chance) = (OwnStore::new(), Chance::new(SEED));
    for pair in 0..50 {
        let (kind, unit, change) = CHANGES[pair % CHANGES.len()];
        let one = Replies::any(unit, &mut chance);
        let mut other = one;
        change(&mut other, &mut chance);
        let [first, again, second] = [one, one, other].map(|of| of.stored(&store, &mut chance));
        let found = compare_work_of_runs(&first, &second).expect("readable runs");
        let kinds: Vec<&str> = found.iter().map(|unlike| unlike.kind.code).collect();
        assert_eq!(kinds, [kind], "pair {pair}, seed {SEED}: {one:?} {other:?}");
        assert_eq!(
            compare_work_of_runs(&first, &again).expect("readable runs"),
            [],
            "pair {pair}, seed {SEED}: {one:?}"
        );
    }
}
