//! The rules of the workspace: every test of this folder that needs no process of its own, in one program.

mod arrows;
mod classes;
mod clock_reads;
mod documents;
mod lists;
mod protocols;
mod purity;
mod release_checks;
mod statistics;
mod tidy;
mod words;
