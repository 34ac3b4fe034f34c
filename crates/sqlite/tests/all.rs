//! Tests of in-process SQLite, all in one program.

mod session;
mod workloads;
