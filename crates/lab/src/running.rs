//! Finds the processes of a system that Tenbin did not start. Read-only: never changes the system.

use std::collections::BTreeSet;
use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};

use crate::containers;
use crate::in_words;
use crate::listening::{self, ListenAddress, UnreadableSystem};
use crate::processes::{self, PROC};

/// Way to identify a system that already runs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SystemLocator {
    /// Found by the addresses at which it listens.
    Listening(Vec<ListenAddress>),
    /// Found by a process ID.
    Process(u32),
    /// Found by the path of a PID file.
    PidFile(PathBuf),
    /// Found by the name or ID of a Docker or Podman container.
    Container(String),
}

/// A running system: these processes and all their descendants.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Running {
    /// Name of the first root process, escaped for display, and changed if it is reserved.
    pub name: String,
    /// Root processes, at least one. None is a descendant of another.
    pub roots: Vec<u32>,
}

/// Identification of a system, and the result of the last search.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SearchedSystem {
    /// Identification for another search after its processes have ended.
    pub by: SystemLocator,
    /// Processes found, or the reason why none can be read.
    pub found: Result<Running, UnreadableSystem>,
}

/// Programs that listen for others and forward connections. The kernel cuts process names after 15 characters.
const FORWARDERS: [&str; 11] = [
    "docker-proxy",
    "rootlessport",
    "rootlesskit",
    "slirp4netns",
    "pasta",
    "pasta.avx2",
    "passt",
    "gvproxy",
    "vpnkit",
    "kubectl",
    "ssh",
];
/// Names of subjects of other readings.
const RESERVED: [&str; 3] = ["machine", "system", "generator"];
/// Max number of ancestors that are followed.
const DEPTH_MAX: usize = 64;

/// Searches for the system.
///
/// # Errors
/// None of its processes can be read.
pub fn find(by: &SystemLocator) -> Result<Running, UnreadableSystem> {
    match by {
        SystemLocator::Listening(places) => from_listeners(places.iter().map(listening::listeners)),
        SystemLocator::Process(pid) => from_process(Path::new(PROC), *pid, &processes::self_and_ancestors()),
        SystemLocator::PidFile(path) => {
            from_process(Path::new(PROC), read_pid_file(path)?, &processes::self_and_ancestors())
        }
        SystemLocator::Container(container) => {
            let pids = containers::processes(container)?.into_iter().collect();
            Ok(running(Path::new(PROC), &pids))
        }
    }
}

fn from_process(proc: &Path, pid: u32, tenbin: &BTreeSet<u32>) -> Result<Running, UnreadableSystem> {
    if tenbin.contains(&pid) {
        let what = format!("process {pid} is Tenbin, or started it");
        return Err(UnreadableSystem::here(what).with_help("write the number of a process of the system"));
    }
    match processes::look_in(proc, pid) {
        Some(seen) if !seen.is_zombie => Ok(running(proc, &BTreeSet::from([pid]))),
        Some(_) => {
            let help = format!("start the system, and {FIND_PID}");
            Err(UnreadableSystem::here(format!("process {pid} has ended")).with_help(help))
        }
        None => Err(UnreadableSystem::here(format!("process {pid} does not exist")).with_help(FIND_PID)),
    }
}

const FIND_PID: &str = "find the number: pidof NAME, or pgrep -f WORDS";
/// Max bytes of a PID file that are read.
const PID_FILE_BYTES_MAX: u64 = 64;

/// Parses the process ID in the first line of a file.
fn read_pid_file(path: &Path) -> Result<u32, UnreadableSystem> {
    let shown = in_words::escaped(&path.display().to_string());
    let unread = |what: &str| {
        let help = "write a number, or the file to which the system writes its own";
        UnreadableSystem::here(format!("the file {shown} has no number of a process: {what}")).with_help(help)
    };
    let file = fs::File::open(path).map_err(|error| unread(&error.to_string()))?;
    if !file.metadata().is_ok_and(|meta| meta.is_file()) {
        return Err(unread("it is no regular file"));
    }
    let mut text = Vec::new();
    file.take(PID_FILE_BYTES_MAX).read_to_end(&mut text).map_err(|error| unread(&error.to_string()))?;
    let text = String::from_utf8_lossy(&text);
    let first = text.lines().next().unwrap_or_default().trim();
    first.parse().ok().filter(|pid| *pid > 0).ok_or_else(|| unread("its first line is something else"))
}

