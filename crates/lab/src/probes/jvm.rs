//! Probe for the counters that a Java virtual machine keeps in `/tmp/hsperfdata_USER/PID`: garbage collections, safepoints, and
//! contended monitors.
//!
//! The file belongs to the process, so it is input from outside. It is read, not mapped, and every offset in it is checked.

use std::collections::{BTreeMap, HashMap};
use std::fs::{self, File};
use std::os::unix::fs::{FileExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use rustix::fs::OFlags;

use super::java_dump::temp_dir;
use super::sheet::{Counters, Sheet};
use super::threads::Members;

/// Max size of the file. HotSpot creates it with 32 KiB.
const BYTES_MAX: u64 = 1 << 20;
/// Max number of counters that are read from a file.
const ENTRIES_MAX: usize = 4_096;
/// Max number of collectors, and of characters of a collector's name.
const COLLECTORS_MAX: usize = 16;
const NAME_CHARACTERS_MAX: usize = 48;
/// Max number of entries of a folder for temporary files that are examined.
const FOLDER_MAX: usize = 10_000;
/// Looks after which a process without counters is examined again, because a shell may become a virtual machine.
const TRIES_AT: [u32; 5] = [0, 1, 2, 5, 10];
/// Max number of processes that are examined.
const PROCESSES_MAX: usize = 256;

/// Counters of the virtual machines of a system.
#[derive(Debug, Default)]
pub(crate) struct Jvms {
    known: HashMap<u32, Candidate>,
    last: Counters<2>,
}

#[derive(Debug, Default)]
struct Candidate {
    looks: u32,
    /// File with its counters. `None` if it has none yet.
    file: Option<File>,
}

/// Values of one virtual machine since its start.
#[derive(Clone, Debug, Default, PartialEq)]
struct Values {
    /// Time in nanoseconds and number of collections, by collector.
    collectors: BTreeMap<String, [u64; 2]>,
    /// Time for which all threads were stopped, in nanoseconds.
    safepoint_ns: Option<u64>,
    /// Number of times that a thread had to wait for a monitor.
    contended: Option<u64>,
}

impl Jvms {
    pub(crate) fn look(&mut self, members: &[Members], sheet: &mut Sheet) {
        let pids = members.iter().flat_map(|of| of.pids.iter().copied());
        let living: Vec<u32> = pids.take(PROCESSES_MAX).collect();
        self.known.retain(|pid, _| living.contains(pid));
        let mut rows: Vec<(String, [u64; 2])> = Vec::new();
        let mut processes: BTreeMap<&str, u32> = BTreeMap::new();
        for of in members {
            for pid in of.pids.iter().filter(|pid| living.contains(pid)) {
                let Some(values) = self.known.entry(*pid).or_default().read(*pid) else { continue };
                *processes.entry(&of.name).or_default() += 1;
                rows.extend(values.rows(*pid));
            }
        }
        let grown: HashMap<String, [u64; 2]> = self.last.grown(rows).into_iter().collect();
        for of in members.iter().filter(|of| processes.contains_key(of.name.as_str())) {
            write(of, processes[of.name.as_str()], &grown, sheet);
        }
    }
}

/// Adds up what the virtual machines of one keeper report.
fn write(of: &Members, processes: u32, grown: &HashMap<String, [u64; 2]>, sheet: &mut Sheet) {
    let mut sums: BTreeMap<&str, [u64; 2]> = BTreeMap::new();
    for (key, counts) in grown {
        let Some((pid, name)) = key.split_once(' ') else { continue };
        if of.pids.iter().any(|own| own.to_string() == pid) {
            let sum = sums.entry(name).or_default();
            (0..2).for_each(|at| sum[at] = sum[at].saturating_add(counts[at]));
        }
    }
    if sums.is_empty() {
        return;
    }
    sheet.add(&of.name, "jvm_processes", "", f64::from(processes));
    for (name, [first, second]) in sums {
        match name.split_once(' ') {
            Some((GC, collector)) => {
                sheet.add(&of.name, "jvm_gc_s", collector, first as f64 / 1e9);
                sheet.add(&of.name, "jvm_gc_runs", collector, second as f64);
            }
            _ if name == SAFEPOINT => sheet.add(&of.name, "jvm_safepoint_s", "", first as f64 / 1e9),
            _ => sheet.add(&of.name, "jvm_contended_monitors", "", first as f64),
        }
    }
}

/// Names of the rows of a virtual machine after its process ID.
const GC: &str = "gc";
const SAFEPOINT: &str = "safepoint";
const CONTENDED: &str = "contended";

impl Values {
    fn rows(self, pid: u32) -> impl Iterator<Item = (String, [u64; 2])> {
        let collectors =
            self.collectors.into_iter().map(move |(name, counts)| (format!("{pid} {GC} {name}"), counts));
        let safepoint = self.safepoint_ns.map(|ns| (format!("{pid} {SAFEPOINT}"), [ns, 0]));
        let contended = self.contended.map(|count| (format!("{pid} {CONTENDED}"), [count, 0]));
        collectors.chain(safepoint).chain(contended)
    }

    /// Reads the file of a virtual machine. `None` if it is none, or is not complete yet.
    fn parse(bytes: &[u8]) -> Option<Self> {
        let entries = Entries::of(bytes)?;
        let mut numbers: HashMap<&str, u64> = HashMap::new();
        let mut names: HashMap<&str, String> = HashMap::new();
        for entry in entries.take(ENTRIES_MAX) {
            let Entry { name, value } = entry?;
            match value {
                Value::Number(number) => drop(numbers.insert(name, number)),
                Value::Text(text) => drop(names.insert(name, text)),
            }
        }
        let ticks_per_s = numbers.get("sun.os.hrt.frequency").copied().filter(|ticks| *ticks > 0)?;
        let ns = |ticks: u64| {
            u64::try_from(u128::from(ticks) * 1_000_000_000 / u128::from(ticks_per_s)).unwrap_or(u64::MAX)
        };
        let number = |name: &str| numbers.get(name).copied();
        let mut collectors = BTreeMap::new();
        for at in 0..COLLECTORS_MAX {
            let key = |what: &str| format!("sun.gc.collector.{at}.{what}");
            let Some(time) = number(&key("time")) else { break };
            let name = names.get(key("name").as_str()).cloned().unwrap_or_else(|| format!("collector {at}"));
            collectors.insert(name, [ns(time), number(&key("invocations")).unwrap_or(0)]);
        }
        Some(Self {
            collectors,
            safepoint_ns: number("sun.rt.safepointTime").map(ns),
            contended: number("sun.rt._sync_ContendedLockAttempts"),
        })
    }
}

impl Candidate {
    fn read(&mut self, pid: u32) -> Option<Values> {
        if self.file.is_none() && TRIES_AT.contains(&self.looks) {
            self.file = open(pid);
        }
        self.looks = self.looks.saturating_add(1);
        let file = self.file.as_ref()?;
        let length = file.metadata().ok()?.len().min(BYTES_MAX);
        let mut bytes = vec![0; length as usize];
        // The process may cut its file at any time.
        let mut read = 0;
        while read < bytes.len() {
            match file.read_at(&mut bytes[read..], read as u64) {
                Ok(0) | Err(_) => break,
                Ok(count) => read += count,
            }
        }
        Values::parse(&bytes[..read])
    }
}

/// Opens the counters of a process. `None` if it has none.
fn open(pid: u32) -> Option<File> {
    let status = fs::read_to_string(format!("/proc/{pid}/status")).ok()?;
    let values = |name: &str| -> Vec<u32> {
        let line = status.lines().find_map(|line| line.strip_prefix(name)).unwrap_or_default();
        line.split_ascii_whitespace().filter_map(|value| value.parse().ok()).collect()
    };
    // The number in its own PID namespace, and the effective user.
    let own = values("NSpid:").last().copied().unwrap_or(pid);
    let user = *values("Uid:").get(1)?;
    let folders = [temp_dir(pid), PathBuf::from("/tmp")];
    folders.iter().take(if own == pid { 2 } else { 1 }).find_map(|folder| open_below(folder, own, user))
}

fn open_below(folder: &Path, pid: u32, user: u32) -> Option<File> {
    let entries = fs::read_dir(folder).ok()?.take(FOLDER_MAX).flatten();
    let is_of_user = |entry: &fs::DirEntry| {
        entry.file_name().as_encoded_bytes().starts_with(b"hsperfdata_")
            && entry.file_type().is_ok_and(|kind| kind.is_dir())
    };
    let flags = OFlags::NOFOLLOW | OFlags::NONBLOCK;
    entries.filter(is_of_user).find_map(|entry| {
        let mut options = File::options();
        options.read(true).custom_flags(flags.bits().cast_signed());
        let file = options.open(entry.path().join(pid.to_string())).ok()?;
        let about = file.metadata().ok()?;
        (about.is_file() && about.uid() == user).then_some(file)
    })
}

/// Entries of the file, after its prologue.
struct Entries<'a> {
    bytes: &'a [u8],
    is_little: bool,
    at: usize,
    left: u32,
}

