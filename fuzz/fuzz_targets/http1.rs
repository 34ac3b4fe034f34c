//! Any bytes as what an HTTP/1.1 server sends.
#![no_main]

libfuzzer_sys::fuzz_target!(
    init: fuzz::sow_samples("http1"),
    |bytes: &[u8]| { fuzz::feed_protocol("http1", bytes) }
);
