//! Finds who holds the glibc locks that threads wait for, and what the holder does.
//!
//! glibc stores the thread ID of the owner next to the word on which waiters sleep. Condition variables, on which idle threads of a pool
//! sleep, have no owner, so they are never taken for locks. Locks of Rust's standard library store no owner either, but their word and the
//! call of their waiters differ from those of all other waits: the lock is known, but not its holder.

use std::collections::{BTreeMap, HashMap};
use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;

use super::super::sheet::Sheet;
use super::holder::{self, Work};

/// Max number of locks that are looked at in one sample: those with the most waiters.
const LOOKS_MAX: usize = 3;
/// Min number of threads at a lock without an owner. A parked thread of Rust waits alone, at a word that looks like a read-write lock.
const BARE_WAITERS_MIN: u64 = 2;
/// Max number of locks that get separate names in one run. Further ones share one name.
const NAMES_MAX: usize = 32;
/// Max number of processes whose memory files stay open.
const MEMORY_FILES_MAX: usize = 64;
/// Max number of characters of the name of a file in the name of a lock.
const FILE_CHARACTERS_MAX: usize = 64;
/// Max bytes of `/proc/PID/maps` that are searched.
const MAPS_BYTES_MAX: u64 = 4 << 20;

/// Kinds of glibc locks that a call of `futex` fits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LockCall {
    Mutex,
    /// A read-write lock, or a mutex with a timeout.
    Any,
    /// A mutex of Rust's standard library, or a mutex of glibc with a timeout.
    Bare,
    /// A read-write lock of Rust's standard library.
    BareRwlock,
}

impl LockCall {
    /// Reads the operation and the expected value of a call. `None` if no lock waits so, as for a condition variable.
    pub(crate) fn of(operation: u64, expected: u64) -> Option<Self> {
        const COMMAND: u64 = 0x7f;
        const CLOCK_REALTIME: u64 = 0x100;
        const HAS_WAITERS: u32 = 0x8000_0000;
        let expected = expected as u32;
        match (operation & COMMAND, expected) {
            // A lock that inherits priorities.
            (6 | 13, _) => Some(Self::Mutex),
            (0, 2) => Some(Self::Mutex),
            (9, 2 | 3) if operation & CLOCK_REALTIME != 0 => Some(Self::Any),
            (9, 2) => Some(Self::Bare),
            (9, word) if bare_rwlock_holder(word).is_some() => Some(Self::BareRwlock),
            (0 | 9, word) if word & HAS_WAITERS != 0 => Some(Self::Mutex),
            _ => None,
        }
    }

    /// Kinds of locks that a wait with a timeout fits. Locks of Rust's standard library have none, and its condition variables may have
    /// any value.
    pub(crate) fn with_timeout(self) -> Option<Self> {
        match self {
            Self::Mutex | Self::Any => Some(self),
            Self::Bare => Some(Self::Mutex),
            Self::BareRwlock => None,
        }
    }
}

/// Reads a word as a read-write lock of Rust's standard library with waiting readers. The lower 30 bits count readers, and are all set for
/// a writer. Readers also wait while others read, if a writer waits. `None` if the word is not such a lock.
fn bare_rwlock_holder(word: u32) -> Option<Holder> {
    const WRITER: u32 = (1 << 30) - 1;
    const READERS_WAIT: u32 = 1 << 30;
    const WRITERS_WAIT: u32 = 1 << 31;
    const READERS_MAX: u32 = 1 << 16;
    match (word & WRITER, word & READERS_WAIT != 0, word & WRITERS_WAIT != 0) {
        (WRITER, true, _) => Some(Holder::Somebody),
        (1..READERS_MAX, true, true) => Some(Holder::Readers),
        _ => None,
    }
}

/// Threads that wait at one address, which may be a lock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct FutexWaiters {
    pub(crate) process: u32,
    /// Index of the group of the process.
    pub(crate) group: usize,
    pub(crate) address: u64,
    pub(crate) call: LockCall,
    pub(crate) waiters: u64,
}

/// Holder of a lock, as its memory shows it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Holder {
    /// Thread that owns a mutex.
    Owner(u32),
    /// Thread that holds a read-write lock for writing.
    Writer(u32),
    /// Threads that hold a read-write lock for reading. The lock does not record which.
    Readers,
    /// Thread that holds a lock that does not record its owner. For a read-write lock, it holds the lock for writing.
    Somebody,
}

