//! Probe for the proportional set size (PSS), read as often as its cost allows.
//!
//! The kernel walks every page of a process for it: 40 µs for a small process, tens of milliseconds for a large one.

use std::fs::File;
use std::io::Read;
use std::time::{Duration, Instant};

use super::process_files::pss_bytes;
use crate::access::Need;

/// Max share of one core: a pass that took 1 ms is repeated after 2 s.
const COST_SHARE: f64 = 0.0005;
/// Max share of one core before the first pass.
const FIRST_SHARE: f64 = 0.001;
/// Estimated time to read a small process.
const PROCESS_READ_COST: Duration = Duration::from_micros(40);
/// Max duration of a pass. A longer one is aborted, and no other follows.
const PASS_MAX: Duration = Duration::from_millis(50);
/// Max resident size that is read. A larger process might take longer than a pass may.
const RSS_MAX_BYTES: u64 = 4 << 30;
const LENGTH_MAX: u64 = 4096;

/// Schedule of the passes.
#[derive(Debug, Default)]
pub(crate) struct Pss {
    /// Time until the next pass. `None` before the number of processes is known.
    pause: Option<Duration>,
    is_over: bool,
}

impl Pss {
    /// Returns the sum of each group if a pass is due. `over` is the time since the last call.
    ///
    /// # Errors
    ///
    /// Reading costs too much, or is not permitted.
    pub(crate) fn look(
        &mut self,
        over: Duration,
        groups: &[Vec<u32>],
        rss_bytes: u64,
    ) -> Result<Option<Vec<u64>>, String> {
        let processes = groups.iter().map(Vec::len).sum::<usize>();
        let first = || PROCESS_READ_COST.mul_f64(processes as f64 / FIRST_SHARE);
        let pause = self.pause.unwrap_or_else(first).saturating_sub(over);
        self.pause = Some(pause);
        if self.is_over || !pause.is_zero() {
            return Ok(None);
        }
        if rss_bytes > RSS_MAX_BYTES {
            return Err(format!(
                "the kernel would walk {} MiB of memory, and hold up the system for it",
                rss_bytes >> 20
            ));
        }
        let began = Instant::now();
        let mut sums = Vec::with_capacity(groups.len());
        for group in groups {
            let mut sum = 0_u64;
            for pid in group {
                sum = sum.saturating_add(of_process(*pid)?);
                if began.elapsed() > PASS_MAX {
                    self.is_over = true;
                    return Err(format!("reading it took longer than {} ms", PASS_MAX.as_millis()));
                }
            }
            sums.push(sum);
        }
        self.pause = Some(began.elapsed().div_f64(COST_SHARE));
        Ok(Some(sums))
    }
}

/// PSS of a process, 0 if it has ended.
fn of_process(pid: u32) -> Result<u64, String> {
    let mut text = String::new();
    let read = File::open(format!("/proc/{pid}/smaps_rollup"))
        .and_then(|file| file.take(LENGTH_MAX).read_to_string(&mut text));
    match read {
        Err(error) if error.kind() == std::io::ErrorKind::PermissionDenied => {
            Err(Need::SharedMemory.with_remedy(format!("/proc/PID/smaps_rollup: {error}")))
        }
        _ => Ok(pss_bytes(&text).unwrap_or(0)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    #[test]
    fn pass_is_followed_by_a_pause() {
        let mut pss = Pss::default();
        let this = [vec![std::process::id()]];
        assert!(pss.look(SECOND, &this, 0).unwrap().unwrap()[0] > 0);
        pss.pause = Some(SECOND + SECOND);
        assert_eq!(pss.look(SECOND, &this, 0), Ok(None));
        assert!(pss.look(SECOND, &this, 0).unwrap().is_some());
    }

    #[test]
    fn first_pass_over_many_processes_is_delayed() {
        let mut pss = Pss::default();
        let many = [vec![u32::MAX; 49]];
        assert_eq!(pss.look(SECOND, &many, 0), Ok(None));
        assert_eq!(pss.look(SECOND, &many, 0), Ok(Some(vec![0])));
    }

    #[test]
    fn large_systems_are_not_read() {
        assert!(Pss::default().look(SECOND, &[vec![1]], RSS_MAX_BYTES + 1).unwrap_err().contains("4096 MiB"));
    }

    #[test]
    fn ended_process_has_no_memory() {
        assert_eq!(of_process(u32::MAX), Ok(0));
    }
}