/// Determines the system from the processes that listen at several addresses, given the results of [`listening::listeners`].
///
/// # Errors
/// No process is visible at any address, or it is not part of the system.
pub fn from_listeners(
    found: impl IntoIterator<Item = Result<Vec<u32>, UnreadableSystem>>,
) -> Result<Running, UnreadableSystem> {
    from_listeners_in(Path::new(PROC), found, &processes::self_and_ancestors())
}

fn from_listeners_in(
    proc: &Path,
    found: impl IntoIterator<Item = Result<Vec<u32>, UnreadableSystem>>,
    tenbin: &BTreeSet<u32>,
) -> Result<Running, UnreadableSystem> {
    let (mut holders, mut unseen) = (BTreeSet::new(), None);
    for found in found {
        match found {
            Ok(pids) => holders.extend(pids),
            Err(why) => unseen = unseen.or(Some(why)),
        }
    }
    if holders.is_empty() {
        return Err(unseen.unwrap_or_else(|| UnreadableSystem::elsewhere("it has no address".to_owned())));
    }
    // A service manager opens sockets of services before it starts them, and is an ancestor of all processes.
    let is_manager = |pid: &u32| *pid == 1 && tenbin.contains(pid);
    let (managers, holders): (Vec<u32>, Vec<u32>) = holders.into_iter().partition(is_manager);
    if holders.is_empty() {
        let manager = managers.first().and_then(|pid| name_in(proc, *pid)).unwrap_or_default();
        let because = format!("{manager} (process 1) listens for a service that it has not started");
        return Err(UnreadableSystem::here(because));
    }
    let is_forwarder = |pid: &&u32| name_in(proc, **pid).is_some_and(|name| FORWARDERS.contains(&&*name));
    if let Some(pid) = holders.iter().find(is_forwarder) {
        let name = name_in(proc, *pid).unwrap_or_default();
        return Err(UnreadableSystem::elsewhere(format!(
            "{name} (process {pid}) listens there, and passes connections on to a system that is not known"
        )));
    }
    // The ancestor of Tenbin has other descendants that are not part of the system.
    if let Some(pid) = holders.iter().find(|pid| tenbin.contains(pid)) {
        let name = name_in(proc, *pid).unwrap_or_default();
        return Err(UnreadableSystem::here(format!(
            "{name} (process {pid}) listens there, and started Tenbin"
        )));
    }
    Ok(running(proc, &holders.into_iter().collect()))
}

/// Builds a system from processes, at least one.
fn running(proc: &Path, pids: &BTreeSet<u32>) -> Running {
    let roots = topmost(proc, pids);
    let name = roots.first().and_then(|pid| name_in(proc, *pid)).unwrap_or_default();
    Running { name: distinct_name(name), roots }
}

/// Processes of the set that are not descendants of others in it.
fn topmost(proc: &Path, pids: &BTreeSet<u32>) -> Vec<u32> {
    let above = |pid: &u32| {
        std::iter::successors(Some(*pid), |pid| processes::look_in(proc, *pid).map(|seen| seen.parent))
            .skip(1)
            .take(DEPTH_MAX)
            .any(|above| pids.contains(&above))
    };
    pids.iter().filter(|pid| !above(pid)).copied().collect()
}

fn name_in(proc: &Path, pid: u32) -> Option<String> {
    let name = fs::read(proc.join(pid.to_string()).join("comm")).ok()?;
    Some(in_words::escaped(String::from_utf8_lossy(&name).trim()))
}

