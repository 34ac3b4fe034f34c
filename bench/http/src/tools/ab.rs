//! Runs ab as a closed loop in one thread.

use super::{Program, Tool};
use crate::measured::Measured;
use harness::figures::{count, number_after};
use harness::program::arguments;

/// Upper limit on requests per second for `-n`. ab allocates memory for that many requests, so it is not higher.
const REQUESTS_PER_S_MAX: u64 = 1_000_000;

pub(super) const TOOL: Tool = Tool {
    name: "ab",
    program: Program::OnPath("ab"),
    how_to_get: "apt-get install apache2-utils",
    version: &["-V"],
    arguments: |order| {
        // With -t alone, ab stops after 50,000 requests. -n must follow -t, which would overwrite it.
        let requests_max = u64::from(order.seconds) * REQUESTS_PER_S_MAX;
        let connections = order.load.connections;
        arguments([
            &"-q",
            &"-k",
            &"-t",
            &order.seconds,
            &"-n",
            &requests_max,
            &"-c",
            &connections,
            &order.url(),
        ])
    },
    parse,
    good_exits: &[0],
};

fn parse(text: &str) -> Result<Measured, String> {
    let (all, failed) =
        (count(number_after(text, "Complete requests:")?)?, count(number_after(text, "Failed requests:")?)?);
    // ab prints this line only if there were such responses.
    let refused =
        if text.contains("Non-2xx") { count(number_after(text, "Non-2xx responses:")?)? } else { 0 };
    let errors = failed + refused;
    let requests_per_s = number_after(text, "Requests per second:")?;
    Measured { requests: all.saturating_sub(errors), requests_per_s, errors, ..Measured::default() }.checked()
}

#[cfg(test)]
mod tests {
    use super::*;

    const SAMPLE: &str = include_str!("../../samples/ab.txt");

    #[test]
    fn requests_and_rate_are_read() {
        let measured = parse(SAMPLE).unwrap();
        assert_eq!((measured.requests, measured.errors), (160_507, 0));
        assert!((measured.requests_per_s - 160_506.84).abs() < 0.001);
    }

    #[test]
    fn refusals_are_not_answers() {
        let text =
            SAMPLE.replace("Keep-Alive requests:", "Non-2xx responses:      507\nKeep-Alive requests:");
        let measured = parse(&text).unwrap();
        assert_eq!((measured.requests, measured.errors), (160_000, 507));
    }
}
