//! Disk I/O of a control group and its limits, in version 1 and 2.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use super::sheet::{Counters, Sheet};
use super::source::{Allowance, Source};

/// Values for reads, writes, bytes read, and bytes written.
type Io<T> = [T; 4];

const COUNTS: Io<&str> = ["io_reads", "io_writes", "io_read_bytes", "io_written_bytes"];
const LIMITS: Io<&str> =
    ["io_reads_max_per_s", "io_writes_max_per_s", "io_read_bytes_max_per_s", "io_written_bytes_max_per_s"];
/// Keys of version 2, in the order of those of version 1.
const COUNTS_V2: Io<&str> = ["rios", "wios", "rbytes", "wbytes"];
const LIMITS_V2: Io<&str> = ["riops", "wiops", "rbps", "wbps"];
/// Files of version 1.
const LIMITS_V1: Io<&str> = [
    "blkio.throttle.read_iops_device",
    "blkio.throttle.write_iops_device",
    "blkio.throttle.read_bps_device",
    "blkio.throttle.write_bps_device",
];
const SERVICED: &str = "blkio.throttle.io_serviced";
const SERVICE_BYTES: &str = "blkio.throttle.io_service_bytes";
const STAT: &str = "io.stat";
const MAX: &str = "io.max";
/// Files that count I/O. A group that counts I/O has one of them.
pub(super) const FILES: [&str; 2] = [SERVICED, STAT];
/// Max number of disks of one group. On a machine with more disks, the first ones are read.
const DISKS_MAX: usize = 64;

/// Values by device number, such as `8:0`.
type OfDisks<T> = BTreeMap<String, Io<T>>;

pub(super) struct GroupIo {
    files: Files,
    names: BTreeMap<String, String>,
    last: Counters<4>,
}

enum Files {
    First { counts: [Source; 2], limits: Io<Source> },
    Second { counts: Source, limits: Source },
}

impl GroupIo {
    /// Reads the nearest group that has a limit, or the nearest one if none has. `None` without a group.
    pub(super) fn of(groups: &[PathBuf]) -> Option<Self> {
        let all = groups.iter().map(|group| Files::of(group));
        let mut all: Vec<Files> = all.collect();
        let limited = all.iter_mut().position(|files| !files.limits().is_empty());
        let files = all.into_iter().nth(limited.unwrap_or(0))?;
        Some(Self { files, names: BTreeMap::new(), last: Counters::default() })
    }

    pub(super) fn look(&mut self, subject: &str, sheet: &mut Sheet) {
        let counts: Vec<(String, Io<u64>)> = self.files.counts().into_iter().collect();
        let used = self.last.grown_if_used(counts);
        for (disk, limits) in self.files.limits() {
            let name = self.name(&disk);
            for (metric, limit) in LIMITS.iter().zip(limits) {
                if let Some(limit) = limit {
                    sheet.add(subject, metric, &name, limit as f64);
                }
            }
        }
        for (disk, grown) in used {
            let name = self.name(&disk);
            for (metric, grown) in COUNTS.iter().zip(grown) {
                sheet.add(subject, metric, &name, grown as f64);
            }
        }
    }

    /// Kernel name of a disk, such as `vda`.
    fn name(&mut self, disk: &str) -> String {
        let found = || {
            let link = fs::read_link(Path::new("/sys/dev/block").join(disk)).ok()?;
            Some(link.file_name()?.to_str()?.to_owned())
        };
        let name = self.names.entry(disk.to_owned());
        name.or_insert_with(|| found().unwrap_or_else(|| disk.to_owned())).clone()
    }
}

impl Files {
    fn of(group: &Path) -> Self {
        let source = |file: &str| Source::new(group.join(file), Allowance::of(1));
        match group.join(STAT).is_file() {
            true => Self::Second { counts: source(STAT), limits: source(MAX) },
            false => {
                Self::First { counts: [SERVICED, SERVICE_BYTES].map(source), limits: LIMITS_V1.map(source) }
            }
        }
    }

    fn counts(&mut self) -> OfDisks<u64> {
        match self {
            Self::Second { counts, .. } => {
                let text = counts.text().unwrap_or_default();
                let io = pairs(&text, COUNTS_V2).into_iter();
                io.map(|(disk, io)| (disk, io.map(Option::unwrap_or_default))).collect()
            }
            Self::First { counts, .. } => {
                let mut found: OfDisks<u64> = BTreeMap::new();
                for (source, [read, write]) in counts.iter_mut().zip([[0, 1], [2, 3]]) {
                    for (disk, kind, count) in rows(&source.text().unwrap_or_default()) {
                        let at = match kind {
                            "Read" => read,
                            "Write" => write,
                            _ => continue,
                        };
                        if found.len() < DISKS_MAX || found.contains_key(disk) {
                            found.entry(disk.to_owned()).or_default()[at] = count;
                        }
                    }
                }
                found
            }
        }
    }

    fn limits(&mut self) -> OfDisks<Option<u64>> {
        let mut found = match self {
            Self::Second { limits, .. } => pairs(&limits.text().unwrap_or_default(), LIMITS_V2),
            Self::First { limits, .. } => {
                let mut found: OfDisks<Option<u64>> = BTreeMap::new();
                for (at, source) in limits.iter_mut().enumerate() {
                    for line in source.text().unwrap_or_default().lines() {
                        let Some((disk, limit)) = line.split_once(' ') else { continue };
                        if is_disk(disk) && (found.len() < DISKS_MAX || found.contains_key(disk)) {
                            found.entry(disk.to_owned()).or_default()[at] = limit.trim().parse().ok();
                        }
                    }
                }
                found
            }
        };
        // 0 and the largest number mean no limit.
        let is_limit = |limit: &u64| (1..u64::MAX).contains(limit);
        found.values_mut().flatten().for_each(|limit| *limit = limit.filter(is_limit));
        found.retain(|_, limits| limits.iter().any(Option::is_some));
        found
    }
}

