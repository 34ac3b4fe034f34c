//! Runs `perf script`, which resolves the function names of a recording.

use std::collections::BTreeMap;
use std::io::BufReader;
use std::path::Path;
use std::process::{Child, Stdio};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use super::environment;
use super::fold::{Folded, fold as fold_lines};

/// Timeout for resolving names. Files of debug information can be large.
const TIMEOUT: Duration = Duration::from_secs(60);
/// Arguments of `perf`. Inlined functions are omitted, because each sample would require a search in debug information.
const ARGUMENTS: [&str; 7] = [
    "script",
    "--no-inline",
    "--show-lost-events",
    "--fields",
    "comm,pid,time,ip,sym,dso",
    "--input",
    "perf.data",
];

/// A child process that is killed and reaped on drop.
struct Reaped(Child);

impl Drop for Reaped {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Aggregates the stacks of a recording. `names` has the names of processes.
///
/// # Errors
/// The recording cannot be read. The text has the reason and the remedy.
pub(super) fn fold(perf: &Path, data: &Path, names: &BTreeMap<u32, String>) -> Result<Folded, String> {
    let cannot =
        |error: std::io::Error| format!("`perf script` could not be started: {error}; see whether it works");
    let folder = data.parent().unwrap_or(Path::new("/"));
    let child = std::process::Command::new(perf)
        .args(ARGUMENTS)
        .envs(environment())
        .current_dir(folder)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .map_err(cannot)?;
    let mut child = Reaped(child);
    let Some(lines) = child.0.stdout.take() else {
        return Err("`perf script` has no output; see whether it works".to_owned());
    };
    let names = names.clone();
    let (done, folded) = mpsc::sync_channel(1);
    let reading = thread::Builder::new().name("perf script".into()).spawn(move || {
        // The receiver is dropped after the timeout.
        let _ = done.send(fold_lines(BufReader::with_capacity(1 << 16, lines), &names));
    });
    reading.map_err(cannot)?;
    folded.recv_timeout(TIMEOUT).map_err(|_| {
        format!(
            "`perf script` did not name the functions within {} s; measure for a shorter time",
            TIMEOUT.as_secs()
        )
    })
}
