//! Runs wrk as a closed loop in one thread.

use super::{Program, Tool};
use crate::measured::Measured;
use harness::figures::{count, number_after, number_before};
use harness::program::arguments;

pub(super) const TOOL: Tool = Tool {
    name: "wrk",
    program: Program::OnPath("wrk"),
    how_to_get: "apt-get install wrk",
    version: &["-v"],
    arguments: |order| {
        let [connections, duration] =
            [format!("-c{}", order.load.connections), format!("-d{}s", order.seconds)];
        arguments([&"-t1", &connections, &duration, &"--timeout", &"10s", &order.url()])
    },
    parse,
    good_exits: &[0],
};

/// Parses wrk's output. wrk includes responses other than 2xx and 3xx in its requests; here they count as errors.
pub(super) fn parse(text: &str) -> Result<Measured, String> {
    let all = count(number_before(text, " requests in")?)?;
    // wrk prints these two lines only if there were such errors.
    let refused =
        if text.contains("Non-2xx") { count(number_after(text, "Non-2xx or 3xx responses:")?)? } else { 0 };
    let failed = if text.contains("Socket errors") { socket_errors(text)? } else { 0 };
    Measured {
        requests: all.saturating_sub(refused),
        requests_per_s: number_after(text, "Requests/sec:")?,
        errors: refused + failed,
        ..Measured::default()
    }
    .checked()
}

fn socket_errors(text: &str) -> Result<u64, String> {
    let line = text.lines().find(|line| line.contains("Socket errors")).unwrap_or_default();
    ["connect ", "read ", "write ", "timeout "].into_iter().map(|kind| count(number_after(line, kind)?)).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    const SAMPLE: &str = include_str!("../../samples/wrk.txt");

    #[test]
    fn requests_and_rate_are_read() {
        let measured = parse(SAMPLE).unwrap();
        assert_eq!((measured.requests, measured.errors), (173_959, 0));
        assert!((measured.requests_per_s - 158_161.51).abs() < 0.001);
    }

    #[test]
    fn errors_are_counted_and_refusals_are_not_answers() {
        let errors = "  Socket errors: connect 1, read 2, write 3, timeout 4\n  Non-2xx or 3xx responses: 59\nRequests/sec:";
        let measured = parse(&SAMPLE.replace("Requests/sec:", errors)).unwrap();
        assert_eq!((measured.requests, measured.errors), (173_900, 69));
    }

    #[test]
    fn a_run_without_requests_is_no_result() {
        assert!(parse(&SAMPLE.replace("173959 requests", "0 requests")).unwrap_err().contains("no request"));
    }
}
