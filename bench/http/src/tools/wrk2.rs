//! Runs wrk2 as an open loop, with timer ticks of a millisecond. Its output is wrk's plus percentiles.

use super::{Program, Tool, wrk};
use crate::measured::Measured;
use harness::figures::time_us;
use harness::program::arguments;

pub(super) const TOOL: Tool = Tool {
    name: "wrk2",
    program: Program::Wrk2,
    how_to_get: "not in Debian; used if --wrk2 PATH is given or wrk2 is on the PATH",
    version: &["-v"],
    arguments: |order| {
        let [connections, duration] =
            [format!("-c{}", order.load.connections), format!("-d{}s", order.seconds)];
        let rate = format!("-R{}", order.load.rate.unwrap_or(1));
        arguments([&"-t1", &connections, &duration, &rate, &"--latency", &"--timeout", &"10s", &order.url()])
    },
    parse,
    good_exits: &[0],
};

fn parse(text: &str) -> Result<Measured, String> {
    let percentile = |label: &str| {
        let line = text.lines().find(|line| line.trim_start().starts_with(label));
        let line = line.ok_or_else(|| format!("its output has no line {label:?}"))?;
        time_us(line.trim_start().strip_prefix(label).unwrap_or_default())
    };
    let (median_us, p99_us) = (Some(percentile("50.000%")?), Some(percentile("99.000%")?));
    Ok(Measured { median_us, p99_us, ..wrk::parse(text)? })
}

#[cfg(test)]
mod tests {
    use super::*;

    const SAMPLE: &str = include_str!("../../samples/wrk2.txt");

    #[test]
    fn percentiles_are_read_in_their_units() {
        let measured = parse(SAMPLE).unwrap();
        assert_eq!((measured.requests, measured.errors), (5_964, 0));
        assert_eq!((measured.median_us, measured.p99_us), (Some(833.0), Some(1_730.0)));
    }
}
