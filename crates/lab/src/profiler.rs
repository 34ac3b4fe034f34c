//! Profiles the CPU time of a system's processes: `perf record` samples their stacks under load, and `perf script` resolves
//! function names afterwards.
//!
//! Samples the kernel's software clock (`cpu-clock`), which needs no hardware counters, so it works in most virtual machines. `perf` runs
//! below a separate keeper, so it always ends with Tenbin. The caller removes the folder of its file.

mod fold;
mod script;
mod tree;

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::process::Stdio;
use std::time::Duration;

use crate::access::Need;
use crate::census::{self, Census};
use crate::deadline::Deadline;
use crate::kept_process::{KeeperOptions, KeptProcess};
use crate::marker::Marker;
use crate::processes::{self, Seen};
use crate::{Command, Signal, in_words};

pub use tree::{Call, Frame, FrameKind, Profile};

/// Sampling frequencies per core, highest first. Lower ones are for long runs and large machines. They are odd, to avoid sampling
/// in lockstep with timers.
const FREQUENCIES_HZ: [u32; 3] = [199, 99, 49];
/// Max number of samples to aim at. More samples add little for functions that matter.
const SAMPLES_TARGET: f64 = 200_000.0;
/// Max number of samples to aim at with DWARF, where each sample contains a copy of the stack.
const SAMPLES_TARGET_DWARF: f64 = 40_000.0;
/// Max size of the file of `perf`.
const DATA_MAX: &str = "256M";
/// Call graph option for DWARF, with the number of stack bytes to copy.
const DWARF_CALL_GRAPH: &str = "dwarf,4096";
/// Max product of threads and cores, because the kernel needs one event for each thread on each core.
const EVENTS_MAX: usize = 32_768;
/// Timeout for `perf` to write its file.
const WRITE_TIMEOUT: Duration = Duration::from_secs(10);
/// Time after the load at which sampling ends by itself if it is not stopped.
const EXTRA_TIME: Duration = Duration::from_secs(60);
const WORDS_CHARACTERS_MAX: usize = 200;

/// Method of stack unwinding.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stacks {
    /// Follows frame pointers.
    FramePointers,
    /// Uses debug information and a copy of the stack.
    Dwarf,
}

/// Options of a profile.
#[derive(Clone, Debug)]
pub struct ProfileOptions {
    /// Root processes with optional names. They and all their descendants are sampled. Without a name, each process is shown by its
    /// own name.
    pub roots: Vec<(Option<String>, u32)>,
    /// Method of stack unwinding.
    pub stacks: Stacks,
    /// Delay of the first sample from now, for the warm-up.
    pub after: Duration,
    /// Max duration of the load after the delay.
    pub longest: Duration,
    /// Empty folder for the file of `perf`.
    pub dir: PathBuf,
    /// Command that runs [`keeper::main`](crate::keeper::main), such as `[tenbin, keep]`.
    pub keeper: Vec<OsString>,
}

/// A running `perf record`. Dropping it ends it.
#[derive(Debug)]
pub struct Profiler {
    kept: KeptProcess,
    order: ProfileOptions,
    perf: PathBuf,
    frequency_hz: u32,
    has_kernel: bool,
    names: BTreeMap<u32, String>,
    /// CPU time of `perf` until it was stopped, in seconds.
    perf_cpu_s: f64,
    is_stopped: bool,
}

