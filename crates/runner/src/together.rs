//! Both systems of a block in slices on one machine: what the machine has for them, and whether it was enough.

use lab::MemoryLeft;
use plan::{Fault, Interleave, NoSlices, Place, Study};

use crate::run_error::RunError;

/// Of the memory, what must be available with all systems of a block up.
const AVAILABLE_LEAST: f64 = 0.1;
/// Pages that the machine may swap out meanwhile: a kernel does so with a few that nobody uses.
const SWAPPED_MOST: u64 = 256;

/// What this machine has for the systems of a block.
pub fn place() -> Place {
    let memory = lab::memory_left();
    Place {
        memory_bytes: memory.map(|memory| memory.total_bytes),
        available_bytes: memory.map(|memory| memory.available_bytes),
        is_one_disk: !lab::is_in_memory(&std::env::temp_dir()),
    }
}

/// That slices were asked for which have no place here.
pub(crate) fn no_place(study: &Study) -> Option<Fault> {
    let NoSlices { because, help } =
        study.no_slices_at(&place()).filter(|_| study.compare.interleave == Interleave::Slices)?;
    Some(Fault::new("compare: interleave", because, help))
}

/// Looks whether memory is left while the systems of the first block are up.
#[derive(Debug, Default)]
pub(crate) struct MemoryWatch {
    /// The number of the first block, and what was left before it.
    first: Option<(u32, Option<MemoryLeft>)>,
}

impl MemoryWatch {
    /// Before a slice of a block.
    pub(crate) fn begin(&mut self, block: u32) {
        if self.first.is_none() {
            self.first = Some((block, lab::memory_left()));
        }
    }

    /// After a slice of a block in which more than one system is up.
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

/// What tells that the systems of a block do not fit into memory.
fn shortage(before: &MemoryLeft, now: &MemoryLeft) -> Option<String> {
    let swapped = now.swapped_out_pages.saturating_sub(before.swapped_out_pages);
    if swapped > SWAPPED_MOST {
        return Some(format!("the machine swapped out {swapped} pages since they were started"));
    }
    let share = now.available_bytes as f64 / now.total_bytes as f64;
    (share < AVAILABLE_LEAST).then(|| {
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
    fn a_machine_without_memory_left_or_that_swaps_is_told() {
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
    fn only_the_first_block_ends_a_study() {
        let much = MemoryLeft { total_bytes: u64::MAX, available_bytes: 0, swapped_out_pages: 0 };
        assert!(shortage(&much, &much).is_some());
        let mut watch = MemoryWatch::default();
        watch.begin(3);
        watch.begin(4);
        assert_eq!(watch.first.map(|(block, _)| block), Some(3));
        // Nothing was swapped in that the machine had before, or the counter went back: another block says nothing at all.
        watch.first = Some((3, Some(MemoryLeft { swapped_out_pages: 0, ..BEFORE })));
        assert!(watch.check(4).is_ok());
    }
}
