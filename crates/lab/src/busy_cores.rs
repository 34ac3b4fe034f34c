//! Measures the utilization of each core of the machine, from `/proc/stat`.

use std::collections::BTreeMap;
use std::fs;
use std::thread;
use std::time::Duration;

use crate::probes::parse_core_ticks;

/// Returns the busy share of each core, by core number, measured for the time `over`. Busy time includes the processes of this
/// machine and steal time. Blocks for `over`. Empty if the kernel does not report it. Resolution is one clock tick: 1 % for one
/// second.
pub fn busy_cores(over: Duration) -> BTreeMap<usize, f64> {
    let look = || parse_core_ticks(&fs::read_to_string("/proc/stat").unwrap_or_default());
    let before = look();
    thread::sleep(over);
    busy_shares(&before, &look())
}

/// Ticks in user mode, in the kernel, idle, idle during disk I/O (iowait), and stolen by the hypervisor.
type Ticks = [u64; 5];

fn busy_shares(before: &[(u32, Ticks)], after: &[(u32, Ticks)]) -> BTreeMap<usize, f64> {
    let before: BTreeMap<u32, Ticks> = before.iter().copied().collect();
    let share = |(number, after): &(u32, Ticks)| {
        let before = before.get(number)?;
        // The kernel may decrease the idle counters.
        let [user, system, idle, waiting, stolen] =
            std::array::from_fn(|place| after[place].saturating_sub(before[place]));
        let busy = user.saturating_add(system).saturating_add(stolen);
        let all = busy.saturating_add(idle).saturating_add(waiting);
        let share = (all > 0).then_some(busy as f64 / all as f64)?;
        Some((usize::try_from(*number).ok()?, share))
    };
    after.iter().filter_map(share).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn busy_share_includes_user_system_and_steal_time() {
        let before = [(0, [10, 10, 10, 10, 10]), (1, [5; 5]), (4, [5; 5])];
        let after = [(0, [20, 15, 70, 20, 25]), (1, [5; 5]), (3, [5; 5]), (4, [5, 5, 4, 5, 9])];
        assert_eq!(busy_shares(&before, &after), BTreeMap::from([(0, 0.3), (4, 1.0)]));
    }

    #[test]
    fn busy_shares_of_this_machine_are_between_zero_and_one() {
        let busy = busy_cores(Duration::from_millis(60));
        assert!(!busy.is_empty() && busy.values().all(|share| (0.0..=1.0).contains(share)), "{busy:?}");
    }
}