struct Entry<'a> {
    name: &'a str,
    value: Value,
}

enum Value {
    Number(u64),
    Text(String),
}

impl<'a> Entries<'a> {
    fn of(bytes: &'a [u8]) -> Option<Self> {
        const MAGIC: [u8; 4] = [0xca, 0xfe, 0xc0, 0xc0];
        const LITTLE: u8 = 1;
        const VERSION: u8 = 2;
        let [order, version, _, is_accessible] = *bytes.get(4..8)?.first_chunk()?;
        if !bytes.starts_with(&MAGIC) || version != VERSION || is_accessible == 0 {
            return None;
        }
        let entries = Self { bytes, is_little: order == LITTLE, at: 0, left: 0 };
        Some(Self { at: entries.number(24)? as usize, left: entries.number(28)?, ..entries })
    }

    fn number(&self, at: usize) -> Option<u32> {
        let bytes = *self.bytes.get(at..)?.first_chunk()?;
        Some(if self.is_little { u32::from_le_bytes(bytes) } else { u32::from_be_bytes(bytes) })
    }

    fn long(&self, at: usize) -> Option<u64> {
        let bytes = *self.bytes.get(at..)?.first_chunk()?;
        Some(if self.is_little { u64::from_le_bytes(bytes) } else { u64::from_be_bytes(bytes) })
    }

