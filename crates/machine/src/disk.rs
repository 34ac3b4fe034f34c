//! Disk trials: writes, reads, and syncs a file, through the page cache, past it, and at random offsets.
//!
//! The file is unlinked (`O_TMPFILE`, or removed immediately if that is not supported), so it never outlives the trials.

use std::fmt;
use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;

use rustix::fs::{OFlags, fcntl_getfl, fcntl_setfl, fstatfs, fstatvfs};
use rustix::io::Errno;

use crate::aligned::AlignedBuffer;
use crate::figure::Findings;
use crate::random::Random;
use crate::site::Site;
use crate::stopwatch::{Stopwatch, per_s};

const BLOCK_BYTES: usize = 1 << 20;
const PAGE_BYTES: usize = 4096;
/// Number of bytes that are written first to estimate the speed of the disk.
const SPEED_PROBE_BYTES: u64 = 16 << 20;
/// Approximate duration of a write trial, in slices.
const WRITE_SLICES: f64 = 2.0;
/// Minimum number of samples for a 99th percentile.
const SAMPLES_P99_MIN: usize = 1_000;
/// Duration of an fsync trial in slices, which gives enough samples for a 99th percentile.
const FSYNC_SLICES: u32 = 2;
/// Number of threads that read concurrently at random offsets.
const THREADS: u64 = 32;

/// Known file systems by magic number (statfs(2)).
const FILE_SYSTEMS: &[(u64, &str)] = &[
    (TMPFS, "tmpfs"),
    (0xef53, "ext4"),
    (0x5846_5342, "xfs"),
    (0x9123_683e, "btrfs"),
    (0x794c_7630, "overlayfs"),
    (0x6969, "nfs"),
    (0x2fc1_2fc1, "zfs"),
    (0xf2f5_2010, "f2fs"),
    (0x0102_1997, "9p"),
    (0x6573_5546, "fuse"),
    (0xff53_4d42, "smb"),
];
/// Magic number of tmpfs. Newer kernels allow O_DIRECT there, which then has no meaning.
const TMPFS: u64 = 0x0102_1994;

/// Reason why disk trials are not possible.
#[derive(Debug)]
pub enum DiskError {
    /// The folder is not usable.
    Folder {
        /// The folder.
        dir: PathBuf,
        /// Error of the system.
        error: io::Error,
    },
    /// There is too little free space.
    Space {
        /// The folder.
        dir: PathBuf,
        /// Free space for this user.
        free_bytes: u64,
        /// Space that the trials need.
        needed_bytes: u64,
    },
}

impl fmt::Display for DiskError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Folder { dir, error } => write!(f, "no file can be made in {}: {error}", dir.display()),
            Self::Space { dir, free_bytes, needed_bytes } => write!(
                f,
                "{} has {} MiB free, and the trials of the disk need {} MiB",
                dir.display(),
                free_bytes >> 20,
                needed_bytes >> 20
            ),
        }
    }
}

impl std::error::Error for DiskError {}

/// Checks that disk trials are possible in a folder: a file can be created, and there is twice the space that it needs.
///
/// # Errors
///
/// If disk trials are not possible.
pub fn check(dir: &Path, file_bytes_max: u64) -> Result<(), DiskError> {
    let wrong = |error: io::Error| DiskError::Folder { dir: dir.to_path_buf(), error };
    let file = tempfile::tempfile_in(dir).map_err(wrong)?;
    let room = fstatvfs(&file).map_err(|errno| wrong(errno.into()))?;
    let (free_bytes, needed_bytes) = (room.f_bavail.saturating_mul(room.f_frsize), file_bytes_max * 2);
    if free_bytes < needed_bytes {
        return Err(DiskError::Space { dir: dir.to_path_buf(), free_bytes, needed_bytes });
    }
    Ok(())
}

/// Runs all disk trials.
pub(crate) fn measure(site: &Site<'_>, findings: &mut Findings) {
    let trials = match Trials::begin(site) {
        Ok(trials) => trials,
        Err(error) => {
            let why = format!("no file could be written in {}: {error}", site.dir.display());
            return findings.note("disk_write", Err(why));
        }
    };
    findings.file_system = Some(trials.file_system_name());
    findings.file_bytes = Some(trials.bytes);
    findings.note("disk_write", site.repeat(|| with_message(trials.write())));
    findings.note("disk_read_cached", site.repeat(|| with_message(trials.read(&trials.file))));
    trials.fsync(findings);
    match trials.direct() {
        Ok(direct) => {
            findings.note("disk_read_direct", site.repeat(|| with_message(trials.read(&direct))));
            findings.note("disk_random_1", site.repeat(|| with_message(trials.random(&direct, 1))));
            findings.note("disk_random_32", site.repeat(|| with_message(trials.random(&direct, THREADS))));
        }
        Err(why) => {
            for key in ["disk_read_direct", "disk_random_1", "disk_random_32"] {
                findings.note(key, Err(why.clone()));
            }
        }
    }
}

