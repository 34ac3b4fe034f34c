//! Names of runs: short, sortable, easy to type.

use std::fmt;
use std::hash::{BuildHasher, Hasher, RandomState};
use std::str::FromStr;

use units::Utc;

/// Name of a run: its start to the second, in UTC, and four random characters: `20261121-142501-k3f9`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RunId(String);

/// Digits and letters, without those that look alike.
const ALPHABET: &[u8; 32] = b"0123456789abcdefghjkmnpqrstvwxyz";
const LENGTH: usize = "20261121-142501-k3f9".len();

impl RunId {
    /// Draws a name for a run that starts now. In rare cases it is taken already.
    pub fn generate(started_at_unix_ms: i64) -> Self {
        let mut id = Utc::from_unix_ms(started_at_unix_ms).to_name();
        id.push('-');
        // The standard library seeds its hashers from the system's random numbers.
        let random = RandomState::new().build_hasher().finish();
        id.extend((0..4).map(|place| char::from(ALPHABET[(random >> (place * 5) & 31) as usize])));
        Self(id)
    }

    /// Returns the name as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for RunId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// The text is not a complete name of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the name of a run looks like 20261121-142501-k3f9")]
pub struct InvalidRunId;

impl FromStr for RunId {
    type Err = InvalidRunId;

    fn from_str(text: &str) -> Result<Self, InvalidRunId> {
        let fits = |(place, byte): (usize, u8)| match place {
            8 | 15 => byte == b'-',
            16.. => ALPHABET.contains(&byte),
            _ => byte.is_ascii_digit(),
        };
        let is_id = text.len() == LENGTH && text.bytes().enumerate().all(fits);
        is_id.then(|| Self(text.to_owned())).ok_or(InvalidRunId)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn drawn_name_starts_with_its_second_and_parses() {
        let id = RunId::generate(1_795_271_101_042);
        assert!(id.as_str().starts_with("20261121-142501-"), "{id}");
        assert_eq!(id.as_str().parse(), Ok(id));
    }

    #[test]
    fn run_ids_sort_by_time_and_rarely_collide() {
        assert!(RunId::generate(1_000) < RunId::generate(2_000));
        let drawn: std::collections::BTreeSet<_> = (0..100).map(|_| RunId::generate(0)).collect();
        assert!(drawn.len() > 90);
    }

    #[test]
    fn rejects_malformed_run_ids() {
        for text in ["", "last", "20261121-142501-k3f", "20261121-142501-k3fl", "20261121_142501-k3f9", "é"]
        {
            assert_eq!(text.parse::<RunId>(), Err(InvalidRunId), "{text}");
        }
    }
}
