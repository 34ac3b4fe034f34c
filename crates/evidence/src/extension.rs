//! Extensions: further blocks for a finished study.

use serde::{Deserialize, Serialize};

use crate::study::Study;

/// One extension of a study.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Extension {
    /// Number of blocks in all, including the extension.
    pub blocks: u32,
    /// Number of places planned before the extension.
    pub planned: u32,
}

/// Maximum number of extensions of a study. Each one is judged more strictly than the last, so further ones could not decide
/// anything.
pub const EXTENSIONS_MAX: usize = 8;

impl Study {
    /// Returns the number of blocks: as planned at the start, or by the latest extension.
    pub fn blocks(&self) -> u32 {
        self.extensions.last().map_or(self.new.compare.blocks, |extension| extension.blocks)
    }
}
