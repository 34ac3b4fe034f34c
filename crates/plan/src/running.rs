//! A system that runs already, named by a process or a container.

use std::path::{Path, PathBuf};

use crate::fault::Fault;

/// What was written: `pid` or `container`, and the text of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RunningSpec {
    /// The number of a process, or the path of a file with it.
    Pid(String),
    /// The name or the ID of a container.
    Container(String),
}

/// The processes of a system that Tenbin did not start, and only reads.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RunningAs {
    /// This process, and all below it.
    Pid(u32),
    /// The process whose number is in this file, and all below it.
    PidFile(PathBuf),
    /// The processes of this container of Docker or Podman, and all below them.
    Container(String),
}

const PATH_BYTES_MAX: usize = 4_096;

impl RunningSpec {
    /// The key of a plan, and the flag without its dashes.
    pub(crate) fn key(&self) -> &'static str {
        match self {
            Self::Pid(_) => "pid",
            Self::Container(_) => "container",
        }
    }

    /// What is meant. Relative paths begin at `dir`.
    ///
    /// # Errors
    /// What is wrong, and what to do.
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

    /// The same, as an error of a flag or of a key.
    pub(crate) fn checked(&self, place: String, dir: &Path) -> Result<RunningAs, Fault> {
        self.read(dir).map_err(|(what, help)| Fault::new(place, &what, help))
    }
}

/// Letters, digits, `_`, `.`, and `-`, as container engines demand.
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
    fn numbers_paths_and_containers_are_read() {
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
