//! Starts, watches and stops systems. It generates no load.

pub mod probes;
