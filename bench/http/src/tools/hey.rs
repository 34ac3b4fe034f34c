//! Runs hey as a closed loop on one core.

use super::{Program, Tool};
use crate::measured::Measured;
use harness::figures::{count, number_after};
use harness::program::arguments;

pub(super) const TOOL: Tool = Tool {
    name: "hey",
    program: Program::OnPath("hey"),
    how_to_get: "apt-get install hey",
    version: &[],
    arguments: |order| {
        let duration = format!("{}s", order.seconds);
        arguments([&"-cpus", &1, &"-c", &order.load.connections, &"-z", &duration, &"-t", &10, &order.url()])
    },
    parse,
    good_exits: &[0],
};

/// Parses hey's output. Computes the number of requests from the rate, since hey's lists end after a million requests.
fn parse(text: &str) -> Result<Measured, String> {
    let (seconds, requests_per_s) = (number_after(text, "Total:")?, number_after(text, "Requests/sec:")?);
    let all = count(seconds * requests_per_s)?;
    let statuses = section(text, "Status code distribution:");
    let refused = statuses
        .filter(|(status, _)| *status != "200")
        .filter_map(|(_, rest)| rest.split(' ').next()?.parse::<u64>().ok());
    let failed = section(text, "Error distribution:").filter_map(|(number, _)| number.parse::<u64>().ok());
    let errors = refused.sum::<u64>() + failed.sum::<u64>();
    if errors == 0 && section(text, "Status code distribution:").next().is_none() {
        return Err("its output has no status codes".to_owned());
    }
    Measured { requests: all.saturating_sub(errors), requests_per_s, errors, ..Measured::default() }.checked()
}

/// Returns the lines `[this] that` below a heading, as pairs.
fn section<'a>(text: &'a str, heading: &str) -> impl Iterator<Item = (&'a str, &'a str)> {
    let below = text.split_once(heading).map_or("", |(_, below)| below).trim_start_matches('\n');
    below
        .lines()
        .map_while(|line| line.trim().strip_prefix('[')?.split_once(']'))
        .map(|(this, that)| (this, that.trim()))
}

#[cfg(test)]
mod tests {
    use super::*;

    const SAMPLE: &str = include_str!("../../samples/hey.txt");

    #[test]
    fn the_number_of_requests_follows_from_the_rate() {
        let measured = parse(SAMPLE).unwrap();
        assert_eq!((measured.requests, measured.errors), (55_067, 0));
        assert!((measured.requests_per_s - 55_050.664_4).abs() < 0.000_01);
    }

    #[test]
    fn refusals_and_errors_are_not_answers() {
        let more = "[200]\t55000 responses\n  [503]\t60 responses\n\nError distribution:\n  [7]\tGet \"/\": connection refused\n";
        let text = SAMPLE.replace("[200]\t55067 responses", more);
        let measured = parse(&text).unwrap();
        assert_eq!((measured.requests, measured.errors), (55_000, 67));
    }
}
