//! Probe for available memory and used swap, from `/proc/meminfo`.

use super::fields::bytes_of_kib;
use super::sheet::{Probe, Sheet};
use super::source::Source;

pub(crate) struct Memory {
    source: Source,
}

impl Default for Memory {
    fn default() -> Self {
        Self { source: Source::of_machine("/proc/meminfo") }
    }
}

impl Probe for Memory {
    fn look(&mut self, sheet: &mut Sheet) {
        match self.source.text() {
            Ok(text) => {
                match bytes_of_kib(&text, "MemAvailable") {
                    Some(bytes) => sheet.machine("memory_available_bytes", "", bytes as f64),
                    None => {
                        sheet.note_unavailable("memory available", || {
                            "/proc/meminfo has no MemAvailable".into()
                        });
                    }
                }
                if let Some(bytes) = swap_used_bytes(&text) {
                    sheet.machine("swap_bytes", "", bytes as f64);
                }
            }
            Err(because) => sheet.note_unavailable("memory of the machine", || because),
        }
    }
}

fn swap_used_bytes(text: &str) -> Option<u64> {
    Some(bytes_of_kib(text, "SwapTotal")?.saturating_sub(bytes_of_kib(text, "SwapFree")?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn used_swap_is_total_minus_free() {
        assert_eq!(swap_used_bytes("SwapTotal:  10 kB\nSwapFree:  4 kB\n"), Some(6144));
        assert_eq!(swap_used_bytes("SwapTotal:  4 kB\nSwapFree:  10 kB\n"), Some(0));
        assert_eq!(swap_used_bytes("SwapTotal:  10 kB\n"), None);
        assert_eq!(swap_used_bytes("SwapTotal:  10 kB\nSwapFr"), None);
    }
}
