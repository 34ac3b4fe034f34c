//! Decodes arbitrary bytes as an interval, and as the histograms of a stored second.
#![no_main]

libfuzzer_sys::fuzz_target!(init: fuzz::begin("interval_decode"), |bytes: &[u8]| fuzz::feed(bytes));
