//! The rules of this project, as tests: what they read lies here, what they demand lies in `tests/`.
//!
//! A rule that a program can check is checked here and nowhere else. Each failure says what is wrong, where, and the way
//! out. The crate is part of no product.

pub mod files;
pub mod packages;
pub mod tokens;
