//! All integration tests of the crate, linked into one program.

mod bottlenecks_so_far;
mod bounds_decide_comparisons;
mod experiments_are_judged;
mod few_blocks_show_large_differences;
mod finalists_are_selected;
mod gates_hold_for_every_setting;
mod gates_of_a_baseline;
mod invalid_runs_prevent_verdicts;
mod lists_are_the_only_ones;
mod procedures_are_replayed;
mod rules_are_documented;
mod slos_are_judged;
mod stored;
mod unlike_systems_are_named;
mod what_a_run_says;
