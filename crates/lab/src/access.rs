//! Permissions that Tenbin needs on this machine, each with a test and with the remedy if the test fails.
//!
//! This list is the only place with these remedies. Reports that lack a value because of a missing permission also name them.

mod others;
mod trials;

use std::fmt;

use others::Others;
use trials::Trial;

/// Permission that Tenbin needs from the kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Need {
    Processes,
    ThreadTime,
    CallsOfOwnSystems,
    CallsOfSameUser,
    CallsOfOtherUsers,
    OpenFiles,
    DiskBytes,
    SharedMemory,
    Namespaces,
    TcpSockets,
    UnixSockets,
    GroupCounts,
    GroupPressure,
    MachinePressure,
    LimitCpu,
    LimitCores,
    LimitMemory,
    LimitDisks,
    Perf,
    Samples,
    SamplesOfKernel,
    SamplesOfOtherUsers,
    Disk,
    Host,
}

/// Permission in the list, with its description and its test.
struct Entry {
    need: Need,
    /// Stable name for programs, such as `calls_of_other_users`.
    name: &'static str,
    what: &'static str,
    needed_for: &'static str,
    remedy: &'static str,
    trial: fn(&Others) -> Trial,
}

/// Outcome of a test.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// The test succeeded.
    Works,
    /// The test failed. Holds the error of the kernel or of a program.
    Fails(String),
    /// The test could not run. Holds the reason.
    NotTried(String),
}

/// Permission that was tested on this machine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Permission {
    /// Stable name, such as `calls_of_other_users`.
    pub name: &'static str,
    /// Object that is read or changed.
    pub what: &'static str,
    /// Feature of Tenbin that needs the permission.
    pub needed_for: &'static str,
    /// Action of the test: a file that was read, a socket, or a command.
    pub tried: String,
    /// Outcome of the test.
    pub outcome: Outcome,
    /// Remedy that a person can apply if the test fails.
    pub remedy: &'static str,
}

const BY_CAPABILITIES: &str = "run Tenbin as that user or as root, or once: \
     sudo setcap cap_sys_ptrace,cap_dac_read_search=ep \"$(command -v tenbin)\"";
const GROUPS: &str = "run Tenbin as root, or in a unit to which systemd delegates control groups \
     (systemd-run --scope --user -p Delegate=yes tenbin …)";
const PARANOID: &str = "sudo sysctl kernel.perf_event_paranoid=1, or run Tenbin as root; in a container add CAP_PERFMON \
     (docker run --cap-add PERFMON)";

