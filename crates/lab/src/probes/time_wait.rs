//! Probe for connections in TIME_WAIT, which still occupy their port, from `/proc/net/sockstat`.

use super::sheet::{Probe, Sheet};
use super::source::Source;

pub(crate) struct TimeWait {
    source: Source,
}

impl Default for TimeWait {
    fn default() -> Self {
        Self { source: Source::of_machine("/proc/net/sockstat") }
    }
}

impl Probe for TimeWait {
    fn look(&mut self, sheet: &mut Sheet) {
        let count = self.source.text().and_then(|text| {
            parse(&text).ok_or_else(|| "/proc/net/sockstat does not count sockets in time-wait".to_owned())
        });
        match count {
            Ok(count) => sheet.machine("time_wait_sockets", "", count as f64),
            Err(because) => sheet.note_unavailable("time-wait sockets", || because),
        }
    }
}

/// Sockets in TIME_WAIT of IPv4 and IPv6 together, because the kernel has one table for both.
fn parse(text: &str) -> Option<u64> {
    let mut words = text.lines().find_map(|line| line.strip_prefix("TCP: "))?.split_ascii_whitespace();
    words.find(|word| *word == "tw")?;
    words.next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counter_is_found_by_its_name() {
        let text = "sockets: used 16\nTCP: inuse 1 orphan 0 tw 28 alloc 1 mem 243\nUDP: inuse 0 tw 5\n";
        assert_eq!(parse(text), Some(28));
        for text in ["", "TCP: inuse 1", "TCP: inuse 1 tw", "TCP: tw x", "UDP: tw 5"] {
            assert_eq!(parse(text), None, "{text:?}");
        }
    }
}
