//! HdrHistogram's interval log, version 1.3: response time, service time, and send delay of every second, in nanoseconds.
//!
//! The log has all requests that ended in the measured phase. The maximum of each histogram is in milliseconds.

use std::io::{self, Write};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use miniz_oxide::deflate::compress_to_vec_zlib;
use record::{Histogram, Phase, Tally};

use super::{Format, FormatWriter};
use crate::error::ReportError;
use crate::view::View;

/// Precision of the recorded histograms.
const SIGNIFICANT_DIGITS: u32 = 3;
/// Cookie of an uncompressed histogram in HdrHistogram's encoding V2.
const V2_COOKIE: u32 = 0x1c84_9303 | 0x10;
/// Cookie of a compressed histogram.
const V2_COMPRESSED_COOKIE: u32 = 0x1c84_9304 | 0x10;
/// Default level of zlib.
const COMPRESSION_LEVEL: u8 = 6;

pub(super) const FORMAT: Format = Format {
    name: "hlog",
    sentence: "HdrHistogram's interval log: response time, service time, and send delay of every second, in nanoseconds",
    extension: "hlog",
    way: FormatWriter::Picked { runs: write, study: None, compared: None },
};

/// Writes the log of one run.
fn write(views: &[View<'_>], out: &mut dyn Write) -> Result<(), ReportError> {
    let [view] = views else {
        return Err(ReportError::OneRunOnly { format: FORMAT.name, runs: views.len() });
    };
    header(view, out)?;
    let mut log = Log { out };
    let mut current: Option<(u64, Tally)> = None;
    for interval in view.run.seconds() {
        let (_, interval) = interval?;
        if interval.phase != Phase::Measured {
            continue;
        }
        // Intervals are sorted by second, so intervals of one second are adjacent over steps and threads.
        match &mut current {
            Some((second, tally)) if *second == interval.second => tally.merge(&interval.tally),
            _ => {
                if let Some((second, tally)) = current.replace((interval.second, interval.tally)) {
                    log.second(second, &tally)?;
                }
            }
        }
    }
    if let Some((second, tally)) = current {
        log.second(second, &tally)?;
    }
    Ok(())
}

fn header(view: &View<'_>, out: &mut dyn Write) -> io::Result<()> {
    let unix_ms = view.run.new.started_at_unix_ms.max(0);
    let (seconds, millis) = (unix_ms / 1_000, unix_ms % 1_000);
    let date = view.started_at().to_unix_date();
    writeln!(
        out,
        "#[Tenbin {}: nanoseconds since the intended start, or since the {} was sent]",
        view.run.id,
        view.noun().one
    )?;
    writeln!(out, "#[Histogram log format version 1.3]")?;
    writeln!(out, "#[StartTime: {seconds}.{millis:03} (seconds since epoch), {date}]")?;
    writeln!(out, "#[BaseTime: {seconds}.{millis:03} (seconds since epoch)]")?;
    writeln!(out, r#""StartTimestamp","Interval_Length","Interval_Max","Interval_Compressed_Histogram""#)
}

struct Log<'a> {
    out: &'a mut dyn Write,
}

impl Log<'_> {
    fn second(&mut self, second: u64, tally: &Tally) -> Result<(), ReportError> {
        let kinds =
            [("response", &tally.response), ("service", &tally.service), ("lateness", &tally.lateness)];
        for (tag, split) in kinds {
            let histogram = split.all();
            let Some(max_ns) = histogram.max_ns() else { continue };
            let (max_ms, packed) = (max_ns as f64 / 1e6, STANDARD.encode(compress(&histogram)));
            writeln!(self.out, "Tag={tag},{second}.000,1.000,{max_ms:.3},{packed}")?;
        }
        Ok(())
    }
}

/// Compresses a histogram in HdrHistogram's encoding V2: a cookie, the length of the rest, and the encoding as a zlib stream.
fn compress(histogram: &Histogram) -> Vec<u8> {
    let packed = compress_to_vec_zlib(&encoded(histogram), COMPRESSION_LEVEL);
    let mut out = Vec::with_capacity(8 + packed.len());
    out.extend(V2_COMPRESSED_COOKIE.to_be_bytes());
    out.extend((packed.len() as u32).to_be_bytes());
    out.extend(packed);
    out
}

/// Encodes a histogram in HdrHistogram's encoding V2: a header of 40 bytes in network order, then the counts up to the largest
/// value. Counts are positive. A run of zeros is encoded as its negative length.
fn encoded(histogram: &Histogram) -> Vec<u8> {
    let mut counts = Vec::new();
    let mut next = 0;
    for (index, count) in histogram.indexed() {
        match index - next {
            0 => {}
            1 => put_zig_zag(&mut counts, 0),
            zeros => put_zig_zag(&mut counts, -(zeros as i64)),
        }
        put_zig_zag(&mut counts, i64::try_from(count).unwrap_or(i64::MAX));
        next = index + 1;
    }
    let mut out = Vec::with_capacity(40 + counts.len());
    out.extend(V2_COOKIE.to_be_bytes());
    out.extend((counts.len() as u32).to_be_bytes());
    let normalizing_index_offset = 0u32;
    out.extend(normalizing_index_offset.to_be_bytes());
    out.extend(SIGNIFICANT_DIGITS.to_be_bytes());
    let lowest_discernible_ns = 1u64;
    out.extend(lowest_discernible_ns.to_be_bytes());
    out.extend(Histogram::HIGHEST_NS.to_be_bytes());
    let integer_to_double_ratio = 1.0f64;
    out.extend(integer_to_double_ratio.to_be_bytes());
    out.extend(counts);
    out
}

/// Appends a ZigZag number as LEB128 with at most nine bytes. The ninth byte holds eight bits.
fn put_zig_zag(out: &mut Vec<u8>, number: i64) {
    let mut rest = ((number << 1) ^ (number >> 63)) as u64;
    for _ in 0..8 {
        let low = (rest & 0x7f) as u8;
        rest >>= 7;
        if rest == 0 {
            return out.push(low);
        }
        out.push(low | 0x80);
    }
    out.push(rest as u8);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn writes_zig_zag_numbers_of_one_to_nine_bytes() {
        let bytes = |number| {
            let mut out = Vec::new();
            put_zig_zag(&mut out, number);
            out
        };
        assert_eq!(bytes(0), [0]);
        assert_eq!(bytes(-1), [1]);
        assert_eq!(bytes(63), [126]);
        assert_eq!(bytes(64), [0x80, 1]);
        assert_eq!(bytes(i64::MAX), [0xfe, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff]);
    }
}
