//! Parses arbitrary bytes as a log for replay, in each format.
#![no_main]

libfuzzer_sys::fuzz_target!(init: fuzz::begin("logs"), |bytes: &[u8]| fuzz::feed(bytes));
