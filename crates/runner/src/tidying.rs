//! Cleanup after killed studies.

use lab::leftovers::{EndedLeftover, Leftovers};

use crate::scratch;

/// Removes the remains of killed studies, so that they do not compete with this one. Returns unescaped messages on everything that was
/// ended, removed, or left alone.
pub fn tidy_up() -> Vec<String> {
    let Leftovers { ended, elsewhere, groups, hosts, disks } = lab::leftovers::sweep();
    let ended = ended.iter().map(|EndedLeftover { pid, command, .. }| {
        format!("ended process {pid} ({command}): a Tenbin that was killed left it running")
    });
    let left = (!elsewhere.is_empty()).then(|| {
        let pids: Vec<String> = elsewhere.iter().map(u32::to_string).collect();
        format!("left processes alone that a Tenbin of another PID namespace started: {}", pids.join(", "))
    });
    let groups = (groups > 0).then(|| {
        let systems = if groups == 1 { "1 system".to_owned() } else { format!("{groups} systems") };
        format!("removed the control groups of {systems}: a Tenbin that was killed left them")
    });
    let hosts = (hosts > 0).then(|| {
        let hosts = if hosts == 1 { "1 host".to_owned() } else { format!("{hosts} hosts") };
        format!("removed {hosts} (network namespaces): a Tenbin that was killed left them")
    });
    let disks = (disks > 0).then(|| {
        let disks = if disks == 1 { "1 disk".to_owned() } else { format!("{disks} disks") };
        format!("unmounted {disks}: a Tenbin that was killed left them")
    });
    ended.chain(left).chain(groups).chain(hosts).chain(disks).chain(scratch::sweep()).collect()
}
