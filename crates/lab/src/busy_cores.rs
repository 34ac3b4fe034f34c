//! How much of each core of the machine is used, from `/proc/stat`.

use std::collections::BTreeMap;
use std::fs;
use std::thread;
use std::time::Duration;

use crate::probes::ticks_of_cores;

/// By number of the core the share of `over` in which it was used, by processes of this machine or, as steal, by other machines of the
/// same hardware. Takes that long. Empty if the kernel does not tell; its clock ticks say a second to 1 %.
pub fn busy_cores(over: Duration) -> BTreeMap<usize, f64> {
    let look = || ticks_of_cores(&fs::read_to_string("/proc/stat").unwrap_or_default());
    let before = look();
    thread::sleep(over);
    shares(&before, &look())
}

/// Ticks of user mode, of the kernel, idle, idle while a disk was awaited, and stolen.
type Ticks = [u64; 5];

fn shares(before: &[(u32, Ticks)], after: &[(u32, Ticks)]) -> BTreeMap<usize, f64> {
    let before: BTreeMap<u32, Ticks> = before.iter().copied().collect();
    let share = |(number, after): &(u32, Ticks)| {
        let before = before.get(number)?;
        // The kernel may take back ticks of idle time.
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
    fn a_core_is_busy_for_what_its_processes_the_kernel_and_other_machines_took() {
        let before = [(0, [10, 10, 10, 10, 10]), (1, [5; 5]), (4, [5; 5])];
        let after = [(0, [20, 15, 70, 20, 25]), (1, [5; 5]), (3, [5; 5]), (4, [5, 5, 4, 5, 9])];
        assert_eq!(shares(&before, &after), BTreeMap::from([(0, 0.3), (4, 1.0)]));
    }

    #[test]
    fn this_machine_has_cores_and_none_is_busy_for_more_than_all_of_the_time() {
        let busy = busy_cores(Duration::from_millis(60));
        assert!(!busy.is_empty() && busy.values().all(|share| (0.0..=1.0).contains(share)), "{busy:?}");
    }
}
