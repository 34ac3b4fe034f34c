//! Probe for page faults and swapping, from `/proc/vmstat`.

use super::fields::number;
use super::sheet::{Counters, Probe, Sheet};
use super::source::Source;

pub(crate) struct Paging {
    source: Source,
    last: Counters<3>,
}

impl Default for Paging {
    fn default() -> Self {
        Self { source: Source::of_machine("/proc/vmstat"), last: Counters::default() }
    }
}

impl Probe for Paging {
    fn look(&mut self, sheet: &mut Sheet) {
        let counts = self.source.text().and_then(|text| {
            parse(&text).ok_or_else(|| "/proc/vmstat does not count page faults and swapping".to_owned())
        });
        match counts {
            Ok(counts) => {
                for (_, [faults, read, written]) in self.last.grown(vec![(String::new(), counts)]) {
                    sheet.machine("page_faults_major", "", faults as f64);
                    sheet.machine("swapped_in_pages", "", read as f64);
                    sheet.machine("swapped_out_pages", "", written as f64);
                }
            }
            Err(because) => sheet.note_unavailable("page faults and swapping", || because),
        }
    }
}

/// Parses major faults, pages swapped in, and pages swapped out. A kernel without swap does not count the last two.
fn parse(text: &str) -> Option<[u64; 3]> {
    let swapped = |name| number(text, name).unwrap_or(0);
    Some([number(text, "pgmajfault")?, swapped("pswpin"), swapped("pswpout")])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn three_counters_are_parsed() {
        let text = "nr_free_pages 1\npswpin 5\npswpout 6\npgfault 9\npgmajfault 7\npswpin_zero 8\n";
        assert_eq!(parse(text), Some([7, 5, 6]));
        assert_eq!(parse("pgmajfault 7"), Some([7, 0, 0]));
        assert_eq!(parse("pgmajfa"), None);
    }
}
