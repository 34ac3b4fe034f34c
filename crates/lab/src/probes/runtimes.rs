//! Probe for the language runtimes of a system: which of its processes run Node, Python, Ruby, Java, or a program in Go.

use std::collections::{BTreeMap, HashMap};
use std::fs::{self, File};
use std::os::unix::fs::FileExt;

use super::sheet::Sheet;
use super::threads::Members;

/// Looks after which a process is examined again, because a shell may become another program.
const TRIES_AT: [u32; 5] = [0, 1, 2, 5, 10];
/// Max number of processes that are examined.
const PROCESSES_MAX: usize = 256;
/// Bytes of a program that are searched for the note that Go's linker writes near the beginning.
const HEAD_BYTES: usize = 8 << 10;

/// Prefixes of names of programs, and their runtimes.
const PROGRAMS: [(&str, &str); 5] =
    [("node", "node"), ("python", "python"), ("ruby", "ruby"), ("java", "java"), ("pypy", "pypy")];

#[derive(Debug, Default)]
pub(crate) struct Runtimes {
    /// Looks at a process so far, and its runtime.
    known: HashMap<u32, (u32, Option<&'static str>)>,
}

impl Runtimes {
    /// Writes the number of processes with each runtime.
    pub(crate) fn look(&mut self, members: &[Members], sheet: &mut Sheet) {
        let living: Vec<u32> =
            members.iter().flat_map(|of| of.pids.iter().copied()).take(PROCESSES_MAX).collect();
        self.known.retain(|pid, _| living.contains(pid));
        for of in members {
            let mut counts: BTreeMap<&'static str, u32> = BTreeMap::new();
            for pid in of.pids.iter().filter(|pid| living.contains(pid)) {
                let (looks, runtime) = self.known.entry(*pid).or_default();
                if TRIES_AT.contains(looks) {
                    *runtime = detect_runtime(*pid);
                }
                *looks = looks.saturating_add(1);
                if let Some(runtime) = runtime {
                    *counts.entry(runtime).or_default() += 1;
                }
            }
            for (runtime, count) in counts {
                sheet.add(&of.name, "runtime", runtime, f64::from(count));
            }
        }
    }
}

/// Runtime of a process. `None` if it has none of the known ones, or if its program is hidden.
pub(crate) fn detect_runtime(pid: u32) -> Option<&'static str> {
    let path = format!("/proc/{pid}/exe");
    let program = fs::read_link(&path).ok()?;
    let name = program.file_name()?.to_string_lossy().into_owned();
    let by_name = PROGRAMS.iter().find(|(begins, _)| name.starts_with(begins)).map(|(_, runtime)| *runtime);
    by_name.or_else(|| {
        let mut head = vec![0; HEAD_BYTES];
        let count = File::open(&path).ok()?.read_at(&mut head, 0).ok()?;
        is_go_program(&head[..count]).then_some("go")
    })
}

/// Whether the start of a program has a note of Go's linker: its name has four bytes, and its type is 4.
fn is_go_program(head: &[u8]) -> bool {
    head.windows(16).any(|note| note[..4] == [4, 0, 0, 0] && note[8..] == *b"\x04\0\0\0Go\0\0")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn note_of_go_is_found() {
        let mut head = b"\x7fELF".to_vec();
        head.extend([0; 60]);
        assert!(!is_go_program(&head));
        head.extend(b"\x04\0\0\0\x53\0\0\0\x04\0\0\0Go\0\0");
        assert!(is_go_program(&head));
    }

    #[test]
    fn this_process_has_no_runtime() {
        assert_eq!(detect_runtime(std::process::id()), None);
        assert_eq!(detect_runtime(u32::MAX), None);
    }
}
