//! The program: every test of this folder that needs no process of its own, in one program.

mod bad_input;
mod both_kinds;
mod capacity;
mod checks;
mod compares;
mod database_restarts;
mod database_studies;
mod database_wire;
mod databases;
mod ends_in_time;
mod extends;
mod hostile_words;
mod json_contract;
mod kill;
mod output;
mod procedures;
mod rates;
mod reports;
mod results;
mod same_statements;
mod seeds;
mod signals;
mod storage;
mod stores_of_before;
mod studies;
mod study_killed;
mod study_trouble;
mod support;
mod target_flags;
#[path = "../../engine/tests/support/tls.rs"]
mod tls;
mod validity;
