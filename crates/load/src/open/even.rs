//! Even arrivals, at equal distances.

use alloc::boxed::Box;

use super::process::Process;

/// Process with the places 0, 1, 2, …
pub static EVEN: Process = Process {
    name: "even",
    title: "even",
    sentence: "at equal distances",
    places: |_| {
        let mut next = 0u64;
        Box::new(move || {
            next += 1;
            (next - 1) as f64
        })
    },
};