/// Number of 32-bit words that are read around the address of a futex, and the index of the futex among them.
const WORDS: usize = 8;
const FUTEX_INDEX: usize = 3;

/// Locks of the system that were seen with a holder.
#[derive(Debug, Default)]
pub(crate) struct Locks {
    memories: HashMap<u32, File>,
    /// Name by process and address.
    names: HashMap<(u32, u64), String>,
    /// Whether the memory of a process could not be read for lack of a permission.
    pub(crate) is_hidden: bool,
}

/// Looks at the locks of one keeper's processes.
#[derive(Clone, Debug, Default)]
pub(crate) struct LockTally(BTreeMap<String, LockLooks>);

#[derive(Clone, Debug, Default)]
struct LockLooks {
    /// Waiting threads, summed over the looks that found a holder.
    waiters: u64,
    looks: u32,
    works: BTreeMap<Work, u32>,
}

impl Locks {
    /// Looks at the locks with the most waiters, and adds those with a holder to the tally of their group.
    pub(crate) fn look(&mut self, mut wanted: Vec<FutexWaiters>, tallies: &mut [&mut LockTally]) {
        wanted.sort_unstable_by_key(|wanted| (std::cmp::Reverse(wanted.waiters), wanted.address));
        for wanted in wanted.into_iter().take(LOOKS_MAX) {
            if let Some((holder, work)) = self.holder(&wanted) {
                let is_mutex = matches!(holder, Holder::Owner(_)) || wanted.call == LockCall::Bare;
                let kind = if is_mutex { "mutex" } else { "rwlock" };
                let name = self.name(&wanted, kind);
                if let Some(tally) = tallies.get_mut(wanted.group) {
                    tally.add(name, wanted.waiters, work);
                }
            }
        }
    }

    /// Returns the holder of a lock, and its work. `None` if the word is not a lock, or was released meanwhile.
    fn holder(&mut self, wanted: &FutexWaiters) -> Option<(Holder, Work)> {
        let words = match self.words(wanted.process, wanted.address) {
            Ok(words) => words,
            Err(error) => {
                self.is_hidden |= error.kind() == io::ErrorKind::PermissionDenied;
                self.memories.remove(&wanted.process);
                return None;
            }
        };
        let holder = Holder::of(&words, wanted.call)?;
        let is_bare = holder == Holder::Somebody || wanted.call == LockCall::BareRwlock;
        if is_bare && wanted.waiters < BARE_WAITERS_MIN {
            return None;
        }
        let work = match holder {
            Holder::Owner(thread) | Holder::Writer(thread) => holder::current_work(wanted.process, thread)?,
            Holder::Readers => Work::Call("readers"),
            Holder::Somebody => Work::Call("unknown"),
        };
        Some((holder, work))
    }

    fn words(&mut self, process: u32, address: u64) -> io::Result<[u32; WORDS]> {
        if self.memories.len() >= MEMORY_FILES_MAX && !self.memories.contains_key(&process) {
            self.memories.clear();
        }
        let memory = match self.memories.entry(process) {
            std::collections::hash_map::Entry::Occupied(open) => open.into_mut(),
            std::collections::hash_map::Entry::Vacant(free) => {
                free.insert(File::open(format!("/proc/{process}/mem"))?)
            }
        };
        let mut bytes = [0; WORDS * 4];
        let before = FUTEX_INDEX * 4;
        let from = address.checked_sub(before as u64).ok_or(io::ErrorKind::InvalidInput)?;
        // A mutex may be at the beginning of a mapping.
        if memory.read_exact_at(&mut bytes, from).is_err() {
            bytes = [0; WORDS * 4];
            memory.read_exact_at(&mut bytes[before..], address)?;
        }
        let mut words = [0; WORDS];
        for (word, bytes) in words.iter_mut().zip(bytes.as_chunks::<4>().0) {
            *word = u32::from_ne_bytes(*bytes);
        }
        Ok(words)
    }

    fn name(&mut self, wanted: &FutexWaiters, kind: &str) -> String {
        let key = (wanted.process, wanted.address);
        if let Some(name) = self.names.get(&key) {
            return name.clone();
        }
        if self.names.len() >= NAMES_MAX {
            return format!("{kind} (others)");
        }
        let name = format!("{kind} {}", name_address(&maps(wanted.process), wanted.address));
        self.names.insert(key, name.clone());
        name
    }
}

