//! Thread dumps of Java virtual machines through their attach protocol: which monitors threads wait for, and where the holder is.
//!
//! The virtual machine opens `/tmp/.java_pidPID` when it finds `.attach_pidPID` in its folder at a SIGQUIT. A dump stops all threads
//! for a moment, so only instrumented runs take them.

use std::collections::{BTreeMap, HashMap};
use std::fs;
use std::io::{Read, Write};
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::time::Duration;

/// Time-out of a dump.
const TIMEOUT: Duration = Duration::from_millis(500);
/// Max size of a dump. The rest is ignored.
const BYTES_MAX: u64 = 4 << 20;
/// Max number of monitors of one dump.
const MONITORS_MAX: usize = 16;
const LABEL_CHARACTERS_MAX: usize = 160;
/// Number of looks without an answer after which a virtual machine is skipped.
const TRIES_MAX: u32 = 5;

/// Virtual machines that were signaled, and the number of looks without an answer.
#[derive(Debug, Default)]
pub(crate) struct JavaDumps {
    failed: HashMap<u32, u32>,
}

impl JavaDumps {
    /// Takes a dump of a virtual machine. `None` if it does not answer, or has only been signaled to listen.
    pub(crate) fn next(&mut self, pid: u32) -> Option<String> {
        let failed = self.failed.entry(pid).or_default();
        if *failed >= TRIES_MAX {
            return None;
        }
        let status = fs::read_to_string(format!("/proc/{pid}/status")).ok()?;
        let own = field(&status, "NSpid:").and_then(|pids| pids.split_ascii_whitespace().last());
        let own = own.and_then(|own| own.parse().ok()).unwrap_or(pid);
        let socket = temp_dir(pid).join(format!(".java_pid{own}"));
        let dump = if socket.exists() { request_dump(&socket).ok() } else { None };
        if dump.is_none() {
            *failed += 1;
            ask_to_listen(pid, own, &status);
        }
        dump
    }
}

/// Folder for temporary files, as the process sees it.
pub(crate) fn temp_dir(pid: u32) -> PathBuf {
    PathBuf::from(format!("/proc/{pid}/root")).join("tmp")
}

fn field<'a>(status: &'a str, name: &str) -> Option<&'a str> {
    status.lines().find_map(|line| line.strip_prefix(name)).map(str::trim)
}

/// Asks a virtual machine to open its socket, if it handles the signal: another program would end.
fn ask_to_listen(pid: u32, own: u32, status: &str) {
    const SIGQUIT_BIT: u64 = 1 << 2;
    let caught = field(status, "SigCgt:").and_then(|mask| u64::from_str_radix(mask, 16).ok()).unwrap_or(0);
    let file = temp_dir(pid).join(format!(".attach_pid{own}"));
    if caught & SIGQUIT_BIT == 0 || fs::File::create_new(&file).is_err() {
        return;
    }
    let process = i32::try_from(pid).ok().and_then(rustix::process::Pid::from_raw);
    if let Some(process) = process {
        let _ = rustix::process::kill_process(process, rustix::process::Signal::QUIT);
    }
    // The virtual machine looks for the file within milliseconds.
    std::thread::sleep(Duration::from_millis(50));
    let _ = fs::remove_file(file);
}

