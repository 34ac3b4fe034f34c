//! Runs h2load as a closed loop over HTTP/1.1 in one thread.

use super::{Program, Tool};
use crate::measured::Measured;
use harness::figures::{count, number_before};
use harness::program::arguments;

pub(super) const TOOL: Tool = Tool {
    name: "h2load",
    program: Program::OnPath("h2load"),
    how_to_get: "apt-get install nghttp2-client",
    version: &["--version"],
    arguments: |order| {
        let connections = format!("-c{}", order.load.connections);
        arguments([&"--h1", &"-t1", &connections, &"-D", &order.seconds, &order.url()])
    },
    parse,
    good_exits: &[0],
};

fn parse(text: &str) -> Result<Measured, String> {
    let line =
        text.lines().find(|line| line.starts_with("requests:")).ok_or("its output has no \"requests:\"")?;
    // h2load counts 4xx and 5xx responses as failed.
    let kinds = [" failed", " errored", " timeout"];
    let errors =
        kinds.into_iter().map(|kind| count(number_before(line, kind)?)).sum::<Result<u64, String>>()?;
    let requests = count(number_before(line, " succeeded")?)?;
    Measured { requests, requests_per_s: number_before(text, " req/s,")?, errors, ..Measured::default() }
        .checked()
}

#[cfg(test)]
mod tests {
    use super::*;

    const SAMPLE: &str = include_str!("../../samples/h2load.txt");

    #[test]
    fn requests_and_rate_are_read() {
        let measured = parse(SAMPLE).unwrap();
        assert_eq!((measured.requests, measured.errors), (140_805, 0));
        assert!((measured.requests_per_s - 140_805.0).abs() < 0.001);
    }

    #[test]
    fn every_kind_of_error_counts() {
        let text = SAMPLE.replace("0 failed, 0 errored, 0 timeout", "1 failed, 20 errored, 300 timeout");
        assert_eq!(parse(&text).unwrap().errors, 321);
    }
}
