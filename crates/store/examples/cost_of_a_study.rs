//! Measures the cost of storing and loading a study of many runs: `cargo run --release -p store --example cost_of_a_study`.

#![allow(clippy::print_stdout)]

use std::time::{Duration, Instant};

use evidence::{NewRun, Reading, StudyEnding, StudyPlace, Verdict};
use fixtures::{ending, new_run, new_study, reading};
use record::{Finish, Interval, Outcome, Phase, Tally};
use store::Store;

const SECONDS: u64 = 70;
const REQUESTS_PER_SECOND: u64 = 5_000;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let runs: u32 = std::env::args().nth(1).map_or(Ok(200), |runs| runs.parse())?;
    let folder = tempfile::tempdir()?;
    let path = folder.path().join("tenbin.sqlite");
    let store = Store::open(&path)?;
    let place = |position| StudyPlace {
        block: position / 20,
        position,
        ..fixtures::place("puma", &format!("workers={}", position % 20))
    };
    let id = store.begin_study(&new_study((0..runs).map(place).collect()))?;
    let mut random = 1;
    let (mut seconds_took, mut readings_took, mut kept) = (Duration::ZERO, Duration::ZERO, 0);
    for position in 0..runs {
        let run = store.begin(&NewRun { place: Some((id.clone(), place(position))), ..new_run() })?;
        for second in 0..SECONDS {
            let interval = interval(second, &mut random);
            let readings = readings(&mut random);
            let begun = Instant::now();
            store.keep_second(&run, 0, std::slice::from_ref(&interval))?;
            seconds_took += begun.elapsed();
            let begun = Instant::now();
            store.keep_readings(&run, second, &readings)?;
            readings_took += begun.elapsed();
            kept += readings.len() as u32;
        }
        store.finish(&run, &ending())?;
    }
    store.finish_study(&id, &StudyEnding { ended_at_unix_ms: 0, verdict: Verdict::Complete, why: None })?;
    let calls = runs * SECONDS as u32;
    println!("keep_second: {:?} each; keep_readings: {:?} each", seconds_took / calls, readings_took / calls);
    drop(store);
    let file_bytes = std::fs::metadata(&path)?.len();
    println!("file: {file_bytes} bytes for {runs} runs and {kept} readings");

    let store = Store::open_existing(&path)?;
    let before = rss_kib();
    let begun = Instant::now();
    let study = store.load_study(&id)?;
    println!("load_study: {:?}, {} KiB of memory", begun.elapsed(), rss_kib() - before);
    let begun = Instant::now();
    let sum: f64 = study.runs.iter().flat_map(|run| run.readings()).map(|reading| reading.value).sum();
    println!("all readings: {:?} (their sum is {sum:e})", begun.elapsed());
    let begun = Instant::now();
    let listed = store.studies()?.len();
    println!("studies: {:?} for {listed}", begun.elapsed());
    Ok(())
}

fn draw(random: &mut u64) -> u64 {
    *random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
    *random >> 33
}

/// Builds sixty readings: times in ticks, sizes in pages, counts, shares, and many zeros.
fn readings(random: &mut u64) -> Vec<Reading> {
    let mut all = Vec::new();
    let mut add =
        |subject: &str, metric: &str, label: &str, value| all.push(reading(subject, metric, label, value));
    for core in ["core0", "core1"] {
        for metric in ["cpu_user_s", "cpu_sys_s", "cpu_idle_s", "steal_s", "iowait_s"] {
            let ticks = if metric == "steal_s" { 0 } else { draw(random) % 100 };
            add("machine", metric, core, ticks as f64 / 100.0);
        }
    }
    for subject in ["system", "generator", "app"] {
        add(subject, "cpu_user_s", "", (draw(random) % 1_000_000_000) as f64 / 1e9);
        add(subject, "run_queue_wait_s", "", (draw(random) % 1_000_000_000) as f64 / 1e9);
        add(subject, "rss_bytes", "", (draw(random) % 100_000 * 4_096) as f64);
        for metric in ["swap_bytes", "processes", "threads", "open_files", "page_faults_major"] {
            add(subject, metric, "", (draw(random) % 20) as f64);
        }
        for metric in ["switches_voluntary", "switches_involuntary", "disk_read_bytes", "disk_written_bytes"]
        {
            add(subject, metric, "", (draw(random) % 50_000) as f64);
        }
    }
    for metric in ["net_received_bytes", "net_sent_bytes"] {
        add("machine", metric, "lo", (draw(random) % 100_000_000) as f64);
        add("machine", metric, "eth0", 0.0);
    }
    for metric in
        ["listen_queue", "listen_overflows", "listen_drops", "time_wait_sockets", "swapped_in_pages"]
    {
        add("machine", metric, "", 0.0);
    }
    for metric in ["pressure_cpu_some_share", "pressure_memory_some_share", "pressure_io_some_share"] {
        add("machine", metric, "", (draw(random) % 1_000_000) as f64 / 1e6);
    }
    add("machine", "listen_queue_limit", "8080", 4_096.0);
    add("machine", "memory_available_bytes", "", (draw(random) % 2_000_000 * 4_096) as f64);
    all
}

fn interval(second: u64, random: &mut u64) -> Interval {
    let mut tally = Tally::default();
    for place in 0..REQUESTS_PER_SECOND {
        let sent_ns = second * 1_000_000_000 + place * 200_000;
        // Mostly about a millisecond, with a tail.
        let service_ns = 600_000 + draw(random) % 700 * (draw(random) % 700) + draw(random) % 40_000;
        tally.note_sent(sent_ns);
        tally.note_finished(&Finish {
            intended_ns: sent_ns.saturating_sub(draw(random) % 20_000),
            sent_ns,
            first_byte_ns: Some(sent_ns + service_ns - 10_000),
            finished_ns: sent_ns + service_ns,
            outcome: Outcome::Ok,
            status: 200,
        });
    }
    Interval { second, phase: Phase::Measured, tally, sampled: Vec::new() }
}

/// Returns the resident memory in KiB. 0 if the system does not report it.
fn rss_kib() -> i64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    line.and_then(|line| line.trim().trim_end_matches(" kB").parse().ok()).unwrap_or(0)
}
