//! Tests of the explanation of planted differences between two variants.

use evidence::FrameKind;

use super::{Explanation, Part, Sides, TimeByPart, explain};
use crate::rung::Rung;

/// Builds a run with the given parts, in microseconds.
fn spent(response_us: f64, parts: &[(Part, f64)]) -> TimeByPart {
    TimeByPart {
        response_us,
        parts: parts.iter().cloned().collect(),
        is_cpu_short: true,
        ..TimeByPart::default()
    }
}

/// Explains eight blocks of a faster and a slower variant, with different noise of a few percent in each.
fn explained(faster: &TimeByPart, slower: &TimeByPart) -> Option<Explanation> {
    let noisy = |of: &TimeByPart, factor: f64| {
        let mut noisy = of.clone();
        noisy.response_us *= factor;
        noisy.parts.values_mut().for_each(|us| *us *= factor);
        noisy.spaces.values_mut().for_each(|us| *us *= factor);
        noisy
    };
    let blocks: Vec<[TimeByPart; 2]> = (0..8)
        .map(|block| {
            let chance = f64::from((block * 5) % 8 - 4) / 400.0;
            [noisy(faster, 1.0 + chance), noisy(slower, 1.0 - chance)]
        })
        .collect();
    explain(Sides::Blocks(&blocks), None).expect("there are blocks enough")
}

#[test]
fn more_cpu_per_request_explains_a_slower_system_if_cpu_is_exhausted() {
    let with_worker = |response_us, cpu_us, worker_us| {
        let mut spent = spent(response_us, &[(Part::Cpu, cpu_us), (Part::Runnable, response_us * 0.6)]);
        spent.spaces.insert(("front".to_owned(), FrameKind::User), 100.0);
        spent.spaces.insert(("worker".to_owned(), FrameKind::User), worker_us);
        spent
    };
    let found = explained(&with_worker(8_000.0, 420.0, 300.0), &with_worker(9_440.0, 496.0, 376.0)).unwrap();
    assert_eq!((found.part, found.runs, found.is_paired), (Part::Cpu, [8, 8], true));
    assert!(
        (found.more_us - 76.0).abs() < 5.0 && found.interval_us.unwrap()[0] > 60.0,
        "{:?}",
        found.interval_us
    );
    let (process, kind, share) = found.space.unwrap();
    assert_eq!((process.as_deref(), kind), (Some("worker"), FrameKind::User));
    assert!(Explanation::is_all(share), "{share}");
}

#[test]
fn cpu_time_is_no_more_than_its_own_part_of_the_growth() {
    let of = |response_us, cpu_us| spent(response_us, &[(Part::Cpu, cpu_us)]);
    let small = explained(&of(8_000.0, 400.0), &of(12_000.0, 420.0));
    assert_eq!(small, None, "5 % of CPU is not 50 % of time");
    assert_eq!(explained(&of(8_000.0, 400.0), &of(12_000.0, 360.0)), None, "less CPU");
    assert_eq!(explained(&of(8_000.0, 400.0), &of(8_000.0, 400.0)), None, "nothing differs");
    let all = explained(&of(8_000.0, 400.0), &of(8_800.0, 1_400.0)).expect("CPU time");
    assert!((all.parts[0].us - 800.0).abs() < 40.0 && all.unseen_us.abs() < 1e-6, "{all:?}");
}

#[test]
fn parts_and_the_unseen_rest_add_up_to_the_growth() {
    let wal = || Part::Database("IO:WALSync".to_owned());
    let of = |response_us, waits_us, cpu_us| {
        let mut spent = spent(response_us, &[(wal(), waits_us), (Part::Cpu, cpu_us), (Part::Disk, waits_us)]);
        spent.is_cpu_short = false;
        spent
    };
    // Commits that wait for the log: CPU time per transaction follows, and the threads of the server sleep for that
    // disk.
    let found = explained(&of(500.0, 20.0, 200.0), &of(900.0, 330.0, 284.0)).expect("waits");
    assert_eq!((found.part.clone(), found.part.rung()), (wal(), Rung::Runtime));
    let parts: Vec<Part> = found.parts.iter().map(|of| of.part.clone()).collect();
    assert_eq!(parts, [wal(), Part::Cpu], "the sleep for the disk is that of the database: {found:?}");
    let sum: f64 = found.parts.iter().map(|of| of.us).sum();
    assert!((sum + found.unseen_us - found.response_more_us).abs() < 1e-6, "{found:?}");
    assert!(found.unseen_us >= 0.0 && found.share > 0.7, "{found:?}");
}

#[test]
fn waits_that_no_reading_shows_are_explained_by_none() {
    // A timer of 9 ms compared with one of 5 ms, together with a pool of idle threads.
    let of = |response_us| {
        let mut spent = spent(response_us, &[(Part::Cpu, 40.0), (Part::Disk, 0.0), (Part::Runnable, 3.0)]);
        spent.is_cpu_short = false;
        spent
    };
    assert_eq!(explained(&of(5_000.0), &of(9_000.0)), None);
}

#[test]
fn exhausted_cpu_time_explains_its_queues_by_arithmetic() {
    // A plain server compared with a proxy: 11.4 µs and 26.6 µs of CPU time per request, on busy cores.
    let of = |response_us, cpu_us| spent(response_us, &[(Part::Cpu, cpu_us)]);
    let found = explained(&of(300.0, 11.4), &of(620.0, 26.6)).expect("CPU time");
    let parts: Vec<(Part, Rung)> = found.parts.iter().map(|of| (of.part.clone(), of.part.rung())).collect();
    assert_eq!(parts, [(Part::Cpu, Rung::Kernel), (Part::CpuQueue, Rung::Arithmetic)]);
    assert!(found.share > 0.9, "{found:?}");
}

