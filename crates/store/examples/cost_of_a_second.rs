//! Measures the cost of storing and loading seconds of 100,000 requests: `cargo run --release -p store --example cost_of_a_second`.

#![allow(clippy::print_stdout)]

use std::time::Instant;

use record::{Finish, Interval, Outcome, Phase, Tally};
use store::Store;

const SECONDS: u64 = 600;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let folder = tempfile::tempdir()?;
    let store = Store::open(&folder.path().join("tenbin.sqlite"))?;
    let run = store.begin(&fixtures::new_run())?;
    let mut tally = Tally::default();
    let mut random = 1u64;
    for place in 0..100_000u64 {
        random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        // Log-uniform over four decades, from 20 µs.
        let spread = |bits: u64| 20_000.0 * 10f64.powf((bits & 0xffff) as f64 / 16_384.0);
        let sent_ns = place * 10_000;
        let intended_ns = sent_ns.saturating_sub(spread(random >> 16) as u64 / 20);
        let finished_ns = sent_ns + spread(random >> 40) as u64;
        let (outcome, status) = (Outcome::Ok, 200);
        tally.note_sent(sent_ns);
        tally.note_finished(&Finish {
            intended_ns,
            sent_ns,
            first_byte_ns: Some(finished_ns - 1_000),
            finished_ns,
            outcome,
            status,
        });
    }
    let mut interval = Interval { second: 0, phase: Phase::Measured, tally, sampled: Vec::new() };
    let bytes = interval.tally.encode_histograms().len();

    let begun = Instant::now();
    for second in 0..SECONDS {
        interval.second = second;
        store.keep_second(&run, 0, std::slice::from_ref(&interval))?;
    }
    println!("keep_second: {:?} each, {bytes} bytes of histograms", begun.elapsed() / SECONDS as u32);

    let begun = Instant::now();
    let loaded = store.load(&run)?;
    println!("load: {:?} for {SECONDS} seconds", begun.elapsed());
    let begun = Instant::now();
    let requests = loaded.total(0, Phase::Measured)?.counts.sent;
    println!("total: {:?} for {requests} requests", begun.elapsed());
    Ok(())
}
