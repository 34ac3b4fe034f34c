//! SQLite in this process: every test of this folder, in one program.

mod session;
mod workloads;
