//! What stored runs say: whether they count, their figures, whether they held what was asked of them, and how the procedure
//! of a study stands.
//!
//! The crate never knows how a run is made, nor how anything is printed. A figure that both the conductor and reports need is
//! worked out here, and nowhere else.

mod core_time;
mod course;
mod durations;
mod gates;
mod measured;
mod metric;
mod pairing;
pub mod rates;
mod resources;
mod search;
mod seen;
mod setting;
pub mod slo;
mod standing;
mod tournament;
mod versus;
mod window;

pub use core_time::{CoreTime, in_measured_time};
pub use durations::Durations;
pub use gates::Gates;
pub use measured::Measured;
pub use metric::Metric;
pub use pairing::Pairing;
pub use resources::{Core, Resources, Usage};
pub use search::{OfLevel, level, of_level, search, search_by, search_rules, stage_name};
pub use seen::seen;
pub use setting::{Setting, settings};
pub use standing::{Standing, is_invalid, standing};
pub use tournament::{tournament, tournament_rules};
pub use versus::{duel, duel_rules};
pub use window::Window;
