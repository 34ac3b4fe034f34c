//! Probe for the bytes that each network interface received and sent, from `/proc/net/dev`.

use super::sheet::{Counters, Probe, Sheet};
use super::source::Source;

const INTERFACES_MAX: usize = 1024;

pub(crate) struct Network {
    source: Source,
    last: Counters<2>,
}

impl Default for Network {
    fn default() -> Self {
        Self { source: Source::of_machine("/proc/net/dev"), last: Counters::default() }
    }
}

impl Probe for Network {
    fn look(&mut self, sheet: &mut Sheet) {
        match self.source.text() {
            Ok(text) => {
                for (interface, [received, sent]) in self.last.grown_if_used(parse(&text)) {
                    sheet.machine("net_received_bytes", &interface, received as f64);
                    sheet.machine("net_sent_bytes", &interface, sent as f64);
                }
            }
            Err(because) => sheet.note_unavailable("network of the machine", || because),
        }
    }
}

/// Parses bytes received and bytes sent of each interface.
fn parse(text: &str) -> Vec<(String, [u64; 2])> {
    let interfaces = text.lines().filter_map(|line| {
        let (name, counts) = line.rsplit_once(':')?;
        let counts: Vec<u64> =
            counts.split_ascii_whitespace().map_while(|count| count.parse().ok()).collect();
        let counts = [*counts.first()?, *counts.get(8)?];
        Some((name.trim().to_owned(), counts))
    });
    interfaces.take(INTERFACES_MAX).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn interfaces_are_parsed_and_headings_are_skipped() {
        let text = "Inter-|   Receive   |  Transmit\n face |bytes packets|bytes packets\n    \
                    lo: 100 1 0 0 0 0 0 0 200 2 0 0 0 0 0 0\n  ifb0:0 0 0 0 0 0 0 0 0 0\n\
                    a:b: 1 2 3 4 5 6 7 8 9\nshort: 1 2 3\nodd: x\n";
        let interface = |name: &str, counts| (name.to_owned(), counts);
        assert_eq!(
            parse(text),
            [interface("lo", [100, 200]), interface("ifb0", [0; 2]), interface("a:b", [1, 9])]
        );
    }
}