/// Parses lines such as `8:0 Read 12`.
fn rows(text: &str) -> impl Iterator<Item = (&str, &str, u64)> {
    text.lines().filter_map(|line| {
        let mut words = line.split_ascii_whitespace();
        let (disk, kind, count) = (words.next()?, words.next()?, words.next()?);
        is_disk(disk).then_some((disk, kind, count.parse().ok()?))
    })
}

/// Parses lines such as `8:0 rbytes=1 wbytes=2 rios=3 wios=4` and `8:0 rbps=max wbps=max riops=max wiops=100`.
fn pairs(text: &str, names: Io<&str>) -> OfDisks<Option<u64>> {
    let line = |line: &str| {
        let (disk, words) = line.split_once(' ')?;
        let of = |name: &str| {
            let pair = words.split_ascii_whitespace().filter_map(|word| word.split_once('='));
            pair.filter(|(known, _)| *known == name).find_map(|(_, value)| value.parse().ok())
        };
        is_disk(disk).then(|| (disk.to_owned(), names.map(of)))
    };
    text.lines().filter_map(line).take(DISKS_MAX).collect()
}

/// Whether a text is a device number such as `8:0`. No other text may become part of a path.
fn is_disk(text: &str) -> bool {
    let is_number = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    text.split_once(':').is_some_and(|(major, minor)| is_number(major) && is_number(minor))
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    struct Group(tempfile::TempDir);

    impl Group {
        fn new() -> Self {
            Self(tempfile::tempdir().expect("a folder"))
        }

        fn write(&self, path: &str, text: &str) {
            let path = self.0.path().join(path);
            fs::create_dir_all(path.parent().expect("a folder")).expect("folders");
            fs::write(path, text).expect("a file");
        }

        fn paths(&self, groups: &[&str]) -> Vec<PathBuf> {
            groups.iter().map(|group| self.0.path().join(group)).collect()
        }
    }

    fn look(io: &mut GroupIo) -> Vec<(&'static str, String, f64)> {
        let mut sheet = Sheet { over: Some(Duration::from_secs(1)), ..Sheet::default() };
        io.look("system", &mut sheet);
        sheet.readings.into_iter().map(|reading| (reading.metric, reading.label, reading.value)).collect()
    }

    #[test]
    fn counters_and_limits_of_version_1_are_read() {
        let group = Group::new();
        let counts = |reads, writes| {
            format!("999:9 Read {reads}\n999:9 Write {writes}\n999:9 Sync 1\n999:9 Total 9\nTotal 9\n")
        };
        group.write(SERVICED, &counts(10, 20));
        group.write(SERVICE_BYTES, &counts(4_096, 8_192));
        group.write(LIMITS_V1[1], "999:9 200\n../../x 5\n");
        group.write(LIMITS_V1[0], "");
        let mut io = GroupIo::of(&group.paths(&["."])).expect("a group");
        look(&mut io);
        group.write(SERVICED, &counts(10, 220));
        group.write(SERVICE_BYTES, &counts(4_096, 827_392));
        let disk = || "999:9".to_owned();
        let expected = [
            ("io_writes_max_per_s", disk(), 200.0),
            ("io_reads", disk(), 0.0),
            ("io_writes", disk(), 200.0),
            ("io_read_bytes", disk(), 0.0),
            ("io_written_bytes", disk(), 819_200.0),
        ];
        assert_eq!(look(&mut io), expected);
    }

    #[test]
    fn nearest_group_of_version_2_with_a_limit_is_read() {
        let group = Group::new();
        group.write("app.slice/app/io.stat", "999:9 rbytes=1 wbytes=1 rios=1 wios=1 dbytes=0 dios=0\n");
        group.write("app.slice/app/io.max", "");
        let stat =
            |writes| format!("999:9 rbytes=0 wbytes=4096 rios=0 wios={writes} dbytes=0 dios=0\n998:0 \n");
        group.write("app.slice/io.stat", &stat(5));
        group.write("app.slice/io.max", "999:9 rbps=max wbps=1048576 riops=max wiops=100\nnonsense\n");
        let mut io = GroupIo::of(&group.paths(&["app.slice/app", "app.slice"])).expect("a group");
        look(&mut io);
        group.write("app.slice/io.stat", &stat(105));
        let seen = look(&mut io);
        assert!(seen.contains(&("io_writes", "999:9".to_owned(), 100.0)), "{seen:?}");
        assert!(seen.contains(&("io_writes_max_per_s", "999:9".to_owned(), 100.0)), "{seen:?}");
        assert!(seen.contains(&("io_written_bytes_max_per_s", "999:9".to_owned(), 1_048_576.0)), "{seen:?}");
        assert_eq!(
            seen.len(),
            6,
            "what is not limited, and a disk that was never used, are left out: {seen:?}"
        );
    }

    #[test]
    fn malformed_lines_are_skipped() {
        for text in ["", "8:0", "8:0 Read", "8:0 Read x", "a:b Read 1", "8:0: Read 1", "\u{1b}[2J Read 1"] {
            assert_eq!(rows(text).count(), 0, "{text:?}");
        }
        assert!(pairs("8 rios=1\n../1:0 rios=1\n", COUNTS_V2).is_empty());
        assert_eq!(pairs("8:0 rios=-1 rios=3 wios=\n", COUNTS_V2)["8:0"], [Some(3), None, None, None]);
        assert!(GroupIo::of(&[]).is_none());
    }
}
