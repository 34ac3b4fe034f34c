//! Parses arbitrary bytes as a server's responses to a user with cookies, redirects, saved values, and compressed bodies. Bytes
//! before the first zero byte are a path into JSON.
#![no_main]

libfuzzer_sys::fuzz_target!(init: fuzz::begin("sessions"), |bytes: &[u8]| fuzz::feed(bytes));
