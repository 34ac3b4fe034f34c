//! Reads the first line of a command's output, such as its version.

use std::ffi::OsString;

use crate::kept_process::Setting;
use crate::marker::Marker;
use crate::{Command, commands};

const CHARACTERS_MAX: usize = 200;

/// Returns the first nonempty line that a command writes, cut to 200 characters. `None` if the command fails or writes nothing.
///
/// Calls `cancel` every few milliseconds.
pub fn first_line(command: &Command, keeper: &[OsString], cancel: &dyn Fn() -> bool) -> Option<String> {
    let setting = Setting {
        keeper: keeper.to_vec(),
        cores: Vec::new(),
        marker: Marker::new(),
        groups: Vec::new(),
        namespace: None,
        disk: None,
    };
    let output = commands::run(&setting, command, command.within, cancel).ok()?.end();
    let text = String::from_utf8_lossy(&output.text);
    let line = text.lines().map(str::trim).find(|line| !line.is_empty())?;
    Some(line.chars().take(CHARACTERS_MAX).collect())
}
