//! Runs the bare loop of this program.

use super::{Program, Tool};
use crate::measured::Measured;
use harness::figures::{at, count, json};
use harness::program::arguments;

pub(super) const TOOL: Tool = Tool {
    name: "bare",
    program: Program::ThisOne,
    how_to_get: "part of this program",
    version: &[],
    arguments: |order| arguments([&"bare", &order.address, &order.load.connections, &order.seconds]),
    parse,
    good_exits: &[0],
};

fn parse(text: &str) -> Result<Measured, String> {
    let json = json(text)?;
    let requests = count(at(&json, "/requests")?)?;
    Measured { requests, requests_per_s: at(&json, "/requests_per_s")?, ..Measured::default() }.checked()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn its_three_figures_are_read() {
        let measured = parse("{\"requests\":10,\"requests_per_s\":5.0,\"seconds\":2.0}\n").unwrap();
        assert_eq!(measured, Measured { requests: 10, requests_per_s: 5.0, ..Measured::default() });
    }
}
