//! Any bytes as what a server sends: in the protocol that `FUZZ_PROTOCOL` names, or else in each of the list, one after the other.
#![no_main]

libfuzzer_sys::fuzz_target!(init: fuzz::begin_protocol(), |bytes: &[u8]| fuzz::feed(bytes));
