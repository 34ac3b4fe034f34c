//! Estimates with intervals, and comparisons with a known error rate. Pure: it knows no system, no SQL, no printing.
#![no_std]

extern crate alloc;
