//! Helpers for the rules of this project. The rules themselves are tests in `tests/`.
//!
//! A rule that a program can check is checked here and nowhere else. Each failure says what is wrong, where, and what to do. No
//! product contains this crate.

pub mod files;
pub mod lists;
pub mod packages;
pub mod tokens;
pub mod words;