impl Profiler {
    /// Starts sampling. Threads and processes that the sampled ones start later are included.
    ///
    /// # Errors
    /// Reason and remedy, separated by a semicolon.
    pub fn begin(order: ProfileOptions) -> Result<Self, String> {
        let perf = perf().ok_or_else(|| Need::Perf.with_remedy("perf is not installed"))?;
        let pids = order.pids();
        let threads: usize = pids.iter().map(|pid| threads(*pid)).sum();
        if threads == 0 {
            return Err(
                "no process of the system was found on this machine; let the plan start the system, or \
                        run Tenbin as the user of the server"
                    .to_owned(),
            );
        }
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        if threads.saturating_mul(cores) > EVENTS_MAX {
            return Err(format!(
                "{threads} threads on {cores} cores are too many for perf to watch; start fewer threads"
            ));
        }
        let has_kernel = may_sample_kernel();
        let frequency_hz = order.frequency_hz(cores);
        let argv = order.record(&perf, &pids, frequency_hz, has_kernel);
        let setting = KeeperOptions {
            keeper: order.keeper.clone(),
            cores: Vec::new(),
            marker: Marker::new(),
            groups: Vec::new(),
            namespace: None,
            disk: None,
        };
        let within = order.after.saturating_add(order.longest);
        let command = Command { argv, env: environment(), dir: order.dir.clone(), within };
        let kept = KeptProcess::start(&setting, "perf", &command)
            .map_err(|what| format!("perf could not be started: {what}; see whether `perf record` works"))?;
        let names = order.names();
        Ok(Self { kept, order, perf, frequency_hz, has_kernel, names, perf_cpu_s: 0.0, is_stopped: false })
    }

    /// Process ID of the keeper of `perf`. Its descendants are not part of the system.
    pub fn keeper_pid(&self) -> u32 {
        self.kept.keeper_pid()
    }

    /// Asks `perf` to stop sampling. Does not wait for its end.
    pub fn stop(&mut self) {
        if std::mem::replace(&mut self.is_stopped, true) {
            return;
        }
        // Adds the names of processes that started since the beginning.
        let names = self.order.names();
        for (pid, name) in names {
            self.names.entry(pid).or_insert(name);
        }
        self.kept.expect_end();
        let main = self.kept.state().main.clone();
        if let Some(main) = main.filter(|main| !main.is_zombie) {
            self.perf_cpu_s = cpu_s(&main);
            processes::signal(&main, Signal::INT);
        }
    }

    /// Waits until `perf` has written its file, and resolves function names. The sampled processes should still run, because some
    /// provide function names only while they run.
    ///
    /// # Errors
    /// Error of `perf`, and remedy.
    pub fn fold(mut self) -> Result<Profile, String> {
        self.stop();
        self.kept.wait(Deadline::after(WRITE_TIMEOUT), |state| state.exit.is_some() || state.is_lost);
        let exit = self.kept.state().exit;
        let (_, output) = self.kept.stop(Some(Signal::TERM), Duration::from_secs(1));
        let said = String::from_utf8_lossy(&output.text).into_owned();
        let data = self.order.dir.join(DATA);
        // Only the file is checked, because the exit code after SIGINT depends on the version of `perf`.
        if !fs::metadata(&data).is_ok_and(|meta| meta.len() > 0) {
            let exited = exit.map_or_else(|| "did not end in time".to_owned(), |exit| exit.to_string());
            return Err(explain_error(&said, &exited));
        }
        let folded = script::fold(&self.perf, &data, &self.names)?;
        if folded.samples() == 0 {
            return Err(
                "perf took no sample; the system was idle, or ended before the measured time".to_owned()
            );
        }
        Ok(Profile {
            frequency_hz: self.frequency_hz,
            has_kernel: self.has_kernel,
            perf_cpu_s: self.perf_cpu_s,
            is_cut: said.contains("size limit reached"),
            ..folded.into_profile()
        })
    }
}

/// Name of the file of `perf`.
const DATA: &str = "perf.data";

impl ProfileOptions {
    /// Process IDs of the roots and their descendants now.
    fn pids(&self) -> Vec<u32> {
        let below = |(_, root): &(Option<String>, u32)| {
            let below = processes::below(*root).into_iter().map(|seen| seen.pid);
            std::iter::once(*root).chain(below).collect::<Vec<u32>>()
        };
        let mut pids: Vec<u32> = self.roots.iter().flat_map(below).collect();
        pids.sort_unstable();
        pids.dedup();
        pids
    }

