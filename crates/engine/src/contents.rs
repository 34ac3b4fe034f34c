//! Content of the replies to a step: sizes, codings, rows, and cache hits, in a few counters.

use record::Sizes;
use wire::{CacheUse, Coding, Content};

/// Content of the replies to one step, which every worker counts for itself.
#[derive(Clone, Debug, Default)]
pub struct Contents {
    /// Number of replies in the measured time.
    pub replies: u64,
    /// Sizes of the content as sent, in bytes. Empty if the protocol does not report them.
    pub sizes: Sizes,
    /// Sizes of sampled encoded bodies after decoding, in bytes. The warm-up counts, because only first replies are sampled.
    pub decoded: Sizes,
    /// Rows of each transaction. Empty for protocols without rows.
    pub rows: Sizes,
    /// Number of replies with each coding, in the order of [`Coding::ALL`].
    pub codings: [u64; Coding::ALL.len()],
    /// Number of replies from a cache.
    pub cache_hits: u64,
    /// Number of replies that a cache passed on from the server.
    pub cache_misses: u64,
}

impl Contents {
    /// Counts a reply.
    #[inline]
    pub(crate) fn note(&mut self, content: &Content, is_measured: bool) {
        if let Some(decoded_bytes) = content.decoded_bytes {
            self.decoded.record(decoded_bytes);
        }
        if !is_measured {
            return;
        }
        self.replies += 1;
        if let Some(size_bytes) = content.size_bytes {
            self.sizes.record(size_bytes);
        }
        if let Some(rows) = content.rows {
            self.rows.record(rows);
        }
        self.codings[content.coding as usize] += 1;
        match content.cache {
            CacheUse::Unknown => {}
            CacheUse::Hit => self.cache_hits += 1,
            CacheUse::Miss => self.cache_misses += 1,
        }
    }

    /// Adds the replies of another worker.
    pub fn merge(&mut self, more: &Self) {
        self.replies += more.replies;
        self.sizes.merge(&more.sizes);
        self.decoded.merge(&more.decoded);
        self.rows.merge(&more.rows);
        self.codings.iter_mut().zip(more.codings).for_each(|(count, more)| *count += more);
        self.cache_hits += more.cache_hits;
        self.cache_misses += more.cache_misses;
    }
}
