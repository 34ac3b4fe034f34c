//! Words for figures: how numbers are written, and how what was counted is called.

use store::Unit;
pub use units::shown::{count, decimal, duration, mebibytes, percent, percent_of, percent_up_to, rate};

/// How one of what was counted is called.
pub const fn one(unit: Unit) -> &'static str {
    match unit {
        Unit::Requests => "request",
        Unit::Transactions => "transaction",
    }
}

/// How many of what was counted are called.
pub const fn many(unit: Unit) -> &'static str {
    match unit {
        Unit::Requests => "requests",
        Unit::Transactions => "transactions",
    }
}

/// A number of what was counted: `1 request`, `5,000 requests`.
pub fn counted(number: u64, unit: Unit) -> String {
    format!("{} {}", count(number), if number == 1 { one(unit) } else { many(unit) })
}
