//! A study that is finished may be extended by further blocks.

use serde::{Deserialize, Serialize};

use crate::study::Study;

/// Extension of a study.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Extension {
    /// So many blocks in all.
    pub blocks: u32,
    /// So many places were planned before it.
    pub planned: u32,
}

/// Each extension of a study must be judged more strictly than the last, so further ones could decide nothing.
pub const EXTENSIONS_MAX: usize = 8;

impl Study {
    /// How often every variant is measured: as laid down when it began, or when it was last extended.
    pub fn blocks(&self) -> u32 {
        self.extensions.last().map_or(self.new.compare.blocks, |extension| extension.blocks)
    }
}
