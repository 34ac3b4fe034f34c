//! A system that already runs, named by a process or a container.

use std::path::{Path, PathBuf};

use crate::fault::Fault;

/// Value of `pid` or `container`, as it was written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RunningSpec {
    /// Process ID, or the path of a file with the ID.
    Pid(String),
    /// Name or ID of a container.
    Container(String),
}

/// Processes of a system that Tenbin did not start, and only monitors.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RunningAs {
    /// Process and all of its descendants.
    Pid(u32),
    /// Process with the ID in this file, and all of its descendants.
    PidFile(PathBuf),
    /// The processes of this Docker or Podman container, and all of their descendants.
    Container(String),
}

const PATH_BYTES_MAX: usize = 4_096;

impl RunningSpec {
    /// Key of a plan. With two dashes before it, it is the flag.
    pub(crate) fn key(&self) -> &'static str {
        match self {
            Self::Pid(_) => "pid",
            Self::Container(_) => "container",
        }
    }

    /// Resolves the text. Relative paths begin at `dir`.
    ///
    /// # Errors
    ///
    /// Message and help.
    pub(crate) fn read(&self, dir: &Path) -> Result<RunningAs, (String, &'static str)> {
        match self {
            Self::Pid(text) if text.bytes().all(|byte| byte.is_ascii_digit()) => {
                let pid = text.parse().ok().filter(|pid| (1..=i32::MAX as u32).contains(pid));
                let what = || format!("{text:?} is no number of a process");
                pid.map(RunningAs::Pid)
                    .ok_or_else(|| (what(), "write a number such as 1234, or the path of a file with it"))
            }
            Self::Pid(text) if text.contains(['\0', '\n', '\r']) || text.len() > PATH_BYTES_MAX => {
                let what = format!("{:?} is neither a number nor a path", shortened(text));
                Err((what, "write the number of a process, or the path of a file with it"))
            }
            Self::Pid(text) => Ok(RunningAs::PidFile(dir.join(text))),
            Self::Container(text) if !is_container(text) => {
                let what = format!("{:?} is no name of a container", shortened(text));
                Err((what, "write a name or an ID: docker ps, or podman ps"))
            }
            Self::Container(text) => Ok(RunningAs::Container(text.clone())),
        }
    }

    /// Like [`Self::read`], but returns the error with the place of a flag or a key.
    pub(crate) fn checked(&self, place: String, dir: &Path) -> Result<RunningAs, Fault> {
        self.read(dir).map_err(|(what, help)| Fault::new(place, &what, help))
    }
}

/// Whether a text is a valid container name: letters, digits, `_`, `.`, and `-`.
fn is_container(text: &str) -> bool {
    let begins_well = text.starts_with(|first: char| first.is_ascii_alphanumeric());
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"_.-".contains(&byte);
    begins_well && text.len() <= 255 && text.bytes().all(is_plain)
}

fn shortened(text: &str) -> String {
    text.chars().take(40).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_process_ids_paths_and_containers() {
        let read = |spec: RunningSpec| spec.read("/plans".as_ref()).map_err(|(what, _)| what);
        let pid = |text: &str| read(RunningSpec::Pid(text.to_owned()));
        assert_eq!(pid("1234"), Ok(RunningAs::Pid(1234)));
        assert_eq!(pid("run/app.pid"), Ok(RunningAs::PidFile("/plans/run/app.pid".into())));
        assert_eq!(pid("/run/app.pid"), Ok(RunningAs::PidFile("/run/app.pid".into())));
        for wrong in ["", "0", "99999999999", "a\nb", "a\0b"] {
            assert!(pid(wrong).is_err(), "{wrong:?}");
        }
        let container = |text: &str| read(RunningSpec::Container(text.to_owned()));
        assert_eq!(container("shop_db.1"), Ok(RunningAs::Container("shop_db.1".to_owned())));
        for wrong in ["", "../x", "-v", "a b", "a\nb", "$(id)", "\u{1b}[2J"] {
            let what = container(wrong).expect_err(wrong);
            assert!(!what.contains(['\n', '\u{1b}']), "{what:?}");
        }
    }
}
