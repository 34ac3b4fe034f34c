//! Prints the shares of right, wrong, and undecided comparisons, and their durations, by planted difference, machine, figure, and
//! slices or whole runs. The first argument is the number of comparisons per cell, by default two thousand.

#![allow(clippy::print_stdout)]

use simulator::trials::{Cell, Figure, LoadArrangement, MACHINES};

const SEED: u64 = 35;
const PLANTED: [f64; 7] = [0.0, 0.02, 0.05, 0.1, 0.5, 1.0, 9.0];

fn main() {
    let count = std::env::args().nth(1).and_then(|count| count.parse().ok()).unwrap_or(2_000);
    for figure in [Figure::Throughput, Figure::Mean, Figure::P99] {
        println!("\n{figure:?}\n\n| machine | planted | slices | blocks |\n|---|--:|---|---|");
        for machine in MACHINES {
            for planted in PLANTED {
                let cell = |way| {
                    let found = Cell { machine, figure, planted, way }.compare(SEED, count);
                    let share = |of: u32| 100.0 * f64::from(of) / f64::from(count);
                    let [right, wrong, open] = [found.right, found.wrong, found.undecided].map(share);
                    let [median_s, most_s] = found.seconds;
                    let in_time = share(found.right_within_60_s);
                    format!(
                        "{right:.1}, {wrong:.2}, {open:.1} %; {median_s:.0}, {most_s:.0} s; {in_time:.0} %"
                    )
                };
                let [slices, blocks] = [LoadArrangement::Slices, LoadArrangement::Blocks].map(cell);
                println!("| {} | {:.0} % | {slices} | {blocks} |", machine.name, planted * 100.0);
            }
        }
    }
}
