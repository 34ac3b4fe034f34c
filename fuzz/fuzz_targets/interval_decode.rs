//! Any bytes as an interval, and as the histograms of a stored second.
#![no_main]

libfuzzer_sys::fuzz_target!(
    init: fuzz::sow_intervals("interval_decode"),
    |bytes: &[u8]| { fuzz::decode_interval(bytes) }
);
