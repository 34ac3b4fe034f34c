//! Probe for the instruments of an instrumented run: lines that runtimes of the system write about themselves, and thread dumps of Java
//! virtual machines.
//!
//! A script in the program appends lines `METRIC TAB LABEL TAB VALUE` to `PID.lines` or `PID-THREAD.lines` in one folder. The system can
//! write anything there, so names of metrics are compared with a list, and lengths and numbers are limited.

use std::collections::{BTreeMap, HashMap};
use std::fs::{self, File};
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use rustix::fs::OFlags;

use super::SYSTEM;
use super::java_dump::{self, JavaDumps};
use super::runtimes::detect_runtime;
use super::sheet::Sheet;
use super::threads::Members;

/// Metrics that a script may write.
const METRICS: [&str; 5] =
    ["runtime_function_s", "runtime_gc_s", "runtime_gil_looks", "runtime_gil_waits", "runtime_gil_wait_s"];
/// Max number of files, and max bytes read from each of them per look.
const FILES_MAX: usize = 256;
const BYTES_MAX: usize = 64 << 10;
/// Max number of values in one look.
const VALUES_MAX: usize = 256;
/// Max number of characters of a label.
const LABEL_CHARACTERS_MAX: usize = 120;
/// Max number of Java virtual machines for thread dumps.
const JVMS_MAX: usize = 4;

