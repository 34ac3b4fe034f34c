//! Parses the files that the kernel shows for one process or thread.

use super::fields::{bytes_of_kib, number};

/// Fields of `/proc/PID/stat` (proc_pid_stat(5)).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Stat {
    /// Whether the process has ended, and its parent has not reaped it yet.
    pub(crate) is_zombie: bool,
    /// Whether the first thread runs, is ready to run, or waits for a disk.
    pub(crate) is_busy: bool,
    pub(crate) parent: u32,
    pub(crate) user_ticks: u64,
    pub(crate) sys_ticks: u64,
    /// Ticks of ended children that were waited for, including their own children.
    pub(crate) children_user_ticks: u64,
    pub(crate) children_sys_ticks: u64,
    /// Nice value from 1 to 19; 0 for any higher priority.
    pub(crate) nice: u64,
    pub(crate) threads: u64,
    /// Start in ticks since boot. Together with the process ID it identifies a process for good.
    pub(crate) start_ticks: u64,
    pub(crate) rss_pages: u64,
}

impl Stat {
    pub(crate) fn parse(text: &str) -> Option<Self> {
        // The command name may contain any character, including parentheses and spaces.
        let (_, fields) = text.rsplit_once(')')?;
        let fields: Vec<&str> = fields.split_ascii_whitespace().take(22).collect();
        // Field numbers follow the manual, where the state is field 3. Negative values of signed fields become 0.
        let at = |number: usize| {
            fields
                .get(number - 3)?
                .parse::<i128>()
                .ok()
                .map(|value| u64::try_from(value.max(0)).unwrap_or(u64::MAX))
        };
        Some(Self {
            is_zombie: matches!(*fields.first()?, "Z" | "X"),
            is_busy: matches!(*fields.first()?, "R" | "D"),
            parent: u32::try_from(at(4)?).ok()?,
            user_ticks: at(14)?,
            sys_ticks: at(15)?,
            children_user_ticks: at(16)?,
            children_sys_ticks: at(17)?,
            nice: at(19)?,
            threads: at(20)?,
            start_ticks: at(22)?,
            rss_pages: at(24)?,
        })
    }
}

/// Fields of `/proc/PID/task/TID/schedstat`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct SchedStat {
    pub(crate) ran_ns: u64,
    /// Time on the run queue: ready to run but not running, in nanoseconds.
    pub(crate) waited_ns: u64,
    /// Number of time slices that it ran on a core.
    pub(crate) turns: u64,
}

impl SchedStat {
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let mut numbers = text.split_ascii_whitespace().map_while(|number| number.parse().ok());
        Some(Self { ran_ns: numbers.next()?, waited_ns: numbers.next()?, turns: numbers.next()? })
    }
}

/// Fields of `/proc/PID/task/TID/status`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Status {
    pub(crate) switches_voluntary: u64,
    pub(crate) switches_involuntary: u64,
    /// Swap of the whole process in bytes.
    pub(crate) swap_bytes: u64,
}

impl Status {
    pub(crate) fn parse(text: &str) -> Option<Self> {
        Some(Self {
            switches_voluntary: number(text, "voluntary_ctxt_switches")?,
            switches_involuntary: number(text, "nonvoluntary_ctxt_switches")?,
            // Kernels without swap leave it out, and so do threads that are ending.
            swap_bytes: bytes_of_kib(text, "VmSwap").unwrap_or(0),
        })
    }
}

/// Parses bytes read from disks and bytes written to them, from `/proc/PID/io`. They include ended children that were waited for.
pub(crate) fn disk_bytes(text: &str) -> Option<[u64; 2]> {
    Some([number(text, "read_bytes")?, number(text, "write_bytes")?])
}

/// Parses the proportional set size from `/proc/PID/smaps_rollup`: each shared page is divided among the processes that share it.
pub(crate) fn pss_bytes(text: &str) -> Option<u64> {
    bytes_of_kib(text, "Pss")
}

/// Parses the soft limit of open files from `/proc/PID/limits`. `None` without a limit.
pub(crate) fn open_files_max(text: &str) -> Option<u64> {
    let limits = text.lines().find_map(|line| line.strip_prefix("Max open files"))?;
    limits.split_ascii_whitespace().next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    const STAT: &str = "29009 (a) b (c)) S 28171 1 2 0 -1 4194560 1 2 3 4 250 50 70 -8 20 0 3 0 98765 11 640 18446744073709551615 1 1";

    #[test]
    fn command_name_with_spaces_and_parentheses_does_not_shift_fields() {
        let stat = Stat::parse(STAT).unwrap();
        assert_eq!((stat.parent, stat.is_zombie, stat.threads), (28171, false, 3));
        assert_eq!((stat.user_ticks, stat.sys_ticks), (250, 50));
        assert_eq!((stat.children_user_ticks, stat.children_sys_ticks), (70, 0));
        assert_eq!((stat.start_ticks, stat.rss_pages), (98765, 640));
        assert!(Stat::parse(&STAT.replace(") S ", ") Z ")).unwrap().is_zombie);
        let nice = |values| Stat::parse(&STAT.replace(" 20 0 3 ", values)).unwrap().nice;
        assert_eq!((stat.nice, nice(" 39 19 3 "), nice(" 0 -20 3 ")), (0, 19, 0));
    }

    #[test]
    fn truncated_and_malformed_texts_are_rejected() {
        let needed = STAT.find(" 640").unwrap() + 2;
        for at in 0..needed {
            assert_eq!(Stat::parse(&STAT[..at]), None, "{}", &STAT[..at]);
        }
        for field in ["x", "1e3", "999999999999999999999999999999999999999999"] {
            assert_eq!(Stat::parse(&STAT.replace("98765", field)), None, "{field}");
        }
        assert_eq!(Stat::parse(&STAT.replace("28171", "4294967296")), None);
        for text in ["", "1", "1 2", "1 2 x", "-1 2 3", "99999999999999999999 2 3"] {
            assert_eq!(SchedStat::parse(text), None, "{text:?}");
        }
        assert_eq!(disk_bytes("read_bytes: 1\n"), None);
        assert_eq!(Status::parse("voluntary_ctxt_switches:\t1\n"), None);
        assert_eq!(pss_bytes("Pss:"), None);
    }

    #[test]
    fn other_files_are_parsed() {
        assert_eq!(SchedStat::parse("10 20 3\n"), Some(SchedStat { ran_ns: 10, waited_ns: 20, turns: 3 }));
        let status = "Name:\tvoluntary_ctxt_switches: 9\nVmSwap:\t  2 kB\nvoluntary_ctxt_switches:\t7\n\
                      nonvoluntary_ctxt_switches:\t8\n";
        let expected = Status { switches_voluntary: 7, switches_involuntary: 8, swap_bytes: 2048 };
        assert_eq!(Status::parse(status), Some(expected));
        assert_eq!(
            disk_bytes("rchar: 1\nread_bytes: 2\nwrite_bytes: 3\ncancelled_write_bytes: 4\n"),
            Some([2, 3])
        );
        assert_eq!(
            pss_bytes("0-1 ---p 0 00:00 0 [rollup]\nRss: 9 kB\nPss:   3 kB\nPss_Dirty: 1 kB\n"),
            Some(3072)
        );
    }
}
