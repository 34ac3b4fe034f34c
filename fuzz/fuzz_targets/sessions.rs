//! Any bytes as what a server sends to a user with cookies, redirects, saved values, and compressed bodies; before a zero byte the
//! path into JSON.
#![no_main]

libfuzzer_sys::fuzz_target!(init: fuzz::begin("sessions"), |bytes: &[u8]| fuzz::feed(bytes));
