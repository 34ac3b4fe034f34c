//! Probe for connections that the kernel dropped at a full listen queue, from `/proc/net/netstat`.

use super::protocol_counters;
use super::sheet::{Counters, Probe, Sheet};
use super::source::Source;

pub(crate) struct Refused {
    source: Source,
    last: Counters<2>,
}

impl Default for Refused {
    fn default() -> Self {
        Self { source: Source::of_machine("/proc/net/netstat"), last: Counters::default() }
    }
}

impl Probe for Refused {
    fn look(&mut self, sheet: &mut Sheet) {
        let counts = self.source.text().and_then(|text| {
            parse(&text).ok_or_else(|| "/proc/net/netstat does not count ListenOverflows".to_owned())
        });
        match counts {
            Ok(counts) => {
                for (_, [overflows, drops]) in self.last.grown(vec![(String::new(), counts)]) {
                    sheet.machine("listen_overflows", "", overflows as f64);
                    sheet.machine("listen_drops", "", drops as f64);
                }
            }
            Err(because) => sheet.note_unavailable("listen overflows", || because),
        }
    }
}

fn parse(text: &str) -> Option<[u64; 2]> {
    protocol_counters::parse(text, "TcpExt", ["ListenOverflows", "ListenDrops"])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counters_are_found_by_the_names_above_them() {
        let text = "TcpExt: SyncookiesSent ListenOverflows ListenDrops TCPHPHits\nTcpExt: 1 22 33 4\n\
                    IpExt: ListenOverflows\nIpExt: 9\n";
        assert_eq!(parse(text), Some([22, 33]));
    }

    #[test]
    fn truncated_text_has_no_counters() {
        let cut = [
            "",
            "TcpExt:",
            "TcpExt: ListenOverflows ListenDrops",
            "TcpExt: ListenOverflows ListenDrops\nTcpExt: 1",
            "TcpExt: ListenOverflows ListenDrops\nTcpExt: 1 -2",
            "TcpExt: A\nTcpExt: 1 2 3",
        ];
        for text in cut {
            assert_eq!(parse(text), None, "{text:?}");
        }
    }
}
