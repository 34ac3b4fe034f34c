//! Probe for the bytes that each disk read and wrote, and for its busy time, from `/proc/diskstats`.

use std::collections::HashMap;
use std::path::Path;

use super::sheet::{Counters, Probe, Sheet};
use super::source::Source;

/// Unit of this file in bytes, independent of the sector size of the disk.
const SECTOR_BYTES: u64 = 512;
const DISKS_MAX: usize = 1024;

pub(crate) struct Disks {
    source: Source,
    last: Counters<3>,
    is_partition: HashMap<String, bool>,
}

impl Default for Disks {
    fn default() -> Self {
        let source = Source::of_machine("/proc/diskstats");
        Self { source, last: Counters::default(), is_partition: HashMap::new() }
    }
}

impl Probe for Disks {
    fn look(&mut self, sheet: &mut Sheet) {
        match self.source.text() {
            Ok(text) => {
                let mut disks = parse(&text);
                disks.retain(|(name, _)| !self.is_partition(name));
                for (disk, [read, written, busy_ms]) in self.last.grown_if_used(disks) {
                    sheet.machine("disk_read_bytes", &disk, read.saturating_mul(SECTOR_BYTES) as f64);
                    sheet.machine("disk_written_bytes", &disk, written.saturating_mul(SECTOR_BYTES) as f64);
                    sheet.machine("disk_busy_s", &disk, busy_ms as f64 / 1e3);
                }
            }
            Err(because) => sheet.note_unavailable("disks of the machine", || because),
        }
    }
}

impl Disks {
    /// Whether the device is a partition. Its I/O is also counted by its disk.
    fn is_partition(&mut self, name: &str) -> bool {
        if let Some(is_partition) = self.is_partition.get(name) {
            return *is_partition;
        }
        let is_partition = Path::new("/sys/class/block").join(name).join("partition").exists();
        if self.is_partition.len() < DISKS_MAX {
            self.is_partition.insert(name.to_owned(), is_partition);
        }
        is_partition
    }
}

/// Parses sectors read, sectors written, and milliseconds busy of each disk.
fn parse(text: &str) -> Vec<(String, [u64; 3])> {
    let disks = text.lines().filter_map(|line| {
        let mut fields = line.split_ascii_whitespace().skip(2);
        // The name becomes part of a path, so names with `/` or `.` are rejected although they come from the kernel.
        let name = fields.next().filter(|name| !name.contains(['/', '.']))?;
        let counts: Vec<u64> = fields.map_while(|field| field.parse().ok()).take(11).collect();
        let counts = [*counts.get(2)?, *counts.get(6)?, *counts.get(9)?];
        Some((name.to_owned(), counts))
    });
    disks.take(DISKS_MAX).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn disks_are_parsed() {
        let text = "   7  0 loop0 0 0 0 0 0 0 0 0 0 0 0\n 254  0 vda 10 1 80 5 20 2 160 6 0 33 9 1 2 3 4 5 6\n \
                    8 0 sda 1 2 3 4 5 6 7 8 9 10\n";
        let disk = |name: &str, counts| (name.to_owned(), counts);
        assert_eq!(parse(text), [disk("loop0", [0; 3]), disk("vda", [80, 160, 33]), disk("sda", [3, 7, 10])]);
    }

    #[test]
    fn malformed_lines_are_skipped() {
        for text in [
            "",
            "8",
            "8 0 vda",
            "8 0 vda 1 2 3 4",
            "8 0 vda 1 2 x 4 5 6 7 8 9 10",
            "8 0 ../x 1 2 3 4 5 6 7 8 9 10",
        ] {
            assert!(parse(text).is_empty(), "{text:?}");
        }
    }
}