impl Holder {
    /// Reads the words around a futex as a lock of glibc on a 64-bit machine, or of Rust's standard library. `None` if it is not a lock, or
    /// not held.
    fn of(words: &[u32; WORDS], call: LockCall) -> Option<Self> {
        let bare = match call {
            LockCall::Bare if words[FUTEX_INDEX] == 2 => Some(Self::Somebody),
            LockCall::BareRwlock => bare_rwlock_holder(words[FUTEX_INDEX]),
            _ => None,
        };
        Self::mutex_holder(words)
            .or_else(|| (call == LockCall::Any).then(|| Self::rwlock_holder(words)).flatten())
            .or(bare)
    }

    /// `pthread_mutex_t`: `{lock, count, owner, nusers, kind}`. A waiter's futex is `lock`.
    fn mutex_holder(words: &[u32; WORDS]) -> Option<Self> {
        const KINDS: u32 = 0x3ff;
        const ROBUST_OR_INHERITS: u32 = 16 | 32;
        let [_, _, _, lock, _, owner, users, kind] = *words;
        let is_held = match kind & ROBUST_OR_INHERITS {
            0 => lock == 2,
            _ => lock & 0x8000_0000 != 0 && lock & 0x3fff_ffff == owner,
        };
        (is_held && kind & !KINDS == 0 && owner != 0 && users != 0).then_some(Self::Owner(owner))
    }

    /// `pthread_rwlock_t`: `{readers, writers, wrphase_futex, writers_futex, pad, pad, cur_writer}`. Waiters sleep at either futex.
    fn rwlock_holder(words: &[u32; WORDS]) -> Option<Self> {
        const WRITING: u32 = 1 | 2;
        const READERS_SHIFT: u32 = 3;
        const IS_WAITED_FOR: u32 = 2;
        let futex = words[FUTEX_INDEX];
        if futex & IS_WAITED_FOR == 0 || futex > 3 {
            return None;
        }
        let at = |base: usize| {
            let (readers, writers) = (words[base], words[base + 1]);
            let (pads, writer) = ([words[base + 4], words[base + 5]], words[base + 6]);
            let is_possible = pads == [0; 2] && writers < 1 << 16 && readers >> READERS_SHIFT < 1 << 16;
            match readers & WRITING {
                WRITING if is_possible && writer != 0 => Some(Self::Writer(writer)),
                phase if is_possible && phase & 1 == 0 && writer == 0 => {
                    (readers >> READERS_SHIFT > 0).then_some(Self::Readers)
                }
                _ => None,
            }
        };
        [FUTEX_INDEX - 2, FUTEX_INDEX - 3].into_iter().find_map(at)
    }
}

impl LockTally {
    fn add(&mut self, name: String, waiters: u64, work: Work) {
        let looks = self.0.entry(name).or_default();
        looks.waiters = looks.waiters.saturating_add(waiters);
        looks.looks += 1;
        *looks.works.entry(work).or_default() += 1;
    }

    /// Writes the looks of one second. `peer` returns the remote address of a socket's connection if the system opened it.
    pub(crate) fn write(
        &self,
        subject: &str,
        samples: u32,
        peer: impl Fn(u64) -> Option<String>,
        sheet: &mut Sheet,
    ) {
        for (name, looks) in &self.0 {
            sheet.add(subject, "lock_waiters", name, looks.waiters as f64 / f64::from(samples.max(1)));
            sheet.add(subject, "lock_looks", name, f64::from(looks.looks));
            let mut works: BTreeMap<String, u32> = BTreeMap::new();
            for (work, count) in &looks.works {
                *works.entry(work.label(&peer)).or_default() += count;
            }
            for (work, count) in works {
                sheet.add(subject, "lock_holder_looks", &format!("{work} {name}"), f64::from(count));
            }
        }
    }
}

fn maps(process: u32) -> String {
    use std::io::Read;
    let mut text = Vec::new();
    if let Ok(file) = File::open(format!("/proc/{process}/maps")) {
        let _ = file.take(MAPS_BYTES_MAX).read_to_end(&mut text);
    }
    String::from_utf8_lossy(&text).into_owned()
}

