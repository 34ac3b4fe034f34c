//! Counters of protocols in `/proc/net/snmp` and `/proc/net/netstat`: a line of names, and below it a line of numbers.

/// Counters of a protocol with these names. `None` if one of them is missing or not a number.
pub(super) fn parse<const N: usize>(text: &str, protocol: &str, names: [&str; N]) -> Option<[u64; N]> {
    let mut lines = text.lines().filter_map(|line| line.strip_prefix(protocol)?.strip_prefix(':'));
    let (known, counts) = (lines.next()?, lines.next()?);
    let mut found = [0; N];
    for (found, wanted) in found.iter_mut().zip(names) {
        let mut pairs = known.split_ascii_whitespace().zip(counts.split_ascii_whitespace());
        *found = pairs.find(|(name, _)| *name == wanted)?.1.parse().ok()?;
    }
    Some(found)
}
