//! Probe for the time that the CPU quota of its control group throttled this process, in version 1 and 2.

use std::fs;
use std::path::PathBuf;

use super::GENERATOR;
use super::sheet::{Counters, Probe, Sheet};
use super::source::{Allowance, Source};
use crate::control_groups::{self, Hierarchy};

/// All groups of this process that may have a quota.
pub(crate) struct Throttling {
    groups: Vec<Source>,
    last: Counters<1>,
}

impl Throttling {
    pub(crate) fn of_this_process() -> Self {
        let text = |path: &str| fs::read_to_string(path).unwrap_or_default();
        Self::of(&text("/proc/self/cgroup"), &text("/proc/self/mountinfo"))
    }

    fn of(memberships: &str, mounts: &str) -> Self {
        let files = files(memberships, mounts).into_iter().filter(|file| file.is_file());
        let groups = files.map(|file| Source::new(file, Allowance::of(1))).collect();
        Self { groups, last: Counters::default() }
    }
}

impl Probe for Throttling {
    fn look(&mut self, sheet: &mut Sheet) {
        let texts = self.groups.iter_mut().enumerate();
        let counts = texts
            .filter_map(|(at, group)| Some((at.to_string(), [throttled_ns(&group.short_text().ok()?)?])));
        let grown = self.last.grown(counts.collect());
        // A group and its ancestors may have been throttled at once, so the max is used instead of the sum.
        if let Some(longest_ns) = grown.iter().map(|(_, [ns])| *ns).max() {
            sheet.add(GENERATOR, "throttled_s", "", longest_ns as f64 / 1e9);
        }
    }
}

/// Files of the groups of a process, from its own up to the root of the hierarchy.
fn files(memberships: &str, mounts: &str) -> Vec<PathBuf> {
    let hierarchies = control_groups::hierarchies(memberships, mounts, "cpu");
    let groups = hierarchies.iter().flat_map(Hierarchy::groups);
    groups.map(|group| group.join("cpu.stat")).collect()
}

/// Throttled time in nanoseconds. The file has nanoseconds in version 1 and microseconds in version 2.
pub(crate) fn throttled_ns(text: &str) -> Option<u64> {
    text.lines().find_map(|line| {
        let (name, value) = line.split_once(' ')?;
        let value: u64 = value.trim().parse().ok()?;
        match name {
            "throttled_time" => Some(value),
            "throttled_usec" => Some(value.saturating_mul(1_000)),
            _ => None,
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const MOUNTS: &str = "30 25 0:26 / /sys/fs/cgroup/cpu,cpuacct rw,relatime - cgroup cgroup rw,cpu,cpuacct\n\
                          31 25 0:27 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n\
                          32 25 0:28 /box /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw,nsdelegate\n";

    #[test]
    fn all_ancestor_groups_are_found_in_both_versions() {
        let paths = |memberships: &str| {
            let files = files(memberships, MOUNTS).into_iter();
            files.map(|file| file.display().to_string()).collect::<Vec<_>>()
        };
        let first = "/sys/fs/cgroup/cpu,cpuacct";
        let expected =
            [format!("{first}/a/b/cpu.stat"), format!("{first}/a/cpu.stat"), format!("{first}/cpu.stat")];
        assert_eq!(paths("7:memory:/m\n3:cpu,cpuacct:/a/b\n"), expected);
        let expected = ["/sys/fs/cgroup/unified/c/cpu.stat", "/sys/fs/cgroup/unified/cpu.stat"];
        assert_eq!(paths("0::/box/c\n"), expected);
        for nothing in ["", "x", "0:", "5:memory:/", "::"] {
            assert!(paths(nothing).len() <= 1, "{nothing:?}");
        }
        assert!(files("0::/a", "nonsense\n - cgroup2\n").is_empty());
    }

    #[test]
    fn time_is_parsed_in_the_unit_of_its_version() {
        assert_eq!(throttled_ns("nr_periods 7\nnr_throttled 2\nthrottled_time 1500\n"), Some(1_500));
        assert_eq!(throttled_ns("usage_usec 9\nthrottled_usec 15\n"), Some(15_000));
        for text in ["", "throttled_time", "throttled_time x", "throttled_usec -1", "usage_usec 7"] {
            assert_eq!(throttled_ns(text), None, "{text:?}");
        }
    }

    #[test]
    fn process_without_group_is_not_an_error() {
        let mut sheet = Sheet::default();
        Throttling::of("", "").look(&mut sheet);
        Throttling::of_this_process().look(&mut sheet);
        assert!(sheet.missing().is_empty());
    }
}
