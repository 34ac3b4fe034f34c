//! Reads the first line of a command's output, such as its version.

use std::ffi::OsString;

use crate::kept_process::KeeperOptions;
use crate::marker::Marker;
use crate::{Command, commands, in_words};

const CHARACTERS_MAX: usize = 200;

/// Returns the first nonempty line that a command writes, cut to 200 characters. `None` if the command fails or writes nothing.
///
/// Calls `cancel` every few milliseconds.
pub fn first_line(command: &Command, keeper: &[OsString], cancel: &dyn Fn() -> bool) -> Option<String> {
    first_line_or_reason(command, keeper, cancel).ok()
}

/// Like [`first_line`], but the error states why there is no line.
pub fn first_line_or_reason(
    command: &Command,
    keeper: &[OsString],
    cancel: &dyn Fn() -> bool,
) -> Result<String, String> {
    let setting = KeeperOptions {
        keeper: keeper.to_vec(),
        cores: Vec::new(),
        marker: Marker::new(),
        groups: Vec::new(),
        namespace: None,
        disk: None,
    };
    let shown = || in_words::command(command);
    let output = commands::run(&setting, command, command.within, cancel);
    let output = output.map_err(|fault| format!("the command `{}` {}", shown(), fault.what))?.end();
    let text = String::from_utf8_lossy(&output.text);
    let line = text.lines().map(str::trim).find(|line| !line.is_empty());
    let line = line.ok_or_else(|| format!("the command `{}` printed nothing", shown()))?;
    Ok(line.chars().take(CHARACTERS_MAX).collect())
}
