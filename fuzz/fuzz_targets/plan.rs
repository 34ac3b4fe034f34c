//! Any bytes as a plan file.
#![no_main]

libfuzzer_sys::fuzz_target!(
    init: fuzz::sow_plans("plan"),
    |bytes: &[u8]| { fuzz::read_plan(bytes) }
);