    /// Name of each process.
    fn names(&self) -> BTreeMap<u32, String> {
        let of_root = |(name, root): &(Option<String>, u32)| {
            let below = processes::below(*root).into_iter().map(|seen| seen.pid);
            let named = std::iter::once(*root).chain(below);
            named
                .filter_map(|pid| Some((pid, name.clone().or_else(|| census::name(pid))?)))
                .collect::<Vec<_>>()
        };
        self.roots.iter().flat_map(of_root).collect()
    }

    fn frequency_hz(&self, cores: usize) -> u32 {
        let aim = match self.stacks {
            Stacks::FramePointers => SAMPLES_TARGET,
            Stacks::Dwarf => SAMPLES_TARGET_DWARF,
        };
        let core_seconds = cores as f64 * self.longest.as_secs_f64();
        let fits = |hz: &&u32| f64::from(**hz) * core_seconds <= aim;
        let [.., lowest] = FREQUENCIES_HZ;
        FREQUENCIES_HZ.iter().find(fits).copied().unwrap_or(lowest)
    }

    fn record(
        &self,
        perf: &std::path::Path,
        pids: &[u32],
        frequency_hz: u32,
        has_kernel: bool,
    ) -> Vec<String> {
        let event = if has_kernel { "cpu-clock" } else { "cpu-clock:u" };
        let pids = pids.iter().map(u32::to_string).collect::<Vec<_>>().join(",");
        let lasting = self.after.saturating_add(self.longest).saturating_add(EXTRA_TIME).as_secs().max(1);
        let call_graph = match self.stacks {
            Stacks::FramePointers => "fp",
            Stacks::Dwarf => DWARF_CALL_GRAPH,
        };
        let mut argv = vec![
            perf.display().to_string(),
            "record".to_owned(),
            format!("--event={event}"),
            format!("--freq={frequency_hz}"),
            format!("--call-graph={call_graph}"),
            "--no-buildid".to_owned(),
            "--no-buildid-cache".to_owned(),
            format!("--max-size={DATA_MAX}"),
            format!("--output={DATA}"),
            format!("--pid={pids}"),
        ];
        let after_ms = self.after.as_millis();
        if after_ms > 0 {
            argv.push(format!("--delay={after_ms}"));
        }
        argv.extend(["--".to_owned(), "sleep".to_owned(), lasting.to_string()]);
        argv
    }
}

/// Environment of `perf`: no user configuration, English output, no debuginfod server, and no pager.
fn environment() -> Vec<(String, String)> {
    [("PERF_CONFIG", "/dev/null"), ("LC_ALL", "C"), ("DEBUGINFOD_URLS", ""), ("PAGER", "cat")]
        .map(|(name, value)| (name.to_owned(), value.to_owned()))
        .to_vec()
}

/// Path of `perf` in PATH. `None` if it is not installed.
pub(crate) fn perf() -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    let is_program = |file: &PathBuf| {
        fs::metadata(file).is_ok_and(|meta| meta.is_file() && meta.permissions().mode() & 0o111 != 0)
    };
    std::env::split_paths(&path).map(|folder| folder.join("perf")).find(is_program)
}

fn threads(pid: u32) -> usize {
    fs::read_dir(format!("/proc/{pid}/task")).map_or(0, Iterator::count)
}

/// Whether kernel stacks may be sampled: as root, or if perf_event_paranoid is below 2.
fn may_sample_kernel() -> bool {
    let paranoid = fs::read_to_string("/proc/sys/kernel/perf_event_paranoid").unwrap_or_default();
    rustix::process::geteuid().is_root() || paranoid.trim().parse::<i32>().is_ok_and(|level| level < 2)
}

/// CPU time of a process so far, in seconds.
fn cpu_s(process: &Seen) -> f64 {
    let used = Census::now().since(&Census::default());
    used.into_iter().find(|used| used.pid == process.pid).map_or(0.0, |used| used.cpu_s)
}