    /// Text that ends with a zero byte or with `bytes`.
    fn text(bytes: &[u8]) -> &[u8] {
        bytes.split(|byte| *byte == 0).next().unwrap_or_default()
    }

    /// Entry at the current place, and its length. `None` if it does not fit into the file, or has another type.
    fn entry(&self) -> Option<(Option<Entry<'a>>, usize)> {
        let field = |at: usize| self.number(self.at.checked_add(at)?).map(|number| number as usize);
        let (length, name, many, value) = (field(0)?, field(4)?, field(8)?, field(16)?);
        let entry = self.bytes.get(self.at..self.at.checked_add(length)?)?;
        let name = std::str::from_utf8(Self::text(entry.get(name..)?)).ok()?;
        let value = match (*entry.get(12)?, many) {
            (b'J', 0) => Some(Value::Number(self.long(self.at.checked_add(value)?)?)),
            (b'B', 1..) => Some(Value::Text(printable(Self::text(entry.get(value..)?)))),
            _ => None,
        };
        Some((value.map(|value| Entry { name, value }), length))
    }
}

impl<'a> Iterator for Entries<'a> {
    /// `None` for a damaged entry, which is the last.
    type Item = Option<Entry<'a>>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            self.left = self.left.checked_sub(1)?;
            match self.entry().filter(|(_, length)| *length > 0) {
                None => {
                    self.left = 0;
                    return Some(None);
                }
                Some((entry, length)) => {
                    self.at += length;
                    if entry.is_some() {
                        return Some(entry);
                    }
                }
            }
        }
    }
}

