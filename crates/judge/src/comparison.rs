//! Comparisons of configurations: which of them differ, in which direction, and whether the difference matters.
//!
//! [`unpaired`] compares the runs of two studies, which were made at different times. Within a study, [`variants`] gathers the runs of each
//! variant, and [`LoadOfStudy`] ranks the variants under a load and compares them in pairs: by blocks that both were measured in, or as
//! the procedure of the study has found.

mod paired;
mod procedures;
mod ranking;
pub mod unpaired;
mod variant;

pub use paired::{LoadOfStudy, Pair, Pairs};
pub use procedures::{Sliced, sliced, tournament_findings};
pub use ranking::{Ranked, Standings};
pub use variant::{Gone, Medians, Variant, variants};
