//! Compares configurations: which of them differ, in which direction, and whether the difference reaches the smallest effect.
//!
//! [`unpaired`] compares the runs of two studies, which were made at different times. Within a study, [`variants`] gathers the runs
//! of each variant. [`StudyLoad`] then ranks the variants under a load and compares them in pairs. A pair is compared over the
//! blocks of both variants, or by the findings of the study's procedure.

mod axis;
mod cores;
mod paired;
mod procedures;
mod ranking;
pub mod unpaired;
mod variant;
mod way;

pub use axis::axis_of_runs;
pub use cores::busy_cores;
pub use paired::{Pair, Pairs, SLICED_MAX, StudyLoad, first_look_blocks};
pub use procedures::{SliceFindings, error_rate, sliced, tournament_findings};
pub use ranking::{Ranked, Standings};
pub use variant::{Medians, Unavailability, Variant, variants};
pub use way::{unpaired_way_in_words, way_in_words};
