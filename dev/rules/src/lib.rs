//! Helpers for the rules of this project. The rules themselves are tests in `tests/`.
//!
//! Every rule that a program can check has its only check here. Each failure message gives the error, its place, and the fix. No
//! product contains this crate.

pub mod files;
pub mod lists;
pub mod packages;
pub mod tokens;
pub mod words;
