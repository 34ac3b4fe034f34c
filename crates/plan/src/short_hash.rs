//! Short form of a hash, in which plans, recordings, and programs are recorded.

use ring::digest::Context;

/// First 16 hex digits of a hash.
pub fn short_hash(hash: Context) -> String {
    hash.finish().as_ref().iter().take(8).map(|byte| format!("{byte:02x}")).collect()
}
