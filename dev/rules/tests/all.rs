//! Rules of the workspace: all tests of this folder that can share a process, in one binary.

mod arrows;
mod classes;
mod clock_reads;
mod dependencies;
mod documents;
mod lists;
mod protocols;
mod purity;
mod release_checks;
mod shares;
mod statistics;
mod tidy;
mod words;
