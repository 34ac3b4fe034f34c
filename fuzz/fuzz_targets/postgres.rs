//! Any bytes as what a PostgreSQL server sends.
#![no_main]

libfuzzer_sys::fuzz_target!(
    init: fuzz::sow_samples("postgres"),
    |bytes: &[u8]| {
        fuzz::feed_protocol("postgres", bytes);
        fuzz::greet_protocol("postgres", bytes);
    }
);
