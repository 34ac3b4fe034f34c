//! Resource limits of a system: the key `resources`.

use super::braced::Braced;
use crate::units;

/// Min CPU limit in cores. The kernel cannot meter less.
const CPU_MIN: f64 = 0.01;
const CPU_MAX: f64 = 4096.0;
const CORE_MAX: u16 = 4095;
const MEMORY_MIN_BYTES: u64 = 1 << 20;
const CORES_MAX: usize = 4096;

/// Resource limits. `None`, and an empty list of cores, mean no limit.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Limits {
    /// CPU limit in thousandths of a core.
    pub cpu_millicores: Option<u64>,
    /// Processor cores that the system runs on.
    pub cores: Vec<usize>,
    /// Memory in bytes, including the page cache of its files.
    pub memory_bytes: Option<u64>,
    /// Bytes read per second from each disk.
    pub read_bytes_per_s: Option<u64>,
    /// Bytes written per second to each disk.
    pub write_bytes_per_s: Option<u64>,
    /// Read operations per second from each disk.
    pub reads_per_s: Option<u64>,
    /// Write operations per second to each disk.
    pub writes_per_s: Option<u64>,
}

impl Limits {
    /// I/O limits alone.
    pub(crate) fn io_only(&self) -> Self {
        Self { cpu_millicores: None, cores: Vec::new(), memory_bytes: None, ..*self }
    }

    /// I/O limits as a plan writes them.
    pub(crate) fn io_texts(&self) -> Vec<(LimitKind, String)> {
        let bytes = |kind, limit: Option<u64>| Some((kind, format!("{}B/s", limit?)));
        let operations = |kind, limit: Option<u64>| Some((kind, format!("{}/s", limit?)));
        let all = [
            bytes(LimitKind::Read, self.read_bytes_per_s),
            bytes(LimitKind::Write, self.write_bytes_per_s),
            operations(LimitKind::Reads, self.reads_per_s),
            operations(LimitKind::Writes, self.writes_per_s),
        ];
        all.into_iter().flatten().collect()
    }
}

/// Kind of limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LimitKind {
    Cpu,
    Core,
    Memory,
    Read,
    Write,
    Reads,
    Writes,
}

impl LimitKind {
    /// All kinds, each with its key in `resources`, or in a mapping within it.
    pub(crate) const ALL: [(Self, Option<&'static str>, &'static str); 7] = [
        (Self::Cpu, None, "cpu"),
        (Self::Core, None, "cores"),
        (Self::Memory, None, "memory"),
        (Self::Read, Some("io"), "read"),
        (Self::Write, Some("io"), "write"),
        (Self::Reads, Some("io"), "read-iops"),
        (Self::Writes, Some("io"), "write-iops"),
    ];

    /// Parses a value and sets the limit.
    pub(crate) fn set(self, limits: &mut Limits, text: &str) -> Result<(), String> {
        match self {
            Self::Cpu => limits.cpu_millicores = Some(millicores(text)?),
            Self::Core => add_core(&mut limits.cores, text)?,
            Self::Memory => limits.memory_bytes = Some(memory(text)?),
            Self::Read => limits.read_bytes_per_s = Some(units::bytes_per_s(text)?),
            Self::Write => limits.write_bytes_per_s = Some(units::bytes_per_s(text)?),
            Self::Reads => limits.reads_per_s = Some(operations(text)?),
            Self::Writes => limits.writes_per_s = Some(operations(text)?),
        }
        Ok(())
    }

    fn name(self) -> &'static str {
        Self::ALL.iter().find(|(kind, ..)| *kind == self).map_or("", |(.., name)| name)
    }
}

fn millicores(text: &str) -> Result<u64, String> {
    let is_plain = text.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.');
    match text.parse::<f64>() {
        Ok(cores) if is_plain && (CPU_MIN..=CPU_MAX).contains(&cores) => Ok((cores * 1000.0).round() as u64),
        _ => Err(format!(
            "{text:?} is not a number of cores from {CPU_MIN} to {CPU_MAX}; write it like 0.4 or 2"
        )),
    }
}