/// All permissions, in the order of the table.
const LIST: [Entry; 24] = [
    Entry {
        need: Need::Processes,
        name: "processes_of_other_users",
        what: "processes of other users",
        needed_for: "finding the system behind a URL",
        remedy: "sudo mount -o remount,hidepid=0 /proc, or run Tenbin as root",
        trial: trials::processes,
    },
    Entry {
        need: Need::ThreadTime,
        name: "time_of_threads",
        what: "CPU time and waits of threads",
        needed_for: "running, ready, and sleeping threads",
        remedy: "boot a kernel with CONFIG_SCHED_INFO, as those of distributions",
        trial: trials::thread_time,
    },
    Entry {
        need: Need::CallsOfOwnSystems,
        name: "calls_of_own_systems",
        what: "system calls, system started by Tenbin",
        needed_for: "what threads wait for, locks",
        remedy: "sudo sysctl kernel.yama.ptrace_scope=1",
        trial: trials::calls_of_own_systems,
    },
    Entry {
        need: Need::CallsOfSameUser,
        name: "calls_of_same_user",
        what: "system calls, running system of this user",
        needed_for: "what threads wait for, locks",
        remedy: "sudo sysctl kernel.yama.ptrace_scope=0, or run Tenbin as root",
        trial: trials::calls_of_same_user,
    },
    Entry {
        need: Need::CallsOfOtherUsers,
        name: "calls_of_other_users",
        what: "system calls, running system of another user",
        needed_for: "what threads wait for, locks",
        remedy: BY_CAPABILITIES,
        trial: trials::calls_of_other_users,
    },
    Entry {
        need: Need::OpenFiles,
        name: "open_files_of_other_users",
        what: "open files of another user",
        needed_for: "finding the system behind a URL, dependencies",
        remedy: BY_CAPABILITIES,
        trial: trials::open_files,
    },
    Entry {
        need: Need::DiskBytes,
        name: "disk_bytes_of_other_users",
        what: "disk I/O of another user",
        needed_for: "bytes that a process reads and writes",
        remedy: BY_CAPABILITIES,
        trial: trials::disk_bytes,
    },
    Entry {
        need: Need::SharedMemory,
        name: "memory_of_other_users",
        what: "shared memory of another user",
        needed_for: "memory with shared pages counted once",
        remedy: BY_CAPABILITIES,
        trial: trials::shared_memory,
    },
    Entry {
        need: Need::Namespaces,
        name: "namespaces_of_other_users",
        what: "namespaces of another user",
        needed_for: "systems in containers",
        remedy: BY_CAPABILITIES,
        trial: trials::namespaces,
    },
    Entry {
        need: Need::TcpSockets,
        name: "tcp_sockets",
        what: "TCP connections (sock_diag)",
        needed_for: "listen queues, dependencies",
        remedy: "sudo modprobe tcp_diag; in a sandbox allow the system call socket(AF_NETLINK)",
        trial: trials::tcp_sockets,
    },
    Entry {
        need: Need::UnixSockets,
        name: "unix_sockets",
        what: "Unix sockets (sock_diag)",
        needed_for: "listen queues",
        remedy: "sudo modprobe unix_diag; in a sandbox allow the system call socket(AF_NETLINK)",
        trial: trials::unix_sockets,
    },
    Entry {
        need: Need::GroupCounts,
        name: "control_group_counts",
        what: "counts of control groups",
        needed_for: "quotas, limits of memory and disks",
        remedy: "mount the hierarchy: sudo mount -t cgroup2 none /sys/fs/cgroup; in a container \
                 docker run --cgroupns host -v /sys/fs/cgroup:/sys/fs/cgroup:ro",
        trial: trials::group_counts,
    },
    Entry {
        need: Need::GroupPressure,
        name: "control_group_pressure",
        what: "pressure of control groups",
        needed_for: "what a system itself waits for",
        remedy: "boot with systemd.unified_cgroup_hierarchy=1 psi=1",
        trial: trials::group_pressure,
    },
    Entry {
        need: Need::MachinePressure,
        name: "machine_pressure",
        what: "pressure of the machine (PSI)",
        needed_for: "waits for cores, memory, and disks",
        remedy: "boot with psi=1, and a kernel with CONFIG_PSI",
        trial: trials::machine_pressure,
    },
    Entry {
        need: Need::LimitCpu,
        name: "limit_cpu",
        what: "CPU time of a system, set",
        needed_for: "`resources: { cpu: … }`, experiments",
        remedy: GROUPS,
        trial: trials::limit_cpu,
    },
    Entry {
        need: Need::LimitCores,
        name: "limit_cores",
        what: "cores of a system, set",
        needed_for: "`resources: { cores: … }`",
        remedy: GROUPS,
        trial: trials::limit_cores,
    },
    Entry {
        need: Need::LimitMemory,
        name: "limit_memory",
        what: "memory of a system, set",
        needed_for: "`resources: { memory: … }`",
        remedy: GROUPS,
        trial: trials::limit_memory,
    },
    Entry {
        need: Need::LimitDisks,
        name: "limit_disks",
        what: "disk I/O of a system, set",
        needed_for: "`resources: { io: … }`, experiments",
        remedy: GROUPS,
        trial: trials::limit_disks,
    },
    Entry {
        need: Need::Perf,
        name: "perf",
        what: "the program perf",
        needed_for: "profiles",
        remedy: "install it (Debian: sudo apt install linux-perf)",
        trial: trials::perf_program,
    },
    Entry {
        need: Need::Samples,
        name: "samples",
        what: "stacks of own systems",
        needed_for: "profiles",
        remedy: PARANOID,
        trial: trials::samples,
    },
    Entry {
        need: Need::SamplesOfKernel,
        name: "samples_of_kernel",
        what: "stacks in the kernel",
        needed_for: "profiles with functions of the kernel",
        remedy: PARANOID,
        trial: trials::samples_of_kernel,
    },
    Entry {
        need: Need::SamplesOfOtherUsers,
        name: "samples_of_other_users",
        what: "stacks of another user",
        needed_for: "profiles of a running system",
        remedy: "run Tenbin as that user or as root",
        trial: trials::samples_of_other_users,
    },
    Entry {
        need: Need::Disk,
        name: "disk",
        what: "a file system on a loop device",
        needed_for: "`disk` of a system",
        remedy: "run Tenbin as root with e2fsprogs and loop devices (sudo modprobe loop)",
        trial: trials::disk,
    },
    Entry {
        need: Need::Host,
        name: "host",
        what: "a network namespace with a link",
        needed_for: "`host` of a system",
        remedy: "run Tenbin as root with iproute2 (Debian: sudo apt install iproute2)",
        trial: trials::host,
    },
];

impl Need {
    fn entry(self) -> Option<&'static Entry> {
        LIST.iter().find(|entry| entry.need == self)
    }

    /// Remedy if this permission is missing.
    pub(crate) fn remedy(self) -> &'static str {
        self.entry().map_or("", |entry| entry.remedy)
    }

    /// Appends the remedy to a reason, in the form that reports use.
    pub(crate) fn with_remedy(self, because: impl fmt::Display) -> String {
        format!("{because}; {}", self.remedy())
    }
}

/// Runs all tests, which takes about a second. Changes only objects that Tenbin creates itself, and removes them again: a child process,
/// control groups, a file system, and a network namespace.
pub fn test_all() -> Vec<Permission> {
    let others = Others::find();
    let tried = LIST.iter().map(|entry| {
        let Trial { tried, outcome } = (entry.trial)(&others);
        let Entry { name, what, needed_for, remedy, .. } = *entry;
        Permission { name, what, needed_for, tried, outcome, remedy }
    });
    tried.collect()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn each_need_has_one_entry_with_unique_name_and_remedy() {
        let names: BTreeSet<&str> = LIST.iter().map(|entry| entry.name).collect();
        assert_eq!(names.len(), LIST.len());
        for (at, entry) in LIST.iter().enumerate() {
            assert!(LIST[..at].iter().all(|before| before.need != entry.need), "{}", entry.name);
            assert!(!entry.remedy.is_empty() && !entry.remedy.ends_with('.'), "{}", entry.name);
            let words = entry.need.with_remedy("hidden");
            assert_eq!(words, format!("hidden; {}", entry.remedy));
        }
    }
}