fn with_message<T>(result: io::Result<T>) -> Result<T, String> {
    result.map_err(|error| error.to_string())
}

/// File under test, and its size.
struct Trials<'a> {
    site: &'a Site<'a>,
    file: File,
    bytes: u64,
    /// Block to write, which is incompressible.
    block: Vec<u8>,
}

impl<'a> Trials<'a> {
    /// Writes the file, with a size that suits the speed of the disk.
    fn begin(site: &'a Site<'a>) -> io::Result<Self> {
        let file = tempfile::tempfile_in(site.dir)?;
        let mut block = vec![0; BLOCK_BYTES];
        Random::new(1).fill(&mut block);
        let mut trials = Self { site, file, bytes: SPEED_PROBE_BYTES, block };
        trials.write()?;
        let per_s = trials.write()? * 1e6;
        let fitting = per_s * site.effort.slice.as_secs_f64() * WRITE_SLICES;
        let most = site.effort.file_bytes_max.max(SPEED_PROBE_BYTES);
        trials.bytes =
            (fitting as u64).clamp(SPEED_PROBE_BYTES, most) / BLOCK_BYTES as u64 * BLOCK_BYTES as u64;
        trials.write()?;
        Ok(trials)
    }

    fn file_system(&self) -> Option<u64> {
        // The kernel's magic numbers have 32 bits; the width of the field depends on the platform.
        fstatfs(&self.file).ok().map(|found| u64::from(found.f_type as u32))
    }

    fn file_system_name(&self) -> String {
        let Some(magic) = self.file_system() else { return "unknown".to_owned() };
        let found = FILE_SYSTEMS.iter().find(|(number, _)| *number == magic);
        found.map_or_else(|| format!("type {magic:#x}"), |(_, name)| (*name).to_owned())
    }

    /// Reopens the file for reads past the page cache, or returns the reason why that is not possible.
    fn direct(&self) -> Result<File, String> {
        let name = self.file_system_name();
        if self.file_system() == Some(TMPFS) {
            return Err(format!("{name} is in memory: there is no disk to read from"));
        }
        // Flags belong to the open file description, so a duplicated descriptor would change the original one.
        let path = format!("/proc/self/fd/{}", std::os::fd::AsRawFd::as_raw_fd(&self.file));
        let reopened = File::open(path).map_err(|error| error.to_string())?;
        let flags = fcntl_getfl(&reopened).map_err(|errno| errno.to_string())?;
        match fcntl_setfl(&reopened, flags | OFlags::DIRECT) {
            Ok(()) => {}
            Err(Errno::INVAL) => return Err(format!("{name} has no reads past the page cache (O_DIRECT)")),
            Err(errno) => return Err(errno.to_string()),
        }
        let mut page = AlignedBuffer::new(PAGE_BYTES);
        match reopened.read_exact_at(page.bytes_mut(), 0) {
            Ok(()) => Ok(reopened),
            Err(error) => {
                Err(format!("{name} has no reads of 4 KiB past the page cache (O_DIRECT): {error}"))
            }
        }
    }

    /// Writes the file once, including the sync. Returns MB/s.
    fn write(&self) -> io::Result<f64> {
        let watch = Stopwatch::start();
        for start in (0..self.bytes).step_by(BLOCK_BYTES) {
            self.file.write_all_at(&self.block, start)?;
        }
        self.file.sync_all()?;
        Ok(self.bytes as f64 / 1e6 / watch.elapsed_s())
    }

    /// Reads the file repeatedly from the beginning. Returns MB/s.
    fn read(&self, file: &File) -> io::Result<f64> {
        let (mut buffer, mut start, mut result) = (AlignedBuffer::new(BLOCK_BYTES), 0, Ok(()));
        let blocks_per_s = per_s(self.site.effort.slice, 1, || {
            if result.is_ok() {
                result = file.read_exact_at(buffer.bytes_mut(), start);
            }
            start = (start + BLOCK_BYTES as u64) % self.bytes;
        });
        result.map(|()| blocks_per_s * BLOCK_BYTES as f64 / 1e6)
    }

    /// Reads pages at random offsets with this many threads. Returns reads per second.
    fn random(&self, file: &File, threads: u64) -> io::Result<f64> {
        let (slice, pages) = (self.site.effort.slice, self.bytes / PAGE_BYTES as u64);
        let (reads, watch) = (AtomicU64::new(0), Stopwatch::start());
        let read = |seed: u64| -> io::Result<()> {
            let (mut page, mut random) = (AlignedBuffer::new(PAGE_BYTES), Random::new(seed));
            while watch.elapsed() < slice {
                file.read_exact_at(page.bytes_mut(), random.below(pages) * PAGE_BYTES as u64)?;
                reads.fetch_add(1, Ordering::Relaxed);
            }
            Ok(())
        };
        thread::scope(|scope| {
            let workers: Vec<_> = (0..threads).map(|number| scope.spawn(move || read(number + 1))).collect();
            workers.into_iter().try_for_each(|worker| {
                worker.join().unwrap_or_else(|_| Err(io::Error::other("a thread that reads ended early")))
            })
        })?;
        Ok(reads.load(Ordering::Relaxed) as f64 / watch.elapsed_s())
    }

