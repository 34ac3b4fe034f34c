//! Comparisons of configurations: which of them differ, in which direction, and whether the difference matters.
//!
//! [`unpaired`] compares the runs of two studies, which were made at different times.

pub mod unpaired;