fn distinct_name(name: String) -> String {
    match name.as_str() {
        "" => "process".to_owned(),
        reserved if RESERVED.contains(&reserved) => format!("{reserved} process"),
        _ => name,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Creates a directory that imitates `/proc` with processes: pid, parent, and name.
    fn machine(processes: &[(u32, u32, &str)]) -> tempfile::TempDir {
        let proc = tempfile::tempdir().expect("a folder");
        for (pid, parent, name) in processes {
            let folder = proc.path().join(pid.to_string());
            fs::create_dir(&folder).expect("a folder");
            let stat = format!("{pid} ({name}) S {parent} 1 1 0 -1 0 1 2 3 4 5 6 7 8 20 0 1 0 77 1 1");
            fs::write(folder.join("stat"), stat).expect("a file");
            fs::write(folder.join("comm"), format!("{name}\n")).expect("a file");
        }
        proc
    }

    fn found(processes: &[(u32, u32, &str)], holders: &[u32]) -> Result<Running, UnreadableSystem> {
        from_listeners_in(machine(processes).path(), [Ok(holders.to_vec())], &BTreeSet::from([1, 50, 51]))
    }

    #[test]
    fn roots_are_the_topmost_listeners() {
        let machine =
            [(1, 0, "systemd"), (70, 1, "nginx"), (71, 70, "nginx"), (20, 71, "cgi"), (90, 1, "nginx")];
        let running = Running { name: "nginx".to_owned(), roots: vec![70, 90] };
        assert_eq!(found(&machine, &[1, 20, 70, 71, 90]), Ok(running));
    }

    #[test]
    fn ancestor_of_tenbin_is_rejected_as_system() {
        let machine = [(1, 0, "systemd"), (50, 1, "tests"), (51, 50, "tenbin"), (52, 50, "nginx")];
        let because = found(&machine, &[50, 52]).expect_err("none").because();
        assert_eq!(because, "tests (process 50) listens there, and started Tenbin");
    }

    #[test]
    fn process_is_found_by_pid_or_pid_file() {
        let proc = machine(&[(1, 0, "systemd"), (50, 1, "sh"), (70, 1, "puma")]);
        let tenbin = BTreeSet::from([1, 50]);
        let puma = Running { name: "puma".to_owned(), roots: vec![70] };
        assert_eq!(from_process(proc.path(), 70, &tenbin), Ok(puma));
        let because = |pid| from_process(proc.path(), pid, &tenbin).expect_err("none").because();
        assert!(because(71).starts_with("process 71 does not exist; find the number: pidof"));
        let unseen = from_process(proc.path(), 71, &tenbin).expect_err("none");
        assert_eq!((&*unseen.what, unseen.help.as_deref()), ("process 71 does not exist", Some(FIND_PID)));
        assert!(because(50).starts_with("process 50 is Tenbin, or started it; write"));
        let file = proc.path().join("app\npid");
        for (text, pid) in
            [("70\n", Some(70)), (" 71 \nmore", Some(71)), ("", None), ("0", None), ("-1", None)]
        {
            fs::write(&file, text).expect("a file");
            assert_eq!(read_pid_file(&file).ok(), pid, "{text:?}");
        }
        let because = read_pid_file(&file).expect_err("no number").because();
        assert!(because.contains("app\\npid has no number of a process: its first line"), "{because}");
        assert!(read_pid_file(proc.path()).is_err() && read_pid_file(Path::new("/nowhere/pid")).is_err());
    }

    #[test]
    fn forwarder_is_rejected_as_system() {
        for name in ["docker-proxy", "rootlessport"] {
            let unseen = found(&[(70, 1, name)], &[70]).expect_err("a forwarder");
            assert!(unseen.is_elsewhere, "{unseen:?}");
            assert!(unseen.what.starts_with(&format!("{name} (process 70) listens there")), "{unseen:?}");
        }
        let unseen = found(&[(1, 0, "systemd")], &[1]).expect_err("no service yet");
        assert_eq!(unseen.what, "systemd (process 1) listens for a service that it has not started");
    }

    #[test]
    fn one_visible_listener_is_enough_and_the_first_reason_is_reported() {
        let unseen = |why: &str| Err(UnreadableSystem::elsewhere(why.to_owned()));
        let none = from_listeners_in(Path::new("/nowhere"), [unseen("a"), unseen("b")], &BTreeSet::new());
        assert_eq!(none.expect_err("nobody").what, "a");
        let proc = machine(&[(70, 1, "system")]);
        let one = from_listeners_in(proc.path(), [unseen("a"), Ok(vec![70])], &BTreeSet::new());
        assert_eq!(one.expect("a system").name, "system process", "readings of all are kept as `system`");
    }
}