/// First error of `perf`, and remedy.
fn explain_error(said: &str, exited: &str) -> String {
    let remedy = match said.contains("perf_event_paranoid") || said.contains("ermission denied") {
        true => Need::Samples.remedy(),
        false => "see whether `perf record -e cpu-clock -p PID` works",
    };
    format!("{}; {remedy}", error_line(said, exited))
}

/// First line of the output of `perf` that describes an error, or the exit status.
fn error_line(said: &str, exited: &str) -> String {
    let is_telling = |line: &&str| !line.is_empty() && *line != "Error:" && !line.starts_with("Events ");
    let line = said.lines().map(str::trim).find(is_telling);
    let what: String = match line {
        Some(line) => in_words::escaped(line).chars().take(WORDS_CHARACTERS_MAX).collect(),
        None => exited.to_owned(),
    };
    format!("perf: {}", what.trim_end_matches('.'))
}

/// Samples a command that ends at once, or a process while that command runs.
///
/// # Errors
/// Error of `perf`.
pub(crate) fn try_sampling(perf: &std::path::Path, event: &str, pid: Option<u32>) -> Result<(), String> {
    let mut command = std::process::Command::new(perf);
    command.args(["record", "-q", "-e", event, "-o", "-"]);
    command.args(pid.into_iter().flat_map(|pid| ["-p".to_owned(), pid.to_string()]));
    command.args(["--", "true"]).envs(environment()).stdin(Stdio::null());
    let output = command.output().map_err(|error| format!("perf: {error}"))?;
    match output.status.success() {
        true => Ok(()),
        false => Err(error_line(&String::from_utf8_lossy(&output.stderr), &output.status.to_string())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn order(longest_s: u64, stacks: Stacks) -> ProfileOptions {
        ProfileOptions {
            roots: vec![(Some("app".to_owned()), std::process::id())],
            stacks,
            after: Duration::from_millis(1_500),
            longest: Duration::from_secs(longest_s),
            dir: "/tmp".into(),
            keeper: Vec::new(),
        }
    }

    #[test]
    fn long_runs_on_large_machines_have_a_lower_frequency() {
        let hz = |longest_s, cores, stacks| order(longest_s, stacks).frequency_hz(cores);
        assert_eq!(hz(10, 2, Stacks::FramePointers), 199);
        assert_eq!(hz(60, 32, Stacks::FramePointers), 99);
        assert_eq!(hz(3_600, 64, Stacks::FramePointers), 49);
        assert_eq!(hz(60, 8, Stacks::Dwarf), 49);
    }

    #[test]
    fn record_writes_only_its_file_and_ends_by_itself() {
        let argv = order(10, Stacks::FramePointers).record("/bin/perf".as_ref(), &[7, 8], 199, false);
        for wanted in ["--event=cpu-clock:u", "--pid=7,8", "--delay=1500", "--no-buildid-cache"] {
            assert!(argv.iter().any(|word| word == wanted), "{wanted} in {argv:?}");
        }
        assert_eq!(&argv[argv.len() - 3..], ["--", "sleep", "71"]);
    }

    #[test]
    fn process_is_named_by_role_or_by_its_own_name() {
        let own = std::process::id();
        let mut order = order(1, Stacks::Dwarf);
        assert_eq!(order.names().get(&own).map(String::as_str), Some("app"));
        order.roots[0].0 = None;
        assert_eq!(order.names().get(&own), census::name(own).as_ref());
        assert!(order.pids().contains(&own));
    }

    #[test]
    fn error_of_perf_comes_with_a_remedy() {
        let said = "Error:\nAccess to performance monitoring is limited.\nperf_event_paranoid setting is 4\n";
        let told = explain_error(said, "exited with code 255");
        assert!(
            told.starts_with("perf: Access to performance monitoring is limited; sudo sysctl kernel.perf"),
            "{told}"
        );
        let told = explain_error("\u{1b}[2J\n", "exited with code 1");
        assert!(told.starts_with("perf: \\u{1b}[2J; see whether"), "{told}");
        assert!(explain_error("", "exited with code 2").starts_with("perf: exited with code 2; see"));
    }
}
