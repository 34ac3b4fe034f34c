//! Probe for the TCP connections that processes of this network namespace opened, from `/proc/net/snmp`.

use super::protocol_counters;
use super::sheet::{Counters, Probe, Sheet};
use super::source::Source;

pub(crate) struct Opened {
    source: Source,
    last: Counters<1>,
}

impl Default for Opened {
    fn default() -> Self {
        Self { source: Source::of_machine("/proc/net/snmp"), last: Counters::default() }
    }
}

impl Probe for Opened {
    fn look(&mut self, sheet: &mut Sheet) {
        let opened = self.source.text().and_then(|text| {
            parse(&text).ok_or_else(|| "/proc/net/snmp does not count ActiveOpens".to_owned())
        });
        match opened {
            Ok(opened) => {
                for (_, [opened]) in self.last.grown(vec![(String::new(), [opened])]) {
                    sheet.machine("tcp_opened", "", opened as f64);
                }
            }
            Err(because) => sheet.note_unavailable("opened connections", || because),
        }
    }
}

fn parse(text: &str) -> Option<u64> {
    protocol_counters::parse(text, "Tcp", ["ActiveOpens"]).map(|[opened]| opened)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counter_is_found_by_the_name_above_it() {
        let text = "Ip: ActiveOpens\nIp: 9\nTcp: RtoMin ActiveOpens PassiveOpens\nTcp: 200 17 5\n";
        assert_eq!(parse(text), Some(17));
    }

    #[test]
    fn truncated_text_has_no_counter() {
        for text in ["", "Tcp:", "Tcp: ActiveOpens", "Tcp: ActiveOpens\nTcp: x", "Tcp: A\nTcp: 1"] {
            assert_eq!(parse(text), None, "{text:?}");
        }
    }
}
