//! The rules of this project, as tests: what they read lies here, what they demand lies in `tests/`.
//!
//! A rule that a program can check is checked here and nowhere else. Each failure says what is wrong, where, and what to do.
//! The crate is part of no product.

pub mod files;
pub mod lists;
pub mod packages;
pub mod tokens;
pub mod words;
