//! Shared code of the benchmarks: starts, pins, and times programs in turn, and summarizes several rounds. Also detects whether the
//! machine was quiet during a test or benchmark.

pub mod aligned;
pub mod child;
pub mod cores;
pub mod figures;
pub mod group;
pub mod interrupt;
pub mod markdown;
pub mod program;
pub mod quiet;
pub mod row;
pub mod say;
pub mod spread;
pub mod tenbin;
pub mod time_file;
pub mod timed;
pub mod version;
