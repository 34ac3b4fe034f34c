//! Locates and runs the programs of servers.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::{env, fs};

use crate::account::Account;
use crate::missing::Missing;

/// Finds a program by name in `PATH` and in the usual Debian folders.
pub(crate) fn find(program: &'static str, package: &'static str) -> Result<PathBuf, Missing> {
    let path = env::var_os("PATH").unwrap_or_default();
    let usual = ["/usr/local/sbin", "/usr/sbin", "/usr/bin"].map(PathBuf::from);
    env::split_paths(&path)
        .chain(usual)
        .map(|folder| folder.join(program))
        .find(|file| file.is_file())
        .ok_or(Missing::Program { program, package })
}

/// Returns the folder of the newest PostgreSQL version's programs on Debian. `None` if there is none.
pub(crate) fn newest_postgres() -> Option<PathBuf> {
    let versions = fs::read_dir("/usr/lib/postgresql").ok()?.flatten();
    let with_numbers = versions.filter_map(|entry| {
        let version: u32 = entry.file_name().to_str()?.parse().ok()?;
        Some((version, entry.path().join("bin")))
    });
    with_numbers.filter(|(_, folder)| folder.join("postgres").is_file()).max().map(|(_, folder)| folder)
}

/// Returns a command that runs as `account`, optionally on one core, and receives `death_signal` when the thread that started it
/// ends.
pub(crate) fn command(
    program: &Path,
    account: Option<Account>,
    core: Option<u32>,
    death_signal: &str,
) -> Result<Command, Missing> {
    let setpriv = find("setpriv", "util-linux")?;
    let mut command = match core {
        Some(core) => {
            let mut command = Command::new(find("taskset", "util-linux")?);
            command.arg("-c").arg(core.to_string()).arg(setpriv);
            command
        }
        None => Command::new(setpriv),
    };
    if let Some(Account { user, group }) = account {
        command.args([format!("--reuid={user}"), format!("--regid={group}"), "--clear-groups".into()]);
    }
    command.args(["--pdeathsig", death_signal, "--"]).arg(program).stdin(Stdio::null());
    Ok(command)
}

/// Runs a client or an installer to its end, for at most two minutes. Returns its output.
pub(crate) fn output(command: &Command) -> Result<String, Missing> {
    let name = |text: &OsStr| text.to_string_lossy().into_owned();
    let what = name(command.get_program());
    let mut bounded = Command::new(find("timeout", "coreutils")?);
    bounded.args(["--signal=KILL", "120"]).arg(command.get_program()).args(command.get_args());
    for (key, value) in command.get_envs() {
        match value {
            Some(value) => bounded.env(key, value),
            None => bounded.env_remove(key),
        };
    }
    bounded.current_dir("/").stdin(Stdio::null());
    let output = bounded.output().map_err(|error| Missing::failed(&what, error))?;
    if output.status.success() {
        return Ok(String::from_utf8_lossy(&output.stdout).into_owned());
    }
    let said = [output.stdout.as_slice(), &output.stderr]
        .map(|bytes| String::from_utf8_lossy(bytes).into_owned())
        .concat();
    Err(Missing::failed(what, format!("{}: {}", output.status, said.trim())))
}
