//! Parses arbitrary bytes as a plan file.
#![no_main]

libfuzzer_sys::fuzz_target!(init: fuzz::begin("plan"), |bytes: &[u8]| fuzz::feed(bytes));