    /// Measures percentiles of fsync after each written page.
    fn fsync(&self, findings: &mut Findings) {
        let (mut all, mut p99s) = (Vec::new(), Vec::new());
        let p50s = self.site.repeat(|| {
            let mut times_us = with_message(self.fsync_times_us())?;
            if times_us.len() >= SAMPLES_P99_MIN {
                p99s.push(percentile(&times_us, 0.99));
            }
            let p50 = percentile(&times_us, 0.5);
            all.append(&mut times_us);
            Ok(p50)
        });
        findings.note("disk_fsync_p50", p50s);
        if p99s.len() < self.site.effort.repetitions as usize {
            all.sort_unstable_by(f64::total_cmp);
            p99s = if all.len() >= SAMPLES_P99_MIN { vec![percentile(&all, 0.99)] } else { Vec::new() };
        }
        let too_few = format!("{} calls of fsync are too few: p99 needs {SAMPLES_P99_MIN}", all.len());
        findings.note("disk_fsync_p99", if p99s.is_empty() { Err(too_few) } else { Ok(p99s) });
    }

    /// Measures the durations of fsync in a trial, in microseconds, ascending. At least one.
    fn fsync_times_us(&self) -> io::Result<Vec<f64>> {
        let (whole, mut times_us, mut start) = (Stopwatch::start(), Vec::new(), 0);
        let slice = self.site.effort.slice * FSYNC_SLICES;
        while times_us.is_empty() || whole.elapsed() < slice {
            self.file.write_all_at(&self.block[..PAGE_BYTES], start)?;
            start = (start + PAGE_BYTES as u64) % self.bytes;
            let watch = Stopwatch::start();
            self.file.sync_all()?;
            times_us.push(watch.elapsed_us());
        }
        times_us.sort_unstable_by(f64::total_cmp);
        Ok(times_us)
    }
}

/// Returns the percentile of ascending values by nearest rank. There must be at least one value.
pub(crate) fn percentile(ascending: &[f64], share: f64) -> f64 {
    let place = (ascending.len() as f64 * share).ceil() as usize;
    ascending.get(place.saturating_sub(1)).copied().unwrap_or(f64::NAN)
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::effort::Effort;

    #[test]
    fn percentile_is_a_sample() {
        let values: Vec<f64> = (1..=200).map(f64::from).collect();
        assert_eq!([0.5, 0.99, 1.0].map(|share| percentile(&values, share)), [100.0, 198.0, 200.0]);
        assert_eq!(percentile(&[7.0], 0.5), 7.0);
    }

    #[test]
    fn folder_without_space_is_rejected_with_the_needed_size() {
        let dir = tempfile::tempdir().unwrap();
        check(dir.path(), 1).unwrap();
        let error = check(dir.path(), u64::MAX / 4).unwrap_err();
        assert!(matches!(error, DiskError::Space { .. }), "{error}");
        let error = check(&dir.path().join("missing"), 1).unwrap_err();
        assert!(error.to_string().starts_with("no file can be made in"), "{error}");
    }

    #[test]
    fn leaves_no_file_and_reports_tmpfs_as_missing() {
        let effort =
            Effort { repetitions: 2, slice: Duration::from_millis(5), file_bytes_max: SPEED_PROBE_BYTES };
        let dir = tempfile::tempdir().unwrap();
        let look = |dir: &Path| {
            let site = Site { dir, effort, is_stopped: &|| false };
            let mut findings = Findings::default();
            measure(&site, &mut findings);
            findings
        };
        let findings = look(dir.path());
        for key in ["disk_write", "disk_read_cached", "disk_fsync_p50"] {
            assert_eq!(findings.figure(key).unwrap().samples.len(), 2, "{key}: {:?}", findings.missing);
        }
        let direct = ["disk_read_direct", "disk_random_1", "disk_random_32"];
        for key in direct {
            let is_missing = findings.missing.iter().any(|missing| missing.key == key);
            assert!(is_missing != findings.figure(key).is_some(), "{key}");
        }
        assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 0);
        let in_memory = look(Path::new("/dev/shm"));
        assert_eq!(in_memory.file_system.as_deref(), Some("tmpfs"));
        assert!(in_memory.missing.iter().any(|missing| missing.why.contains("in memory")), "{in_memory:?}");
    }
}
