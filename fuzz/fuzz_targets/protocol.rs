//! Parses arbitrary bytes as the output of a server: in the protocol in `FUZZ_PROTOCOL`, or else in each protocol, one after the other.
#![no_main]

libfuzzer_sys::fuzz_target!(init: fuzz::begin_protocol(), |bytes: &[u8]| fuzz::feed(bytes));