fn request_dump(socket: &std::path::Path) -> std::io::Result<String> {
    let mut stream = UnixStream::connect(socket)?;
    stream.set_read_timeout(Some(TIMEOUT))?;
    stream.set_write_timeout(Some(TIMEOUT))?;
    stream.write_all(b"1\0threaddump\0\0\0\0")?;
    let mut bytes = Vec::new();
    stream.take(BYTES_MAX).read_to_end(&mut bytes)?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

/// Threads at one monitor or lock.
#[derive(Debug, Default)]
struct Monitor {
    /// Class and the method that enters it.
    name: String,
    waiters: f64,
    /// Method in which the holder is.
    holder: Option<String>,
}

/// Values of a dump: one dump, waiting threads by monitor, and one look at its holder by method.
pub(crate) fn monitors(dump: &str) -> Vec<(&'static str, String, f64)> {
    let mut monitors: BTreeMap<&str, Monitor> = BTreeMap::new();
    let threads = || dump.split("\n\n");
    for thread in threads() {
        let mut frame = "";
        for line in thread.lines().map(str::trim) {
            frame = line.strip_prefix("at ").unwrap_or(frame);
            let Some((address, class)) = awaited_monitor(line) else { continue };
            if monitors.len() < MONITORS_MAX || monitors.contains_key(address) {
                let monitor = monitors.entry(address).or_default();
                monitor.waiters += 1.0;
                if monitor.name.is_empty() {
                    let method = if line.starts_with("- parking") { caller(thread) } else { frame };
                    monitor.name = format!("{class} in {}", without_module(method));
                }
            }
        }
    }
    for thread in threads() {
        let top = thread.lines().map(str::trim).find_map(|line| line.strip_prefix("at "));
        let locked = thread.lines().filter_map(|line| line.trim().strip_prefix("- locked <"));
        for address in locked.filter_map(|rest| rest.split('>').next()) {
            if let Some(monitor) = monitors.get_mut(address) {
                monitor.holder = top.map(|frame| without_module(frame).to_owned());
            }
        }
    }
    let short = |label: String| label.chars().take(LABEL_CHARACTERS_MAX).collect::<String>();
    let mut values = vec![("jvm_dumps", String::new(), 1.0)];
    for monitor in monitors.into_values() {
        values.extend(monitor.holder.map(|holder| {
            ("jvm_monitor_holder", short(format!("{} holds {}", holder.replace(' ', ""), monitor.name)), 1.0)
        }));
        values.push(("jvm_monitor_waiters", short(monitor.name), monitor.waiters));
    }
    values
}

/// Address and class of a monitor, lock, or semaphore that a thread waits for. `None` for threads that wait for a notification, as idle
/// ones do.
fn awaited_monitor(line: &str) -> Option<(&str, &str)> {
    let rest = line.strip_prefix("- waiting to lock <").or_else(|| {
        let rest = line.strip_prefix("- parking to wait for  <")?;
        (rest.contains("Lock$") || rest.contains("Semaphore$")).then_some(rest)
    })?;
    let (address, rest) = rest.split_once('>')?;
    let class = rest.trim().strip_prefix("(a ")?.strip_suffix(')')?;
    Some((address, class))
}

/// First method outside of `java.util.concurrent`, which parks threads.
fn caller(thread: &str) -> &str {
    let frames = || thread.lines().filter_map(|line| line.trim().strip_prefix("at "));
    let is_inside = |frame: &str| {
        let frame = without_module(frame);
        frame.starts_with("java.util.concurrent.") || frame.starts_with("jdk.internal.misc.Unsafe.")
    };
    frames().find(|frame| !is_inside(frame)).or(frames().next_back()).unwrap_or_default()
}

/// Removes the version of a module: `java.lang.Thread.sleep(java.base@17.0.15/Native Method)`.
fn without_module(frame: &str) -> &str {
    match frame.split_once('(') {
        Some((method, place)) if place.contains('@') => method,
        _ => frame,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const DUMP: &str = "0\nFull thread dump OpenJDK\n\n\
        \"pool-1-thread-1\" #11 prio=5 nid=0x4e1f sleeping\n   java.lang.Thread.State: TIMED_WAITING (sleeping)\n\
        \tat java.lang.Thread.sleep(java.base@17.0.15/Native Method)\n\tat Srv.handle(Srv.java:12)\n\t- locked <0x00f1> (a Ledger)\n\n\
        \"pool-1-thread-2\" #12 prio=5 nid=0x4e20 waiting for monitor entry\n   java.lang.Thread.State: BLOCKED\n\
        \tat Srv.handle(Srv.java:12)\n\t- waiting to lock <0x00f1> (a Ledger)\n\tat Srv.run(Srv.java:7)\n\n\
        \"pool-1-thread-3\" #13 prio=5 nid=0x4e21 waiting for monitor entry\n\
        \tat Srv.handle(Srv.java:12)\n\t- waiting to lock <0x00f1> (a Ledger)\n\n\
        \"pool-1-thread-4\" #14 prio=5 nid=0x4e22 waiting on condition\n\
        \tat jdk.internal.misc.Unsafe.park(java.base@17.0.15/Native Method)\n\
        \t- parking to wait for  <0x00e1> (a java.util.concurrent.locks.AbstractQueuedSynchronizer$ConditionObject)\n\n\
        \"pool-1-thread-5\" #15 prio=5 nid=0x4e23 waiting on condition\n\
        \tat jdk.internal.misc.Unsafe.park(java.base@17.0.15/Native Method)\n\
        \t- parking to wait for  <0x00e2> (a java.util.concurrent.locks.ReentrantLock$NonfairSync)\n\
        \tat java.util.concurrent.locks.ReentrantLock.lock(java.base@17.0.15/ReentrantLock.java:322)\n\tat Srv.put(Srv.java:30)\n";

    #[test]
    fn waiters_of_a_monitor_and_its_holder_are_found() {
        let values = monitors(DUMP);
        let expected = [
            ("jvm_dumps", "", 1.0),
            (
                "jvm_monitor_waiters",
                "java.util.concurrent.locks.ReentrantLock$NonfairSync in Srv.put(Srv.java:30)",
                1.0,
            ),
            ("jvm_monitor_holder", "java.lang.Thread.sleep holds Ledger in Srv.handle(Srv.java:12)", 1.0),
            ("jvm_monitor_waiters", "Ledger in Srv.handle(Srv.java:12)", 2.0),
        ];
        let values: Vec<_> =
            values.iter().map(|(metric, label, value)| (*metric, label.as_str(), *value)).collect();
        assert_eq!(values, expected);
    }

    #[test]
    fn nonsense_has_no_monitor() {
        for text in ["", "- waiting to lock <", "- waiting to lock <1> (a", "\n\n\n- locked <\n\nat "] {
            assert_eq!(monitors(text).len(), 1, "{text:?}");
        }
    }
}
