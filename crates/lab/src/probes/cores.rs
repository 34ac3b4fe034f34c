//! Probe for the CPU time of each core, from `/proc/stat`.

use super::sheet::{Counters, Probe, Sheet};
use super::source::Source;

/// Max number of cores that are read, more than any machine has.
const CORES_MAX: usize = 4096;

pub(crate) struct Cores {
    source: Source,
    last: Counters<5>,
}

impl Default for Cores {
    fn default() -> Self {
        Self { source: Source::of_machine("/proc/stat"), last: Counters::default() }
    }
}

impl Probe for Cores {
    fn look(&mut self, sheet: &mut Sheet) {
        let cores = self.source.text().map(|text| parse_core_ticks(&text));
        let cores = cores.and_then(|cores| {
            if cores.is_empty() { Err("/proc/stat lists no core".to_owned()) } else { Ok(cores) }
        });
        match cores {
            Ok(cores) => {
                let seconds = |ticks: u64| ticks as f64 / rustix::param::clock_ticks_per_second() as f64;
                let cores =
                    cores.into_iter().map(|(number, ticks)| (format!("core{number}"), ticks)).collect();
                for (core, [user, sys, idle, iowait, steal]) in self.last.grown(cores) {
                    sheet.machine("cpu_user_s", &core, seconds(user));
                    sheet.machine("cpu_sys_s", &core, seconds(sys));
                    sheet.machine("cpu_idle_s", &core, seconds(idle));
                    sheet.machine("iowait_s", &core, seconds(iowait));
                    sheet.machine("steal_s", &core, seconds(steal));
                }
            }
            Err(because) => sheet.note_unavailable("cpu of the machine", || because),
        }
    }
}

/// Ticks of each core, by core number: user mode including nice, kernel including interrupts, idle, idle during disk I/O (iowait),
/// and stolen by the hypervisor.
pub(crate) fn parse_core_ticks(text: &str) -> Vec<(u32, [u64; 5])> {
    let cores = text.lines().filter_map(|line| {
        let (number, ticks) = line.strip_prefix("cpu")?.split_once(' ')?;
        let number = number.parse().ok()?;
        let mut ticks = ticks.split_ascii_whitespace().map_while(|field| field.parse::<u64>().ok());
        let mut next = || ticks.next();
        let (user, nice, sys, idle) = (next()?, next()?, next()?, next()?);
        // Old kernels have fewer fields.
        let mut next = || next().unwrap_or(0);
        let (iowait, irq, softirq, steal) = (next(), next(), next(), next());
        let sum = |ticks: &[u64]| ticks.iter().fold(0, |sum: u64, ticks| sum.saturating_add(*ticks));
        Some((number, [sum(&[user, nice]), sum(&[sys, irq, softirq]), idle, iowait, steal]))
    });
    cores.take(CORES_MAX).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cores_are_parsed_and_the_total_is_skipped() {
        let text =
            "cpu  9 9 9 9 9 9 9 9 9 9\ncpu0 10 1 20 300 4 5 6 7 8 9\ncpu11 1 2 3 4\nintr 5 5\nctxt 7\n";
        assert_eq!(parse_core_ticks(text), [(0, [11, 31, 300, 4, 7]), (11, [3, 3, 4, 0, 0])]);
    }

    #[test]
    fn malformed_core_lines_are_skipped() {
        let huge = "18446744073709551615";
        for text in ["", "cpu", "cpu0", "cpu0 1 2 3", "cpu0 a b c d", "cpux 1 2 3 4", "cpu-1 1 2 3 4", "\0\n"]
        {
            assert!(parse_core_ticks(text).is_empty(), "{text:?}");
        }
        let cores =
            parse_core_ticks(&format!("cpu0 {huge} {huge} {huge} {huge} {huge} {huge} {huge} {huge}"));
        assert_eq!(cores[0].1, [u64::MAX; 5]);
        let many: String = (0..10_000).map(|core| format!("cpu{core} 1 1 1 1\n")).collect();
        assert_eq!(parse_core_ticks(&many).len(), CORES_MAX);
    }
}
