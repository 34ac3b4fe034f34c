//! Random pairs of systems: unlike ones are named, and natural variation is not.

use fixtures::Chance;
use record::Sizes;

use super::*;
use evidence::{SizeClasses, StepContents};

/// Simulated replies of a system.
#[derive(Clone, Debug)]
struct Server {
    status: u16,
    /// Share of errors, with status 500 and a body of 80 bytes.
    errors: f64,
    /// Share of replies with status 404 and without a body.
    missing: f64,
    size: f64,
    /// Largest ratio of a size to `size`; sizes are spread evenly up to it.
    spread: f64,
    /// Bytes that another notation of equal content adds.
    notation_bytes: f64,
    coded: f64,
    /// Sizes before coding divided by sizes after it.
    compression: f64,
    cached: f64,
    /// Largest number of rows; 0 without rows.
    rows: f64,
}

impl Server {
    fn any(chance: &mut Chance) -> Self {
        let is_coded = chance.unit() < 0.3;
        Self {
            status: [200, 200, 200, 201, 204][chance.pick(5)],
            errors: 0.001 * chance.unit(),
            missing: if chance.unit() < 0.3 { chance.between(0.0, 0.5) } else { 0.0 },
            size: 10f64.powf(chance.between(2.3, 6.0)),
            spread: if chance.unit() < 0.5 { 1.0 } else { chance.between(1.0, 8.0) },
            notation_bytes: 0.0,
            coded: if is_coded { chance.between(0.9, 1.0) } else { 0.0 },
            compression: if is_coded { chance.between(2.0, 8.0) } else { 1.0 },
            cached: if chance.unit() < 0.3 { chance.between(0.1, 1.0) } else { 0.0 },
            rows: if chance.unit() < 0.3 { chance.between(2.0, 50.0).floor() } else { 0.0 },
        }
    }

    /// Replies of a load, as the engine counts them.
    fn work(&self, replies: u64, chance: &mut Chance) -> Work {
        let (mut sizes, mut decoded, mut rows) = (Sizes::default(), Sizes::default(), Sizes::default());
        let mut step = StepWork::default();
        let (mut coded, mut cache_hits) = (0, 0);
        for reply in 0..replies {
            let which = chance.unit();
            let (status, size) = match which {
                which if which < self.errors => (500, 80.0),
                which if which < self.errors + self.missing => (404, 0.0),
                _ => (self.status, self.size * chance.between(1.0, self.spread) + self.notation_bytes),
            };
            *step.statuses.entry(status).or_default() += 1;
            sizes.record(size as u64);
            if chance.unit() < self.coded {
                coded += 1;
                if reply < 64 {
                    decoded.record((size * self.compression) as u64);
                }
            }
            cache_hits += u64::from(chance.unit() < self.cached);
            if self.rows > 0.0 {
                rows.record(chance.between(1.0, self.rows + 1.0) as u64);
            }
        }
        let classes = |sizes: Sizes| SizeClasses(sizes.classes().collect());
        step.add(&StepContents {
            replies,
            sizes: classes(sizes),
            decoded: classes(decoded),
            rows: classes(rows),
            codings: vec![("gzip".to_owned(), coded)],
            cache_hits,
            ..StepContents::default()
        });
        Work { steps: vec![step] }
    }
}

type Change = fn(&mut Server, &mut Chance);

/// Changes that make systems differ, each with the kind that must report it.
const CHANGES: &[(&str, Change)] = &[
    ("status", |server, _| server.status = 301),
    ("status", |server, chance| server.errors = chance.between(0.05, 0.9)),
    ("status", |server, _| server.missing = (server.missing + 0.2).min(0.9)),
    ("size", |server, chance| server.size *= chance.between(1.4, 50.0)),
    ("size", |server, _| server.size = 0.0),
    ("size", |server, _| server.size = 2.0),
    ("size", |server, _| server.spread += 9.0),
    ("coding", |server, chance| {
        server.coded = if server.coded > 0.0 { 0.0 } else { chance.between(0.3, 1.0) };
    }),
    ("cache", |server, _| server.cached = if server.cached > 0.5 { 0.0 } else { 1.0 }),
    ("rows", |server, chance| {
        server.rows = if server.rows > 5.0 { 1.0 } else { server.rows + chance.between(3.0, 50.0) };
    }),
];

fn kinds_of(differences: &[WorkDifference]) -> Vec<&'static str> {
    differences.iter().map(|unlike| unlike.kind.code).collect()
}

