//! Any bytes as what a MySQL or MariaDB server sends.
#![no_main]

libfuzzer_sys::fuzz_target!(
    init: fuzz::sow_samples("mysql"),
    |bytes: &[u8]| {
        fuzz::feed_protocol("mysql", bytes);
        fuzz::greet_protocol("mysql", bytes);
    }
);
