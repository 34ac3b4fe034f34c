//! Kinds of figures: their units, output format, and the syntax of their limits.

use crate::words::{decimal, duration, mebibytes, percent_of, rate};

/// Kind of the figure of a metric.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MetricKind {
    /// A response time, in nanoseconds.
    Response,
    /// A time that is not a response time, in nanoseconds.
    Time,
    /// A share of requests, from 0 to 1.
    Share,
    /// Requests per second.
    Rate,
    /// CPU time, in microseconds.
    Cpu,
    /// Memory, in bytes.
    Bytes,
    /// A number of requests.
    Count,
    /// A number of a plan's own figure.
    Number,
    /// A size of a plan's own figure, in bytes.
    Size,
}

/// Error in a limit, and advice.
pub(crate) type WrongLimit = (String, String);

impl MetricKind {
    /// Returns the unit for programs, and its size in the internal unit of the figure.
    pub const fn unit(self) -> (&'static str, f64) {
        match self {
            Self::Response | Self::Time => ("us", 1e3),
            Self::Share => ("share", 1.0),
            Self::Rate => ("per_s", 1.0),
            Self::Cpu => ("us", 1.0),
            Self::Bytes => ("bytes", 1.0),
            Self::Count => ("requests", 1.0),
            Self::Number => ("number", 1.0),
            Self::Size => ("bytes", 1.0),
        }
    }

    /// Returns the internal unit of the figure, as stored with the figure of a gate.
    pub(crate) const fn stored_unit(self) -> &'static str {
        match self {
            Self::Response | Self::Time => "ns",
            Self::Share => "share",
            Self::Rate => "/s",
            Self::Cpu => "us",
            Self::Bytes => "bytes",
            Self::Count => "requests",
            Self::Number => "number",
            Self::Size => "bytes",
        }
    }

    /// Returns the function that formats a figure with its unit, for people.
    pub fn writer(self) -> fn(f64) -> String {
        match self {
            Self::Response => duration,
            Self::Time => time,
            Self::Share => percent_of,
            Self::Rate => |per_s| format!("{}/s", rate(per_s)),
            Self::Cpu => |us| format!("{} µs", decimal(us, 1)),
            Self::Count => |count| decimal(count, if count.fract() == 0.0 { 0 } else { 1 }),
            Self::Number => number,
            Self::Size => size,
            Self::Bytes => |bytes| format!("{} MiB", mebibytes(bytes.clamp(0.0, u64::MAX as f64) as u64)),
        }
    }

    /// Returns an example of a limit.
    pub const fn example(self) -> &'static str {
        match self {
            Self::Response | Self::Time => "200ms",
            Self::Share => "0.1%",
            Self::Rate => "500/s",
            Self::Cpu => "50us",
            Self::Bytes | Self::Size => "200MiB",
            Self::Count | Self::Number => "5",
        }
    }

    /// Returns whether the figure is a time other than CPU time.
    pub(crate) const fn is_time(self) -> bool {
        matches!(self, Self::Response | Self::Time)
    }

    /// Returns whether the figure is normally 0, so that there is no ratio.
    pub(crate) const fn can_be_zero(self) -> bool {
        matches!(self, Self::Share | Self::Time | Self::Count)
    }

    /// Returns whether the figure counts requests. An unavailable system receives few of them.
    pub(crate) const fn counts_requests(self) -> bool {
        matches!(self, Self::Share | Self::Rate)
    }

    /// Parses a limit.
    pub(crate) fn limit(self, text: &str) -> Result<f64, WrongLimit> {
        let ns = || match units::duration_ns(text)? {
            0 => Err("a time limit must be above 0".to_owned()),
            ns => Ok(ns as f64),
        };
        let limit = match self {
            Self::Response | Self::Time => ns(),
            Self::Cpu => ns().map(|ns| ns / 1e3),
            // A share may be written without `%`. A number above 1 without a unit is likely a mistake.
            Self::Share => match parse_plain_number(text).filter(|share| *share <= 1.0) {
                Some(share) => Ok(share),
                None => units::percent(text),
            },
            Self::Rate => units::rate_per_s(text),
            Self::Bytes | Self::Size => units::size_bytes(text).map(|bytes| bytes as f64),
            Self::Number => parse_plain_number(text).ok_or_else(|| format!("{text:?} is no number")),
            Self::Count => {
                match parse_plain_number(text).filter(|count| count.fract() == 0.0 && *count <= COUNT_MAX) {
                    Some(count) => Ok(count),
                    None => Err(format!("{text:?} is no number of requests")),
                }
            }
        };
        limit.map_err(|what| (what, format!("write {} such as {}", self.noun(), self.example())))
    }

    pub(crate) const fn noun(self) -> &'static str {
        match self {
            Self::Response | Self::Time | Self::Cpu => "a duration",
            Self::Share => "a percentage",
            Self::Rate => "a rate",
            Self::Bytes | Self::Size => "a size",
            Self::Count => "a whole number",
            Self::Number => "a number",
        }
    }
}

/// Formats a time. An infinite time means that the system did not recover.
fn time(ns: f64) -> String {
    if ns == f64::INFINITY { "not back".to_owned() } else { duration(ns) }
}

/// Formats a number with three significant digits, or with all digits before the point.
fn number(number: f64) -> String {
    let sign = if number < 0.0 { "-" } else { "" };
    let size = number.abs();
    match size {
        size if size != 0.0 && size < 0.001 => format!("{number:.2e}"),
        size if size < 100.0 && size.fract() != 0.0 => {
            let digits = if size < 1.0 {
                3
            } else if size < 10.0 {
                2
            } else {
                1
            };
            format!("{number:.digits$}")
        }
        size => format!("{sign}{}", decimal(size, 0)),
    }
}

/// Formats a size in bytes, with a binary unit and three significant digits.
fn size(bytes: f64) -> String {
    let units = ["bytes", "KiB", "MiB", "GiB", "TiB"];
    let (mut value, mut unit) = (bytes, 0);
    while value.abs() >= 1024.0 && unit + 1 < units.len() {
        value /= 1024.0;
        unit += 1;
    }
    let digits = match value.abs() {
        _ if unit == 0 => 0,
        value if value < 10.0 => 2,
        value if value < 100.0 => 1,
        _ => 0,
    };
    format!("{} {}", decimal(value, digits), units[unit])
}

/// Max limit on a number of requests.
const COUNT_MAX: f64 = 1e12;

/// Parses digits with at most one point. Rejects other syntax that `f64` accepts, such as `1e3`.
pub(crate) fn parse_plain_number(text: &str) -> Option<f64> {
    let is_plain = text.len() <= 32 && text.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.');
    is_plain.then(|| text.parse().ok()).flatten()
}
