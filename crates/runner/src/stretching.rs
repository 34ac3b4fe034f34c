//! Stretches the password of a load (PBKDF2) once for all its connections, within the timeout for opening a connection.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use wire::sql::{Login, Mechanism, Stretch, Stretcher, Stretching};

/// Number of rounds between two checks of the clock.
const ROUNDS_AT_A_TIME: u32 = 10_000;
/// Ratio of estimated to available time above which stretching is aborted at once. Large, because the first rounds may have waited for a
/// core.
const GIVE_UP_RATIO: f64 = 20.0;
/// Maximum number of stored results. A server has one salt per user, and a load may use several servers.
const KEPT_MAX: usize = 16;

/// Cache of stretched passwords.
struct Stretched {
    kept: Mutex<StretchedPasswords>,
    time_max: Duration,
}

/// Mechanism, salt, and number of rounds.
type Kind = (Mechanism, Vec<u8>, u32);

#[derive(Default)]
struct StretchedPasswords {
    list: Vec<(Kind, [u8; 32])>,
    /// Total time, so that a server with a new salt for each connection costs no more than one with many rounds.
    spent: Duration,
}

/// Log-in with a password that is stretched once for all sessions. `time_max` limits the total time.
pub(crate) fn shared(login: &Login, time_max: Duration) -> Arc<Login> {
    Arc::new(Login { stretcher: Some(stretcher(time_max)), ..login.clone() })
}

/// Stretches each password once for all sessions. `time_max` limits the total time.
pub(crate) fn stretcher(time_max: Duration) -> Stretcher {
    Stretcher(Arc::new(Stretched { kept: Mutex::default(), time_max }))
}

impl Stretch for Stretched {
    fn stretched(&self, mechanism: Mechanism, password: &str, salt: &[u8], rounds: u32) -> Option<[u8; 32]> {
        // The lock is held while stretching: a second caller waits, because it needs this result too.
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        let kind = (mechanism, salt.to_vec(), rounds);
        if let Some((_, stretched)) = kept.list.iter().find(|(known, _)| *known == kind) {
            return Some(*stretched);
        }
        let begun = Instant::now();
        let mut stretching = Stretching::begin(mechanism, password, salt, rounds);
        let left = self.time_max.saturating_sub(kept.spent);
        let stretched = (1u32..).find_map(|turn| match stretching.resume(ROUNDS_AT_A_TIME) {
            Some(stretched) => Some(Some(stretched)),
            None if is_hopeless(begun.elapsed(), left, turn, rounds) => Some(None),
            None => None,
        });
        let stretched = stretched.flatten().filter(|_| !left.is_zero());
        kept.spent += begun.elapsed();
        let stretched = stretched?;
        if kept.list.len() < KEPT_MAX {
            kept.list.push((kind, stretched));
        }
        Some(stretched)
    }
}

/// Whether the time is used up, or the rounds so far show that it will not suffice.
fn is_hopeless(elapsed: Duration, left: Duration, turns: u32, rounds: u32) -> bool {
    let share_done = f64::from(turns) * f64::from(ROUNDS_AT_A_TIME) / f64::from(rounds);
    let whole_s = elapsed.as_secs_f64() / share_done;
    elapsed > left || whole_s > GIVE_UP_RATIO * left.as_secs_f64()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stretched_password_is_cached() {
        let stretched = Stretched { kept: Mutex::default(), time_max: Duration::from_secs(60) };
        let first = stretched.stretched(Mechanism::Sha256, "pencil", b"salt", 25_000);
        assert_eq!(first, Stretching::begin(Mechanism::Sha256, "pencil", b"salt", 25_000).resume(25_000));
        let spent = stretched.kept.lock().unwrap().spent;
        assert_eq!(stretched.stretched(Mechanism::Sha256, "pencil", b"salt", 25_000), first);
        assert_eq!(stretched.kept.lock().unwrap().spent, spent, "it was computed again");
        assert_ne!(stretched.stretched(Mechanism::Sha256, "pencil", b"pepper", 25_000), first);
    }

    #[test]
    fn stretching_stops_at_its_time_limit() {
        let Stretcher(first) = stretcher(Duration::from_millis(50));
        assert_eq!(first.stretched(Mechanism::Sha256, "pencil", b"salt", u32::MAX), None);
        let Stretcher(stretcher) = stretcher(Duration::ZERO);
        assert_eq!(
            stretcher.stretched(Mechanism::Sha256, "pencil", b"other", 4096),
            None,
            "the time is spent"
        );
    }

    #[test]
    fn hopeless_above_time_limit_or_estimate() {
        let second = Duration::from_secs(1);
        assert!(is_hopeless(second / 100, second, 1, u32::MAX));
        assert!(!is_hopeless(second / 100, second, 1, 600_000));
        assert!(is_hopeless(2 * second, second, 59, 600_000));
    }
}