#[test]
fn random_pairs_of_unlike_systems_are_all_named() {
    let mut chance = Chance::new(0x5eed);
    for round in 0..10 * CHANGES.len() {
        let (kind, change) = CHANGES[round % CHANGES.len()];
        let mut one = Server::any(&mut chance);
        if kind == "rows" {
            one.rows = one.rows.max(2.0);
        }
        let mut other = one.clone();
        change(&mut other, &mut chance);
        let replies = [(); 2].map(|()| chance.between(200.0, 20_000.0) as u64);
        let works = [one.work(replies[0], &mut chance), other.work(replies[1], &mut chance)];
        let found = unlike(&works[0], &works[1]);
        assert!(kinds_of(&found).contains(&kind), "{kind}: {one:?} {other:?}: {found:?}");
        let turned = unlike(&works[1], &works[0]);
        assert_eq!(kinds_of(&turned), kinds_of(&found), "the order of systems decided");
    }
}

#[test]
fn random_pairs_of_alike_systems_are_not_named() {
    let mut chance = Chance::new(0xa11ce);
    for round in 0..200 {
        let one = Server::any(&mut chance);
        let mut other = one.clone();
        other.errors = 0.001 * chance.unit();
        other.notation_bytes = chance.between(0.0, 12.0);
        let replies = [(); 2].map(|()| chance.between(20.0, 20_000.0) as u64);
        let works = [one.work(replies[0], &mut chance), other.work(replies[1], &mut chance)];
        let found = unlike(&works[0], &works[1]);
        assert!(found.is_empty(), "{round}: {one:?}: {replies:?}: {found:?}");
    }
}

#[test]
fn coded_body_is_compared_by_its_decoded_size() {
    let plain = Server { coded: 0.0, compression: 1.0, size: 135_000.0, spread: 1.0, ..server() };
    let coded = Server { coded: 1.0, compression: 10.0, size: 13_500.0, ..plain.clone() };
    let other = Server { compression: 5.0, ..coded.clone() };
    let mut chance = Chance::new(7);
    let [plain, coded, other] = [plain, coded, other].map(|server| server.work(1_000, &mut chance));
    assert_eq!(kinds_of(&unlike(&plain, &coded)), ["size", "coding"]);
    assert_eq!(kinds_of(&unlike(&coded, &other)), ["decoded_size"]);
}

#[test]
fn missing_evidence_of_one_system_is_no_difference() {
    let mut chance = Chance::new(9);
    let known = server().work(1_000, &mut chance);
    let mut earlier = known.clone();
    let StepWork { name, statuses, .. } = earlier.steps.remove(0);
    earlier.steps.push(StepWork { name, statuses, ..StepWork::default() });
    assert_eq!(unlike(&known, &earlier), []);
    assert_eq!(unlike(&known, &Work::default()), []);
    assert_eq!(unlike(&Work::default(), &Work::default()), []);
}

#[test]
fn few_replies_name_only_complete_differences() {
    let mut chance = Chance::new(11);
    let redirect = Server { status: 301, size: 0.0, ..server() };
    let works =
        |replies: u64, chance: &mut Chance| [server(), redirect.clone()].map(|of| of.work(replies, chance));
    let [one, other] = works(20, &mut chance);
    assert_eq!(kinds_of(&unlike(&one, &other)), ["status", "size"]);
    let [one, other] = works(2, &mut chance);
    assert_eq!(unlike(&one, &other), []);
}

#[test]
fn hostile_counts_cause_no_panic() {
    let classes = SizeClasses(vec![(u64::MAX, u64::MAX), (0, 5), (1, u64::MAX), (u64::MAX, 0)]);
    let contents = StepContents {
        replies: u64::MAX,
        sizes: classes.clone(),
        decoded: classes.clone(),
        rows: classes,
        codings: vec![("x".to_owned(), u64::MAX), ("y".to_owned(), u64::MAX)],
        cache_hits: u64::MAX,
        ..StepContents::default()
    };
    let mut step = StepWork::default();
    step.add(&contents);
    step.add(&contents);
    let works = [Work { steps: vec![step] }, server().work(100, &mut Chance::new(3))];
    for [one, other] in [[0, 0], [0, 1], [1, 0]] {
        let _ = unlike(&works[one], &works[other]);
    }
}

fn server() -> Server {
    Server {
        status: 200,
        errors: 0.0,
        missing: 0.0,
        size: 1_000.0,
        spread: 1.0,
        notation_bytes: 0.0,
        coded: 0.0,
        compression: 1.0,
        cached: 0.0,
        rows: 0.0,
    }
}
