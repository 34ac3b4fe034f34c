//! Planted differences between two variants, and what explains them.

use store::FrameKind;

use super::{Explanation, Part, Spent, explain};

/// A run with these parts, in microseconds.
fn spent(response_us: f64, parts: &[(Part, f64)]) -> Spent {
    Spent { response_us, parts: parts.iter().cloned().collect(), is_cpu_short: true, ..Spent::default() }
}

/// Eight blocks of a faster and a slower variant, with noise of a few percent that is not the same in both.
fn explained(faster: &Spent, slower: &Spent) -> Option<Explanation> {
    let noisy = |of: &Spent, factor: f64| {
        let mut noisy = of.clone();
        noisy.response_us *= factor;
        noisy.parts.values_mut().for_each(|us| *us *= factor);
        noisy.spaces.values_mut().for_each(|us| *us *= factor);
        noisy
    };
    let blocks: Vec<[Spent; 2]> = (0..8)
        .map(|block| {
            let chance = f64::from((block * 5) % 8 - 4) / 400.0;
            [noisy(faster, 1.0 + chance), noisy(slower, 1.0 - chance)]
        })
        .collect();
    explain(&blocks, None).expect("there are blocks enough")
}

#[test]
fn more_cpu_per_request_explains_a_slower_system_where_cpu_is_short() {
    let with_worker = |response_us, cpu_us, worker_us| {
        let mut spent = spent(response_us, &[(Part::Cpu, cpu_us), (Part::Runnable, response_us * 0.6)]);
        spent.spaces.insert(("front".to_owned(), FrameKind::User), 100.0);
        spent.spaces.insert(("worker".to_owned(), FrameKind::User), worker_us);
        spent
    };
    let found = explained(&with_worker(8_000.0, 420.0, 300.0), &with_worker(9_440.0, 496.0, 376.0)).unwrap();
    assert_eq!((found.part, found.blocks), (Part::Cpu, 8));
    assert!((found.more_us - 76.0).abs() < 5.0 && found.interval_us[0] > 60.0, "{:?}", found.interval_us);
    let (process, kind, share) = found.space.unwrap();
    assert_eq!((process.as_deref(), kind), (Some("worker"), FrameKind::User));
    assert!(Explanation::is_all(share), "{share}");
}

#[test]
fn what_grew_too_little_too_much_or_the_other_way_explains_nothing() {
    let of = |response_us, cpu_us| spent(response_us, &[(Part::Cpu, cpu_us)]);
    assert_eq!(explained(&of(8_000.0, 400.0), &of(12_000.0, 420.0)), None, "5 % of CPU is not 50 % of time");
    assert_eq!(explained(&of(8_000.0, 400.0), &of(12_000.0, 360.0)), None, "less CPU");
    assert_eq!(explained(&of(8_000.0, 400.0), &of(8_800.0, 800.0)), None, "CPU doubled, and hardly any time");
    assert_eq!(explained(&of(8_000.0, 400.0), &of(8_000.0, 400.0)), None, "nothing differs");
}

#[test]
fn a_neighbour_is_no_cpu_of_the_system() {
    let of =
        |response_us, runnable_us| spent(response_us, &[(Part::Cpu, 400.0), (Part::Runnable, runnable_us)]);
    let found = explained(&of(8_000.0, 4_000.0), &of(12_000.0, 7_800.0)).unwrap();
    assert_eq!(found.part, Part::Runnable);
}

#[test]
fn the_wait_that_grew_by_as_much_as_the_response_time_explains_it() {
    let of = |response_us, parts: &[(Part, f64)]| spent(response_us, parts);
    let none = |part: Part| (part, 0.0);
    for part in [Part::Lock, Part::Disk, Part::Dependency, Part::Database("Lock:transactionid".to_owned())] {
        let faster = of(2_000.0, &[(Part::Cpu, 100.0), none(part.clone())]);
        let slower = of(5_000.0, &[(Part::Cpu, 101.0), (part.clone(), 2_900.0)]);
        assert_eq!(explained(&faster, &slower).map(|found| found.part), Some(part));
    }
    // Idle threads of a pool at one futex: far more of them than time that anybody waited.
    let faster = of(2_000.0, &[(Part::Lock, 20_000.0)]);
    let slower = of(5_000.0, &[(Part::Lock, 50_000.0)]);
    assert_eq!(explained(&faster, &slower), None);
}

#[test]
fn too_few_blocks_have_no_answer() {
    let pair = [spent(1.0, &[(Part::Cpu, 1.0)]), spent(2.0, &[(Part::Cpu, 2.0)])];
    assert_eq!(explain(&vec![pair; 3], None), None);
    assert_eq!(explain(&[], None), None);
}
