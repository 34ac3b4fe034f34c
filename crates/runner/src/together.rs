//! Memory for slices: whether this machine can hold both systems of a block at the same time.

use lab::MemoryLeft;
use plan::{Fault, Interleave, NoSlices, Place, Study};

use crate::run_error::RunError;

/// Smallest share of memory that must be available while all systems of a block are up.
const AVAILABLE_MIN_SHARE: f64 = 0.1;
/// Maximum number of pages that the machine may swap out meanwhile. A kernel swaps out a few unused ones anyway.
const SWAPPED_PAGES_MAX: u64 = 256;

/// Resources of this machine for the systems of a block.
pub fn place() -> Place {
    let memory = lab::memory_left();
    Place {
        memory_bytes: memory.map(|memory| memory.total_bytes),
        available_bytes: memory.map(|memory| memory.available_bytes),
        is_one_disk: !lab::is_in_memory(&std::env::temp_dir()),
    }
}

/// Error if a study requests slices and this machine lacks the memory for them.
pub(crate) fn check_memory(study: &Study) -> Option<Fault> {
    let NoSlices { because, help } =
        study.no_slices_at(&place()).filter(|_| study.compare.interleave == Interleave::Slices)?;
    Some(Fault::new("compare: interleave", because, help))
}

/// Checks that memory is left while the systems of the first block are up.
#[derive(Debug, Default)]
pub(crate) struct MemoryWatch {
    /// Number of the first block, and memory before it. `None` in the pair if memory cannot be read.
    first: Option<(u32, Option<MemoryLeft>)>,
}

impl MemoryWatch {
    /// Called before each slice of a block.
    pub(crate) fn begin(&mut self, block: u32) {
        if self.first.is_none() {
            self.first = Some((block, lab::memory_left()));
        }
    }

    /// Called after each slice of a block in which more than one system is up.
    ///
    /// # Errors
    /// Too little memory is left, in the first block.
    pub(crate) fn check(&self, block: u32) -> Result<(), RunError> {
        match self.first.filter(|(first, _)| *first == block) {
            Some((_, Some(before))) => lab::memory_left()
                .and_then(|now| shortage(&before, &now))
                .map_or(Ok(()), |what| Err(RunError::NoMemory(what))),
            _ => Ok(()),
        }
    }
}

/// Evidence that the systems of a block do not fit into memory. `None` if they do.
fn shortage(before: &MemoryLeft, now: &MemoryLeft) -> Option<String> {
    let swapped = now.swapped_out_pages.saturating_sub(before.swapped_out_pages);
    if swapped > SWAPPED_PAGES_MAX {
        return Some(format!("the machine swapped out {swapped} pages since they were started"));
    }
    let share = now.available_bytes as f64 / now.total_bytes as f64;
    (share < AVAILABLE_MIN_SHARE).then(|| {
        let [available, total] = [now.available_bytes, now.total_bytes].map(plan::units::shown::mebibytes);
        format!("of {total} MiB, {available} MiB are available with them up")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const BEFORE: MemoryLeft =
        MemoryLeft { total_bytes: 1 << 30, available_bytes: 1 << 29, swapped_out_pages: 1_000 };

    #[test]
    fn reports_shortage_on_little_memory_or_swapping() {
        assert_eq!(shortage(&BEFORE, &BEFORE), None);
        let little = MemoryLeft { available_bytes: 100 << 20, ..BEFORE };
        assert_eq!(
            shortage(&BEFORE, &little).as_deref(),
            Some("of 1,024.0 MiB, 100.0 MiB are available with them up")
        );
        let enough = MemoryLeft { available_bytes: 103 << 20, ..BEFORE };
        assert_eq!(shortage(&BEFORE, &enough), None);
        let few = MemoryLeft { swapped_out_pages: 1_256, ..BEFORE };
        assert_eq!(shortage(&BEFORE, &few), None);
        let many = MemoryLeft { swapped_out_pages: 1_257, ..BEFORE };
        assert_eq!(
            shortage(&BEFORE, &many).as_deref(),
            Some("the machine swapped out 257 pages since they were started")
        );
    }

    #[test]
    fn memory_shortage_ends_a_study_only_in_the_first_block() {
        let much = MemoryLeft { total_bytes: u64::MAX, available_bytes: 0, swapped_out_pages: 0 };
        assert!(shortage(&much, &much).is_some());
        let mut watch = MemoryWatch::default();
        watch.begin(3);
        watch.begin(4);
        assert_eq!(watch.first.map(|(block, _)| block), Some(3));
        // The machine may have swapped pages since boot, which fails the check in the first block. Other blocks are not checked.
        watch.first = Some((3, Some(MemoryLeft { swapped_out_pages: 0, ..BEFORE })));
        assert!(watch.check(4).is_ok());
    }
}