/// Names an address by the file that is mapped there, as `server+0x4060`, the address that `nm` shows; otherwise by its number.
fn name_address(maps: &str, address: u64) -> String {
    let number = format!("0x{address:x}");
    let mut bases: HashMap<&str, u64> = HashMap::new();
    let mut last: Option<(u64, &str)> = None;
    for line in maps.lines() {
        let mut fields = line.splitn(6, ' ');
        let range = fields.next().and_then(|range| range.split_once('-'));
        let range = range.map(|(from, to)| [from, to].map(|end| u64::from_str_radix(end, 16)));
        let Some([Ok(from), Ok(to)]) = range else { continue };
        let path = fields.nth(4).map_or("", str::trim);
        // Variables without an initial value follow the file in memory that has no name.
        let path = match (path, last) {
            ("", Some((end, file))) if end == from => file,
            (path, _) => path,
        };
        let base = *bases.entry(path).or_insert(from);
        if (from..to).contains(&address) {
            let file = path.strip_prefix('/').map(|path| path.rsplit('/').next().unwrap_or(path));
            let short = |file: &str| file.chars().take(FILE_CHARACTERS_MAX).collect::<String>();
            return file.map_or(number, |file| format!("{}+0x{:x}", short(file), address - base));
        }
        last = path.starts_with('/').then_some((to, path));
    }
    number
}

#[cfg(test)]
mod tests {
    use super::*;

    const OWNER: u32 = 4711;

    fn mutex(lock: u32, owner: u32, kind: u32) -> [u32; WORDS] {
        [7, 7, 7, lock, 0, owner, 1, kind]
    }

    #[test]
    fn held_mutex_has_an_owner() {
        let of = |words| Holder::of(&words, LockCall::Mutex);
        assert_eq!(of(mutex(2, OWNER, 0)), Some(Holder::Owner(OWNER)));
        assert_eq!(of(mutex(2, OWNER, 3)), Some(Holder::Owner(OWNER)), "an adaptive mutex");
        assert_eq!(of(mutex(0x8000_0000 | OWNER, OWNER, 16)), Some(Holder::Owner(OWNER)), "a robust mutex");
        for (lock, owner, kind) in
            [(1, OWNER, 0), (0, 0, 0), (2, 0, 0), (2, OWNER, 0x400), (2, OWNER, 16), (0x8000_0001, OWNER, 32)]
        {
            assert_eq!(of(mutex(lock, owner, kind)), None, "{lock:x} {owner} {kind}");
        }
    }

    #[test]
    fn held_rwlock_has_a_writer_or_readers() {
        let of = |words| Holder::of(&words, LockCall::Any);
        // Futex of readers, then futex of writers.
        assert_eq!(of([0, 7, 0, 3, 0, 0, 0, OWNER]), Some(Holder::Writer(OWNER)));
        assert_eq!(of([3, 1, 0, 3, 0, 0, OWNER, 0]), Some(Holder::Writer(OWNER)));
        assert_eq!(of([0, 2 | (2 << 3), 0, 2, 0, 0, 0, 0]), Some(Holder::Readers));
        assert_eq!(of([0; WORDS]), None);
        assert_eq!(of([0, 2, 0, 2, 0, 0, 0, 0]), None, "no reader");
        assert_eq!(Holder::of(&[0, 7, 0, 3, 0, 0, 0, OWNER], LockCall::Mutex), None);
    }

    #[test]
    fn rust_lock_has_a_holder() {
        let of = |word, call| Holder::of(&[9, 9, 9, word, 9, 9, 9, 0xffff_ffff], call);
        assert_eq!(of(2, LockCall::Bare), Some(Holder::Somebody));
        assert_eq!(of(1, LockCall::Bare), None, "released meanwhile, and taken without a wait");
        assert_eq!(of(2, LockCall::Mutex), None, "glibc has an owner");
        for word in [0x7fff_ffff, 0xffff_ffff] {
            assert_eq!(of(word, LockCall::BareRwlock), Some(Holder::Somebody), "{word:x}");
        }
        assert_eq!(
            of(0xc000_0003, LockCall::BareRwlock),
            Some(Holder::Readers),
            "a writer waits for three readers"
        );
        assert_eq!(of(0x4000_0003, LockCall::BareRwlock), None, "readers do not wait for readers");
        assert_eq!(Holder::of(&mutex(2, OWNER, 0), LockCall::Bare), Some(Holder::Owner(OWNER)));
    }

