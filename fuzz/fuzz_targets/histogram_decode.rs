//! Any bytes as the histograms of a stored second.
#![no_main]

libfuzzer_sys::fuzz_target!(
    init: fuzz::sow_histograms("histogram_decode"),
    |bytes: &[u8]| { fuzz::decode_histograms(bytes) }
);