fn add_core(cores: &mut Vec<usize>, text: &str) -> Result<(), String> {
    let wrong = || format!("{text:?} is not the number of a core; write it like 0, or a range like 0-3");
    let number =
        |text: &str| text.trim().parse::<u16>().ok().filter(|core| *core <= CORE_MAX).ok_or_else(wrong);
    let (first, last) = match text.split_once('-') {
        Some((first, last)) => (number(first)?, number(last)?),
        None => (number(text)?, number(text)?),
    };
    if first > last {
        return Err(wrong());
    }
    for core in usize::from(first)..=usize::from(last) {
        if !cores.contains(&core) && cores.len() < CORES_MAX {
            cores.push(core);
        }
    }
    Ok(())
}

fn memory(text: &str) -> Result<u64, String> {
    let bytes = units::size_bytes(text)?;
    let too_little = || format!("{text} is less than the least limit of 1MiB");
    (bytes >= MEMORY_MIN_BYTES).then_some(bytes).ok_or_else(too_little)
}

fn operations(text: &str) -> Result<u64, String> {
    let per_s = units::rate_per_s(text)?;
    let too_few = || format!("{text} is less than 1/s");
    (per_s >= 1.0).then_some(per_s.round() as u64).ok_or_else(too_few)
}

/// Limits as written, with variables of parameters.
#[derive(Clone, Debug, Default)]
pub(crate) struct LimitsText(pub(crate) Vec<(LimitKind, Braced)>);

impl LimitsText {
    /// Sets a limit, instead of the plan's.
    pub(crate) fn set(&mut self, kind: LimitKind, text: String) {
        self.0.retain(|(known, _)| *known != kind);
        self.0.push((kind, Braced::read(&text)));
    }

    pub(crate) fn texts(&self) -> impl Iterator<Item = &Braced> {
        self.0.iter().map(|(_, text)| text)
    }

    /// Limits with every variable replaced. Values that cannot be parsed are reported when the plan is read.
    pub(crate) fn fill(&self, value: impl Fn(&str) -> Option<String>) -> Limits {
        let mut limits = Limits::default();
        for (kind, text) in &self.0 {
            // The reader of plans does this for each variant, and rejects a plan in which it fails.
            let _ = kind.set(&mut limits, &text.fill(&value));
        }
        limits
    }

    /// Words for the limits: `cpu {cpu}, memory 256MiB`.
    pub(crate) fn words(&self) -> String {
        let word = |(kind, text): &(LimitKind, Braced)| format!("{} {}", kind.name(), text.fill(|_| None));
        self.0.iter().map(word).collect::<Vec<_>>().join(", ")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parses_limits_with_units() {
        let mut limits = Limits::default();
        for (kind, text) in [
            (LimitKind::Cpu, "0.4"),
            (LimitKind::Core, "0-2"),
            (LimitKind::Core, "2"),
            (LimitKind::Memory, "64MiB"),
            (LimitKind::Write, "10MiB/s"),
            (LimitKind::Reads, "6k/min"),
        ] {
            kind.set(&mut limits, text).expect(text);
        }
        assert_eq!((limits.cpu_millicores, limits.cores.as_slice()), (Some(400), &[0, 1, 2][..]));
        assert_eq!((limits.memory_bytes, limits.write_bytes_per_s), (Some(64 << 20), Some(10 << 20)));
        assert_eq!((limits.reads_per_s, limits.writes_per_s), (Some(100), None));
    }

    #[test]
    fn rejects_invalid_limits() {
        for (kind, text) in [
            (LimitKind::Cpu, "0"),
            (LimitKind::Cpu, "40%"),
            (LimitKind::Cpu, "inf"),
            (LimitKind::Cpu, "5000"),
            (LimitKind::Core, "3-1"),
            (LimitKind::Core, "-1"),
            (LimitKind::Core, "5000"),
            (LimitKind::Memory, "64"),
            (LimitKind::Read, "0B/s"),
            (LimitKind::Writes, "0.1/s"),
        ] {
            assert!(kind.set(&mut Limits::default(), text).is_err(), "{kind:?} {text}");
        }
    }
}