#[test]
fn four_blocks_are_explained_without_an_interval() {
    let pairs: Vec<[TimeByPart; 2]> = [1.0, 1.02, 0.99, 1.01]
        .map(|noise| {
            let faster = spent(1_000.0 * noise, &[(Part::Disk, 10.0)]);
            [faster, spent(2_300.0, &[(Part::Disk, 1_250.0 * noise)])]
        })
        .to_vec();
    let found = explain(Sides::Blocks(&pairs), None).flatten().expect("it sleeps for a disk");
    assert_eq!((found.part, found.interval_us, found.runs), (Part::Disk, None, [4, 4]));
}

#[test]
fn waits_for_a_core_are_not_cpu_time_of_the_system() {
    let of =
        |response_us, runnable_us| spent(response_us, &[(Part::Cpu, 400.0), (Part::Runnable, runnable_us)]);
    let found = explained(&of(8_000.0, 4_000.0), &of(12_000.0, 7_800.0)).unwrap();
    assert_eq!(found.part, Part::Runnable);
}

#[test]
fn wait_that_grew_like_the_response_time_explains_it() {
    let of = |response_us, parts: &[(Part, f64)]| spent(response_us, parts);
    let none = |part: Part| (part, 0.0);
    for part in [Part::Pipe, Part::Disk, Part::Dependency, Part::Database("Lock:transactionid".to_owned())] {
        let faster = of(2_000.0, &[(Part::Cpu, 100.0), none(part.clone())]);
        let slower = of(5_000.0, &[(Part::Cpu, 101.0), (part.clone(), 2_900.0)]);
        assert_eq!(explained(&faster, &slower).map(|found| found.part), Some(part));
    }
}

#[test]
fn no_run_gives_no_explanation() {
    assert_eq!(explain(Sides::Blocks(&[]), None), None);
    assert_eq!(explain(Sides::Apart([&[], &[]]), None), None);
}

/// Builds the runs of one side, with noise of about a percent.
fn runs(of: &TimeByPart, count: u32) -> Vec<TimeByPart> {
    let noisy = |run: u32| {
        let factor = 1.0 + f64::from((run * 5) % 8) / 800.0;
        let mut noisy = of.clone();
        noisy.response_us *= factor;
        noisy.parts.values_mut().chain(noisy.spaces.values_mut()).for_each(|us| *us *= factor);
        noisy
    };
    (0..count).map(noisy).collect()
}

#[test]
fn unpaired_runs_are_explained_with_an_interval_only_if_enough() {
    let of = |response_us, cpu_us, process: &str| {
        let mut spent = spent(response_us, &[(Part::Cpu, cpu_us)]);
        spent.spaces.insert((process.to_owned(), FrameKind::User), cpu_us - 20.0);
        spent.spaces.insert((process.to_owned(), FrameKind::Kernel), 20.0);
        spent
    };
    let (faster, slower) = (of(8_000.0, 400.0, "worker"), of(9_440.0, 472.0, "worker"));
    let found = |counts: [u32; 2]| {
        let (faster, slower) = (runs(&faster, counts[0]), runs(&slower, counts[1]));
        explain(Sides::Apart([&faster, &slower]), None).unwrap().unwrap()
    };
    let many = found([6, 5]);
    assert_eq!((many.runs, many.is_paired), ([6, 5], false));
    assert!(many.interval_us.is_some_and(|[low, _]| low > 60.0), "{:?}", many.interval_us);
    let one = found([1, 1]);
    assert_eq!((one.part, one.interval_us), (Part::Cpu, None));
    let (process, kind, _) = one.space.unwrap();
    assert_eq!((process.as_deref(), kind), (Some("worker"), FrameKind::User), "the same process in both");
    let other = explain(Sides::Apart([std::slice::from_ref(&faster), &[of(9_440.0, 472.0, "other")]]), None);
    assert_eq!(other.unwrap().unwrap().space.unwrap().0, None, "which of the two is no question");
}

#[test]
fn small_difference_of_single_runs_is_not_explained() {
    let of = |response_us, cpu_us| [spent(response_us, &[(Part::Cpu, cpu_us)])];
    let explained = |slower: [TimeByPart; 1]| explain(Sides::Apart([&of(8_000.0, 400.0), &slower]), None);
    assert_eq!(explained(of(8_200.0, 410.0)), None, "2.5 % is chance");
    assert_eq!(explained(of(10_000.0, 405.0)), Some(None), "1 % of CPU is chance, and is not 25 % of time");
    assert_eq!(explained(of(7_000.0, 500.0)), None, "it is faster");
}

#[test]
fn stored_baseline_gives_the_same_explanation() {
    let of = |response_us, cpu_us: f64| {
        let mut spent =
            spent(response_us, &[(Part::Cpu, cpu_us), (Part::Database("Lock:tuple".to_owned()), 3.0)]);
        spent.spaces.insert(("worker".to_owned(), FrameKind::User), cpu_us);
        spent.spaces.insert(("worker".to_owned(), FrameKind::Kernel), f64::NAN);
        spent
    };
    let (faster, slower) = (of(8_000.0, 400.0), [of(9_440.0, 472.0)]);
    let kept = TimeByPart::from_stored(&faster.kept());
    assert_eq!(kept.parts, faster.parts);
    let found = explain(Sides::Apart([&[kept], &slower]), None).unwrap().unwrap();
    assert_eq!((found.part, found.space.unwrap().0.as_deref()), (Part::Cpu, Some("worker")));
}
