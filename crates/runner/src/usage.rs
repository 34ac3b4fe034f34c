//! What this process itself uses: CPU time and memory.

use std::fs;

use crate::host::{field, kibibytes};

/// CPU seconds of this process so far.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Cpu {
    pub(crate) user_s: f64,
    pub(crate) sys_s: f64,
}

impl Cpu {
    /// From `/proc/self/stat`, in steps of a clock tick; nothing if the system does not say.
    pub(crate) fn now() -> Self {
        fs::read_to_string("/proc/self/stat").ok().and_then(|stat| parse(&stat)).unwrap_or_default()
    }

    pub(crate) fn since(self, earlier: Self) -> Self {
        Self { user_s: (self.user_s - earlier.user_s).max(0.0), sys_s: (self.sys_s - earlier.sys_s).max(0.0) }
    }
}

/// Fields 14 and 15 (proc_pid_stat(5)), counted after the command name, which may hold anything.
fn parse(stat: &str) -> Option<Cpu> {
    let ticks_per_s = rustix::param::clock_ticks_per_second() as f64;
    let mut fields = stat.rsplit_once(')')?.1.split_ascii_whitespace().skip(11);
    let mut seconds = || Some(fields.next()?.parse::<f64>().ok()? / ticks_per_s);
    Some(Cpu { user_s: seconds()?, sys_s: seconds()? })
}

/// The largest resident memory of this process so far, in bytes.
pub(crate) fn rss_peak_bytes() -> u64 {
    field("/proc/self/status", "VmHWM").and_then(|text| kibibytes(&text)).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_name_with_spaces_and_brackets_does_not_move_the_fields() {
        let stat = "7 (a) b (c)) R 1 2 3 4 5 6 7 8 9 10 250 50 0 0";
        let cpu = parse(stat).unwrap();
        let ticks = rustix::param::clock_ticks_per_second() as f64;
        assert_eq!(cpu, Cpu { user_s: 250.0 / ticks, sys_s: 50.0 / ticks });
        assert!(rss_peak_bytes() > 0);
    }
}
