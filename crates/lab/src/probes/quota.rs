//! Probe for the limits of a system: its CPU quota, the time that the quota throttled it, and its memory usage and limit.

use std::path::PathBuf;

use super::SYSTEM;
use super::sheet::{Counters, Probe, Sheet};
use super::source::{Allowance, Source};
use super::throttling::throttled_ns;

/// Groups of a system with limits. The limits are read each time, because they may change while the system runs.
#[derive(Default)]
pub(crate) struct Quota {
    cpu: Option<Cpu>,
    memory: Option<Memory>,
}

struct Cpu {
    stat: Source,
    /// Files of the quota and the period: two in version 1, one in version 2.
    limits: Vec<Source>,
    last: Counters<1>,
}

struct Memory {
    used: Source,
    limit: Source,
}

impl Quota {
    /// Opens the groups in these directories, for CPU time and for memory.
    pub(crate) fn of(cpu: Option<PathBuf>, memory: Option<PathBuf>) -> Self {
        let source = |path: PathBuf| Source::new(path, Allowance::of(1));
        let either = |folder: &PathBuf, first: &str, second: &str| {
            let path = folder.join(first);
            source(if path.exists() { path } else { folder.join(second) })
        };
        let cpu = cpu.map(|folder| Cpu {
            stat: source(folder.join("cpu.stat")),
            limits: match folder.join("cpu.max") {
                both if both.exists() => vec![source(both)],
                _ => ["cpu.cfs_quota_us", "cpu.cfs_period_us"].map(|name| source(folder.join(name))).into(),
            },
            last: Counters::default(),
        });
        let memory = memory.map(|folder| Memory {
            used: either(&folder, "memory.usage_in_bytes", "memory.current"),
            limit: either(&folder, "memory.limit_in_bytes", "memory.max"),
        });
        Self { cpu, memory }
    }
}

impl Probe for Quota {
    fn look(&mut self, sheet: &mut Sheet) {
        if let Some(cpu) = &mut self.cpu {
            let texts: Option<Vec<String>> =
                cpu.limits.iter_mut().map(|source| source.short_text().ok()).collect();
            if let Some(cores) = texts.and_then(|texts| cores(&texts.join(" "))) {
                sheet.add(SYSTEM, "cpu_quota_cores", "", cores);
            }
            let count = cpu.stat.short_text().ok().and_then(|text| throttled_ns(&text));
            let grown = cpu.last.grown(count.map(|ns| (String::new(), [ns])).into_iter().collect());
            for (_, [ns]) in grown {
                sheet.add(SYSTEM, "throttled_s", "", ns as f64 / 1e9);
            }
        }
        if let Some(memory) = &mut self.memory {
            let mut add = |source: &mut Source, metric| {
                let bytes = source.short_text().ok().and_then(|text| text.trim().parse::<u64>().ok());
                // Version 1 writes "no limit" as a number larger than any memory, and version 2 as a word.
                if let Some(bytes) = bytes.filter(|bytes| *bytes < 1 << 60) {
                    sheet.add(SYSTEM, metric, "", bytes as f64);
                }
            };
            add(&mut memory.used, "memory_charged_bytes");
            add(&mut memory.limit, "memory_limit_bytes");
        }
    }
}

/// Quota divided by period, in cores. `None` without a quota.
fn cores(text: &str) -> Option<f64> {
    let mut numbers = text.split_whitespace();
    let (quota, period) = (numbers.next()?.parse::<u64>().ok()?, numbers.next()?.parse::<u64>().ok()?);
    (period > 0).then(|| quota as f64 / period as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quota_is_parsed_in_both_versions() {
        assert_eq!(cores("40000\n 100000\n"), Some(0.4));
        assert_eq!(cores("200000 100000\n"), Some(2.0));
        for none in ["-1\n 100000\n", "max 100000\n", "", "1", "1 0", "x y"] {
            assert_eq!(cores(none), None, "{none:?}");
        }
    }

    #[test]
    fn system_without_limits_has_no_readings() {
        let mut sheet = Sheet::default();
        Quota::of(None, None).look(&mut sheet);
        Quota::of(Some("/nonexistent".into()), Some("/nonexistent".into())).look(&mut sheet);
        assert!(sheet.readings.is_empty());
    }
}