/// Printable part of a name, at most 48 characters.
fn printable(name: &[u8]) -> String {
    let shown = |byte: &u8| if (b' '..=b'~').contains(byte) { char::from(*byte) } else { '?' };
    name.iter().take(NAME_CHARACTERS_MAX).map(shown).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(name: &str, kind: u8, many: u32, value: &[u8]) -> Vec<u8> {
        let value_at = (20 + name.len() + 1).next_multiple_of(8);
        let length = (value_at + value.len()).next_multiple_of(8);
        let mut bytes: Vec<u8> =
            [length as u32, 20, many].iter().flat_map(|number| number.to_le_bytes()).collect();
        bytes.extend([kind, 0, 4, 2]);
        bytes.extend((value_at as u32).to_le_bytes());
        bytes.extend(name.as_bytes());
        bytes.resize(value_at, 0);
        bytes.extend(value);
        bytes.resize(length, 0);
        bytes
    }

    fn file(entries: &[Vec<u8>]) -> Vec<u8> {
        let mut bytes = vec![0xca, 0xfe, 0xc0, 0xc0, 1, 2, 0, 1];
        bytes.extend([0; 16]);
        bytes.extend(32_u32.to_le_bytes());
        bytes.extend((entries.len() as u32).to_le_bytes());
        entries.iter().for_each(|entry| bytes.extend(entry));
        bytes
    }

    fn counters_file() -> Vec<u8> {
        let long = |name: &str, value: u64| entry(name, b'J', 0, &value.to_le_bytes());
        file(&[
            long("sun.os.hrt.frequency", 1_000_000),
            entry("sun.gc.collector.0.name", b'B', 9, b"G1 \x1byoung"),
            long("sun.gc.collector.0.time", 2_500_000),
            long("sun.gc.collector.0.invocations", 7),
            long("sun.rt.safepointTime", 3_000_000),
            long("sun.rt._sync_ContendedLockAttempts", 12),
        ])
    }

    #[test]
    fn counters_are_parsed_in_units_of_the_clock() {
        let expected = Values {
            collectors: [("G1 ?young".to_owned(), [2_500_000_000, 7])].into(),
            safepoint_ns: Some(3_000_000_000),
            contended: Some(12),
        };
        assert_eq!(Values::parse(&counters_file()), Some(expected));
    }

    #[test]
    fn damaged_file_never_panics() {
        let good = counters_file();
        for length in 0..good.len() {
            assert_eq!(Values::parse(&good[..length]), None, "{length}");
        }
        for at in 0..good.len() {
            for byte in [0, 1, 0x7f, 0x80, 0xff] {
                let mut bytes = good.clone();
                bytes[at] = byte;
                let _ = Values::parse(&bytes);
            }
        }
        assert_eq!(Values::parse(&vec![0; 32_768]), None);
    }

    #[test]
    fn file_of_another_user_and_links_are_not_opened() {
        let folder = tempfile::tempdir().unwrap();
        let own = folder.path().join("hsperfdata_me");
        fs::create_dir(&own).unwrap();
        fs::write(own.join("7"), counters_file()).unwrap();
        let user = fs::metadata(own.join("7")).unwrap().uid();
        assert!(open_below(folder.path(), 7, user).is_some());
        assert!(open_below(folder.path(), 7, user + 1).is_none());
        std::os::unix::fs::symlink(own.join("7"), own.join("8")).unwrap();
        assert!(open_below(folder.path(), 8, user).is_none());
    }
}
