//! Taking turns: programs started, pinned, timed and ended, and what comes of several rounds.

pub mod aligned;
pub mod child;
pub mod cores;
pub mod figures;
pub mod interrupt;
pub mod spread;
pub mod time_file;
pub mod timed;
pub mod version;
