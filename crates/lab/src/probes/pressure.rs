//! Probe for pressure (PSI): the share of time in which a task waited for CPU, memory, or disk, from `/proc/pressure`.

use super::sheet::{Counters, Probe, Sheet};
use super::source::Source;
use crate::access::Need;

pub(crate) struct Pressure {
    of: [Resource; 3],
}

struct Resource {
    metric: &'static str,
    source: Source,
    last: Counters<1>,
}

impl Default for Pressure {
    fn default() -> Self {
        let of = [
            ("pressure_cpu_some_share", "/proc/pressure/cpu"),
            ("pressure_memory_some_share", "/proc/pressure/memory"),
            ("pressure_io_some_share", "/proc/pressure/io"),
        ];
        let resource =
            |(metric, path)| Resource { metric, source: Source::of_machine(path), last: Counters::default() };
        Self { of: of.map(resource) }
    }
}

impl Probe for Pressure {
    fn look(&mut self, sheet: &mut Sheet) {
        for Resource { metric, source, last } in &mut self.of {
            let total = source.text().and_then(|text| {
                parse(&text).ok_or_else(|| "there is no total in /proc/pressure".to_owned())
            });
            match total {
                Ok(total_us) => {
                    let grown = last.grown(vec![(String::new(), [total_us])]);
                    let over_us = sheet.over.map_or(0.0, |over| over.as_secs_f64() * 1e6);
                    for (_, [waited_us]) in grown {
                        if over_us > 0.0 {
                            sheet.machine(metric, "", (waited_us as f64 / over_us).min(1.0));
                        }
                    }
                }
                Err(because) => {
                    sheet.note_unavailable("pressure", || Need::MachinePressure.with_remedy(because));
                }
            }
        }
    }
}

/// Total microseconds in which at least one task waited.
pub(crate) fn parse(text: &str) -> Option<u64> {
    let some = text.lines().find_map(|line| line.strip_prefix("some "))?;
    some.split_ascii_whitespace().find_map(|word| word.strip_prefix("total="))?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn total_of_some_is_parsed() {
        let text = "some avg10=0.99 avg60=0.94 avg300=1.05 total=2261731132\nfull avg10=0.00 total=7\n";
        assert_eq!(parse(text), Some(2_261_731_132));
        for text in ["", "some", "some avg10=1", "some total=", "some total=-1", "full total=7"] {
            assert_eq!(parse(text), None, "{text:?}");
        }
    }
}
