//! Resources used by a generator itself: CPU time and memory.

use std::fs;

use crate::host::{field, kibibytes};

/// Resources used by a generator so far.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Usage {
    /// CPU time in user mode, in seconds.
    pub cpu_user_s: f64,
    /// CPU time in the kernel, in seconds.
    pub cpu_sys_s: f64,
    /// Peak resident set size.
    pub rss_peak_bytes: u64,
}

impl Usage {
    /// Usage of this process. Figures that the system does not report are 0. CPU time has the resolution of a clock tick.
    pub fn of_this_process() -> Self {
        let stat = fs::read_to_string("/proc/self/stat").ok();
        let [cpu_user_s, cpu_sys_s] = stat.and_then(|stat| cpu_s(&stat)).unwrap_or_default();
        let peak = field("/proc/self/status", "VmHWM").and_then(|text| kibibytes(&text));
        Self { cpu_user_s, cpu_sys_s, rss_peak_bytes: peak.unwrap_or(0) }
    }

    /// CPU time since an earlier reading, and the peak so far.
    pub(crate) fn since(self, earlier: Self) -> Self {
        Self {
            cpu_user_s: (self.cpu_user_s - earlier.cpu_user_s).max(0.0),
            cpu_sys_s: (self.cpu_sys_s - earlier.cpu_sys_s).max(0.0),
            ..self
        }
    }
}

/// User and system CPU time from fields 14 and 15 (proc_pid_stat(5)), counted after the command name, which may contain any characters.
fn cpu_s(stat: &str) -> Option<[f64; 2]> {
    let ticks_per_s = rustix::param::clock_ticks_per_second() as f64;
    let mut fields = stat.rsplit_once(')')?.1.split_ascii_whitespace().skip(11);
    let mut seconds = || Some(fields.next()?.parse::<f64>().ok()? / ticks_per_s);
    Some([seconds()?, seconds()?])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parses_stat_with_spaces_and_brackets_in_command_name() {
        let stat = "7 (a) b (c)) R 1 2 3 4 5 6 7 8 9 10 250 50 0 0";
        let ticks = rustix::param::clock_ticks_per_second() as f64;
        assert_eq!(cpu_s(stat), Some([250.0 / ticks, 50.0 / ticks]));
        assert!(Usage::of_this_process().rss_peak_bytes > 0);
    }
}
