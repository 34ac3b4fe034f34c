//! Tests of procedures and estimates, all in one program.

mod differences;
mod duels;
mod extensions;
mod scalability;
mod searches;
mod steadiness;
mod support;
mod tournaments;
