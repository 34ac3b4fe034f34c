//! Formats figures, and names the counted units.

use evidence::Unit;
pub use units::Share;
pub use units::shown::{count, decimal, duration, mebibytes, percent, percent_of, percent_up_to, rate};

/// Separator between a load and its duration.
pub const LASTS: &str = " · ";

/// Describes a load with its duration: `100 users, closed · 10 s after 2 s of warm-up`.
pub fn load_for(load: &str, duration_s: Option<f64>, warm_up_ns: u64) -> String {
    let mut words = load.to_owned();
    if let Some(duration_s) = duration_s {
        words.push_str(&format!("{LASTS}{} s", decimal(duration_s, 1)));
    }
    if warm_up_ns > 0 {
        words.push_str(&format!(" after {} s of warm-up", decimal(warm_up_ns as f64 / 1e9, 1)));
    }
    words
}

/// Describes a load with its planned duration after the warm-up.
pub fn planned_load(load: &str, duration_ns: Option<u64>, warm_up_ns: u64) -> String {
    load_for(load, duration_ns.map(|ns| ns as f64 / 1e9), warm_up_ns)
}

/// Formats a number of blocks: `1 block`, `8 blocks`.
pub fn blocks(number: usize) -> String {
    if number == 1 { "1 block".to_owned() } else { format!("{number} blocks") }
}

/// Formats a number of comparisons: `1 comparison`, `3 comparisons`.
pub fn comparisons(number: u32) -> String {
    if number == 1 { "1 comparison".to_owned() } else { format!("{number} comparisons") }
}

/// Returns the singular name of the counted unit.
pub const fn one(unit: Unit) -> &'static str {
    match unit {
        Unit::Requests => "request",
        Unit::Transactions => "transaction",
    }
}

/// Returns the plural name of the counted unit.
pub const fn many(unit: Unit) -> &'static str {
    match unit {
        Unit::Requests => "requests",
        Unit::Transactions => "transactions",
    }
}

/// Formats a number with its unit: `1 request`, `5,000 requests`.
pub fn counted(number: u64, unit: Unit) -> String {
    format!("{} {}", count(number), if number == 1 { one(unit) } else { many(unit) })
}