    #[test]
    fn parked_thread_of_rust_waits_for_no_lock() {
        let word = std::sync::atomic::AtomicU32::new(u32::MAX);
        let at_word = |waiters| FutexWaiters {
            process: std::process::id(),
            group: 0,
            address: word.as_ptr() as u64,
            call: LockCall::BareRwlock,
            waiters,
        };
        let mut locks = Locks::default();
        assert_eq!(locks.holder(&at_word(1)), None);
        assert_eq!(locks.holder(&at_word(2)), Some((Holder::Somebody, Work::Call("unknown"))));
    }

    #[test]
    fn condition_variable_next_to_a_held_mutex_has_no_owner() {
        // `{g_size, g1_orig_size, wrefs, g_signals[0], g_signals[1]}`, then the mutex.
        let around = [4, 0, 16, 8, 0, 0, 2, 0, OWNER, 1, 0, 0];
        for futex in [4, 5] {
            let mut words = [0; WORDS];
            words.iter_mut().zip(&around[futex - FUTEX_INDEX..]).for_each(|(word, of)| *word = *of);
            for call in [LockCall::Mutex, LockCall::Any] {
                assert_eq!(Holder::of(&words, call), None, "{futex} {call:?}");
            }
        }
    }

    #[test]
    fn only_calls_of_locks_are_looked_at() {
        assert_eq!(LockCall::of(0x80, 2), Some(LockCall::Mutex));
        assert_eq!(LockCall::of(0x189, 3), Some(LockCall::Any));
        assert_eq!(LockCall::of(0x89, 2), Some(LockCall::Bare));
        assert_eq!(LockCall::of(0x89, 0x7fff_ffff), Some(LockCall::BareRwlock));
        assert_eq!(LockCall::of(0x89, 0xc000_0003), Some(LockCall::BareRwlock));
        assert_eq!(LockCall::Bare.with_timeout(), Some(LockCall::Mutex), "a mutex of glibc");
        assert_eq!(LockCall::BareRwlock.with_timeout(), None);
        assert_eq!(LockCall::of(0x86, 0), Some(LockCall::Mutex));
        assert_eq!(LockCall::of(0x80, 0x8000_1267), Some(LockCall::Mutex));
        for (operation, expected) in
            [(0x189, 0), (0x189, 4), (0x80, 0), (0x80, 1), (0x109, 4711), (0x89, 3), (0x81, 2)]
        {
            assert_eq!(LockCall::of(operation, expected), None, "{operation:x} {expected}");
        }
    }

    #[test]
    fn lock_is_named_by_file_and_offset() {
        let maps = "55a0-55a4 r--p 00000000 08:01 77   /srv/my app\n\
                    55a4-55a6 rw-p 00003000 08:01 77   /srv/my app\n\
                    55a6-55b0 rw-p 00000000 00:00 0 \n\
                    66a0-66b0 rw-p 00000000 00:00 0    [heap]\n\
                    7000-7010 rw-p 00000000 00:00 0\n";
        assert_eq!(name_address(maps, 0x55a5), "my app+0x5");
        assert_eq!(name_address(maps, 0x55a8), "my app+0x8", "variables without an initial value");
        for address in [0x66a4, 0x7004, 0x9999] {
            assert_eq!(name_address(maps, address), format!("0x{address:x}"));
        }
        assert_eq!(name_address("nonsense\n\n- x\n", 1), "0x1");
    }

    #[test]
    fn looks_are_written_by_lock_and_work() {
        let mut tally = LockTally::default();
        let mut add = |waiters, work| tally.add("mutex 0x10".to_owned(), waiters, work);
        add(4, Work::Running);
        add(3, Work::Call("fdatasync"));
        add(4, Work::Reply(7));
        add(4, Work::Reply(8));
        let mut sheet = Sheet::default();
        tally.write("app", 5, |inode| (inode == 7).then(|| "127.0.0.1:5432".to_owned()), &mut sheet);
        let written: Vec<_> =
            sheet.readings.iter().map(|one| (one.metric, one.label.as_str(), one.value)).collect();
        let expected = [
            ("lock_waiters", "mutex 0x10", 3.0),
            ("lock_looks", "mutex 0x10", 4.0),
            ("lock_holder_looks", "fdatasync mutex 0x10", 1.0),
            ("lock_holder_looks", "running mutex 0x10", 1.0),
            ("lock_holder_looks", "socket_read mutex 0x10", 1.0),
            ("lock_holder_looks", "socket_read@127.0.0.1:5432 mutex 0x10", 1.0),
        ];
        assert_eq!(written, expected);
    }
}
