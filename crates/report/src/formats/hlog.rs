//! HdrHistogram's interval log, version 1.3: response time, service time, and send delay of every second, in nanoseconds.
//!
//! Only the measured phase, and all requests that ended. The maximum of each histogram is in milliseconds.

use std::io::{self, Write};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use hdrhistogram::serialization::{Serializer, V2DeflateSerializer};
use record::{Histogram, Phase, Tally};

use super::{Format, Way};
use crate::error::ReportError;
use crate::view::View;

/// Three digits, as they were recorded.
const SIGNIFICANT_DIGITS: u8 = 3;

pub(super) const FORMAT: Format = Format {
    name: "hlog",
    sentence: "HdrHistogram's interval log: response time, service time, and send delay of every second, in nanoseconds",
    extension: "hlog",
    way: Way::Picked { runs: write, study: None, compared: None },
};

/// Writes the log of one run.
fn write(views: &[View<'_>], out: &mut dyn Write) -> Result<(), ReportError> {
    let [view] = views else {
        return Err(ReportError::OneRunOnly { format: FORMAT.name, runs: views.len() });
    };
    header(view, out)?;
    let mut log = Log { serializer: V2DeflateSerializer::new(), packed: Vec::new(), out };
    let mut current: Option<(u64, Tally)> = None;
    for interval in view.run.seconds() {
        let (_, interval) = interval?;
        if interval.phase != Phase::Measured {
            continue;
        }
        // Steps and threads of one second follow one another.
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
    let date = view.started_at().format("%a %b %d %H:%M:%S UTC %Y");
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
    serializer: V2DeflateSerializer,
    packed: Vec<u8>,
    out: &'a mut dyn Write,
}

impl Log<'_> {
    fn second(&mut self, second: u64, tally: &Tally) -> Result<(), ReportError> {
        let kinds =
            [("response", &tally.response), ("service", &tally.service), ("lateness", &tally.lateness)];
        for (tag, split) in kinds {
            let histogram = split.all();
            let Some(max_ns) = histogram.max_ns() else { continue };
            self.packed.clear();
            self.serializer.serialize(&convert(&histogram)?, &mut self.packed).map_err(io::Error::other)?;
            let (max_ms, packed) = (max_ns as f64 / 1e6, STANDARD.encode(&self.packed));
            writeln!(self.out, "Tag={tag},{second}.000,1.000,{max_ms:.3},{packed}")?;
        }
        Ok(())
    }
}

/// The same counters in HdrHistogram's own type, whose layout is the same.
fn convert(histogram: &Histogram) -> io::Result<hdrhistogram::Histogram<u64>> {
    let mut converted =
        hdrhistogram::Histogram::new_with_bounds(1, Histogram::HIGHEST_NS, SIGNIFICANT_DIGITS)
            .map_err(io::Error::other)?;
    for (value_ns, count) in histogram.counters() {
        converted.record_n(value_ns, count).map_err(io::Error::other)?;
    }
    Ok(converted)
}
