//! Procedures and estimates: every test of this folder that needs no process of its own, in one program.

mod differences;
mod duels;
mod extensions;
mod scalability;
mod searches;
mod steadiness;
mod support;
mod tournaments;