/// Values by subject, metric, and label.
type Sums = BTreeMap<(String, &'static str, String), f64>;

#[derive(Debug)]
pub(crate) struct Instruments {
    folder: PathBuf,
    /// Bytes read so far, by file.
    read: HashMap<PathBuf, u64>,
    has_looked: bool,
    dumps: JavaDumps,
}

impl Instruments {
    pub(crate) fn of(folder: Option<PathBuf>) -> Option<Self> {
        let folder = folder?;
        Some(Self { folder, read: HashMap::new(), has_looked: false, dumps: JavaDumps::default() })
    }

    pub(crate) fn look(&mut self, members: &[Members], sheet: &mut Sheet) {
        let mut sums = Sums::new();
        let entries = fs::read_dir(&self.folder).into_iter().flatten().flatten().take(FILES_MAX);
        for entry in entries {
            let path = entry.path();
            if path.extension().is_some_and(|ending| ending == "lines") {
                self.read_lines(&path, members, &mut sums);
            }
        }
        for of in members {
            let jvms = of.pids.iter().filter(|pid| detect_runtime(**pid) == Some("java")).take(JVMS_MAX);
            for dump in jvms.filter_map(|pid| self.dumps.next(*pid)) {
                for (metric, label, value) in java_dump::monitors(&dump) {
                    *sums.entry((of.name.clone(), metric, label)).or_default() += value;
                }
            }
        }
        self.has_looked = true;
        for ((subject, metric, label), value) in sums {
            sheet.add(&subject, metric, &label, value);
        }
    }

    /// Adds the lines that were appended since the previous look. The first look only skips what was written before the load.
    fn read_lines(&mut self, path: &Path, members: &[Members], sums: &mut Sums) {
        let flags = OFlags::NOFOLLOW | OFlags::NONBLOCK;
        let file = File::options().read(true).custom_flags(flags.bits().cast_signed()).open(path);
        let Some(file) = file.ok().filter(|file| file.metadata().is_ok_and(|about| about.is_file())) else {
            return;
        };
        let from = self.read.entry(path.to_owned()).or_default();
        if !self.has_looked {
            *from = file.metadata().map_or(0, |about| about.len());
            return;
        }
        let mut bytes = vec![0; BYTES_MAX];
        let count = file.read_at(&mut bytes, *from).unwrap_or(0);
        let whole = match bytes[..count].iter().rposition(|byte| *byte == b'\n') {
            Some(last) => last + 1,
            // A line of this length is skipped.
            None if count == BYTES_MAX => count,
            None => 0,
        };
        *from = from.saturating_add(whole as u64);
        let subject = subject_of(path, members);
        for (metric, label, value) in String::from_utf8_lossy(&bytes[..whole]).lines().filter_map(parse_line)
        {
            let key = (subject.clone(), metric, label);
            if sums.len() < VALUES_MAX || sums.contains_key(&key) {
                *sums.entry(key).or_default() += value;
            }
        }
    }
}

/// Process of the plan to which a file belongs, by the process ID in its name.
fn subject_of(path: &Path, members: &[Members]) -> String {
    let name = path.file_stem().unwrap_or_default().to_string_lossy();
    let pid = name.split('-').next().and_then(|pid| pid.parse::<u32>().ok());
    let of = pid.and_then(|pid| members.iter().find(|of| of.pids.contains(&pid)));
    match (of, members) {
        (Some(of), _) => of.name.clone(),
        // A PID from a separate PID namespace.
        (None, [only]) => only.name.clone(),
        _ => SYSTEM.to_owned(),
    }
}

fn parse_line(line: &str) -> Option<(&'static str, String, f64)> {
    let mut fields = line.splitn(3, '\t');
    let (metric, label, value) = (fields.next()?, fields.next()?, fields.next()?);
    let metric = METRICS.iter().find(|known| **known == metric)?;
    let value: f64 = value.trim().parse().ok()?;
    let label = label.chars().take(LABEL_CHARACTERS_MAX).collect();
    (value.is_finite() && value >= 0.0).then_some((*metric, label, value))
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;

    fn members() -> Vec<Members> {
        vec![Members { name: "app".into(), pids: vec![7] }, Members { name: "db".into(), pids: vec![8] }]
    }

    fn looked(instruments: &mut Instruments) -> Vec<(String, &'static str, String, f64)> {
        let mut sheet = Sheet::default();
        instruments.look(&members(), &mut sheet);
        sheet.readings.into_iter().map(|one| (one.subject, one.metric, one.label, one.value)).collect()
    }

    #[test]
    fn appended_lines_are_summed_and_unknown_ones_ignored() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("7-0.lines");
        fs::write(&path, "runtime_gc_s\t\t99\n").unwrap();
        let mut instruments = Instruments::of(Some(folder.path().to_owned())).unwrap();
        assert!(looked(&mut instruments).is_empty(), "written before the load");
        let mut file = File::options().append(true).open(&path).unwrap();
        let lines = "runtime_function_s\twork a.js:1\t0.5\nruntime_function_s\twork a.js:1\t0.25\nruntime_gc_s\t\tNaN\n\
                     cpu_user_s\t\t1\nruntime_gc_s\t\t-1\nnonsense\nruntime_gc_s\t\t0.1\nruntime_gc_s\t\t7";
        file.write_all(lines.as_bytes()).unwrap();
        let expected = [
            ("app".to_owned(), "runtime_function_s", "work a.js:1".to_owned(), 0.75),
            ("app".to_owned(), "runtime_gc_s", String::new(), 0.1),
        ];
        assert_eq!(looked(&mut instruments), expected);
        file.write_all(b"\n").unwrap();
        assert_eq!(looked(&mut instruments)[0].3, 7.0, "the line is complete now");
        fs::write(folder.path().join("8.lines"), "runtime_gc_s\t\t1\n").unwrap();
        fs::write(folder.path().join("9.lines"), "runtime_gc_s\t\t2\n").unwrap();
        let subjects: Vec<String> = looked(&mut instruments).into_iter().map(|one| one.0).collect();
        assert_eq!(subjects, ["db", "system"]);
    }

    #[test]
    fn links_and_pipes_are_not_read() {
        let folder = tempfile::tempdir().unwrap();
        let mut instruments = Instruments::of(Some(folder.path().to_owned())).unwrap();
        assert!(looked(&mut instruments).is_empty());
        fs::write(folder.path().join("elsewhere"), "runtime_gc_s\t\t1\n").unwrap();
        std::os::unix::fs::symlink(folder.path().join("elsewhere"), folder.path().join("7.lines")).unwrap();
        let pipe = folder.path().join("8.lines");
        assert!(std::process::Command::new("mkfifo").arg(pipe).status().unwrap().success());
        assert!(looked(&mut instruments).is_empty());
    }
}
