//! User ladder: throughput by number of users in an experiment, from a quarter to four times the users of the load.

use evidence::{Change, Intervention};
use stats::median;
use stats::usl::{self, Usl};

use crate::words::decimal;

/// Numbers of users as fractions of the load's users; the first suitable ones are used. Fractions after the fifth
/// replace those that are not whole numbers, or too large.
const USER_FRACTIONS: [(u32, u32); 9] =
    [(1, 4), (1, 2), (3, 2), (3, 1), (4, 1), (6, 1), (8, 1), (1, 8), (3, 4)];
/// Max number of rungs. With the load itself and twice its users, this is one point more than the scalability law
/// needs.
const RUNGS_MAX: usize = 5;
/// Number of users above which at most twice the users of the load are tried, because a machine limits open files and
/// ports.
const USERS_MAX: u32 = 2_000;
/// Number of blocks in which each number of users is tried.
const TRIES: usize = 2;
/// Max standard deviation of log ratios between points and law. Above it, the points do not follow the law.
const MISFIT_MAX: f64 = 0.05;
/// Max absolute log ratio between a single point and the law.
const RESIDUAL_MAX: f64 = 0.1;
/// Min throughput per user at the fewest users, as a share of the law's throughput of a single user. Below it, the
/// single user is an extrapolation.
const ALONE_MIN: f64 = 0.5;
/// Elasticity between the most users and half of them, below which throughput no longer grows.
const FLAT_MAX_ELASTICITY: f64 = 0.2;

/// Share of the law's peak throughput that counts as saturated.
const SATURATED_MIN_SHARE: f64 = 0.95;

/// Throughput by number of users.
#[derive(Clone, Debug, PartialEq)]
pub struct Ladder {
    /// Rungs, fewest users first; at least two.
    pub rungs: Vec<Rung>,
    /// Scalability law; `None` if it does not fit.
    pub law: Option<Usl>,
    /// Number of users at which throughput stops growing; `None` if it was not reached.
    pub saturated_at: Option<SaturatedAt>,
}

/// Throughput of one number of users.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Rung {
    /// Number of users.
    pub users: u32,
    /// Throughput per second: the median of the runs, each relative to the controls of its block.
    pub per_s: f64,
    /// Number of runs.
    pub runs: usize,
}

impl Rung {
    /// Returns the throughput per user and second.
    pub fn per_user_per_s(&self) -> f64 {
        self.per_s / f64::from(self.users.max(1))
    }
}

/// Number of users at which throughput saturates.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SaturatedAt {
    /// Fewest users that get nearly all of the law's peak throughput. Without a law: peak throughput ÷ throughput per
    /// user at the fewest users, the number at which no user would wait for another.
    pub users: f64,
    /// Whether the number is an upper bound, because even the fewest users that were tried get nearly all of the peak
    /// throughput.
    pub is_at_most: bool,
}

/// Returns the numbers of users that an experiment tries in addition to the load's number and twice that number. None
/// is below the number of generator threads.
pub fn rungs_of(users: u32, threads: u32) -> Vec<u32> {
    let mut rungs: Vec<u32> = Vec::new();
    for (by, over) in USER_FRACTIONS {
        let Some(rung) = users.checked_mul(by).map(|users| users / over) else { continue };
        let is_known = rung == users || rung == users.saturating_mul(2) || rungs.contains(&rung);
        if rungs.len() < RUNGS_MAX
            && !is_known
            && rung >= threads.max(1)
            && (rung <= USERS_MAX || by <= 2 * over)
        {
            rungs.push(rung);
        }
    }
    rungs
}

/// Returns the rungs of one block of `blocks`. Each rung is tried twice, half of the blocks after the first time.
pub fn rungs_in_block(rungs: &[u32], block: u32, blocks: u32) -> impl Iterator<Item = u32> {
    let times = rungs.len() * TRIES;
    let is_of = move |place: &usize| place * blocks as usize / times == block as usize;
    (0..times).filter(is_of).map(|place| rungs[place % rungs.len()])
}

impl Ladder {
    /// Builds the ladder from the runs of each block with their throughputs; `None` if no other numbers of users were
    /// tried. `seed` is for the fit of the law.
    pub(crate) fn of<'a>(
        blocks: impl Iterator<Item = &'a Vec<(Intervention, Option<f64>)>>,
        seed: u64,
    ) -> Option<Self> {
        let mut from = None;
        let (mut controls, mut others) = (Vec::new(), Vec::new());
        for runs in blocks {
            let of_controls: Vec<f64> =
                runs.iter().filter(|(of, _)| is_control(of)).filter_map(|(_, per_s)| *per_s).collect();
            let count = of_controls.len();
            let Some(control) = median(of_controls).filter(|per_s| *per_s > 0.0) else { continue };
            controls.push((control, count));
            for (of, per_s) in runs {
                if let Intervention::Users { from: of_load, .. } = of {
                    from = Some(*of_load);
                }
                if let (Some(users), Some(per_s)) = (users_of(of), per_s) {
                    others.push((users, per_s / control));
                }
            }
        }
        let base = median(controls.iter().map(|(per_s, _)| *per_s))?;
        let mut rungs =
            vec![Rung { users: from?, per_s: base, runs: controls.iter().map(|(_, count)| count).sum() }];
        others.sort_by_key(|(users, _)| *users);
        for of_users in others.chunk_by(|(one, _), (other, _)| one == other) {
            let ratio = median(of_users.iter().map(|(_, ratio)| *ratio)).unwrap_or_default();
            rungs.push(Rung { users: of_users[0].0, per_s: ratio * base, runs: of_users.len() });
        }
        rungs.retain(|rung| rung.per_s > 0.0);
        rungs.sort_by_key(|rung| rung.users);
        (rungs.len() >= 2).then(|| Self::from_rungs(rungs, seed))
    }

    fn from_rungs(rungs: Vec<Rung>, seed: u64) -> Self {
        let points: Vec<(f64, f64)> = rungs.iter().map(|rung| (f64::from(rung.users), rung.per_s)).collect();
        let law = usl::fit(&points, seed).filter(|law| fits(law, &points));
        let saturated_at = saturated_at(&points, law.as_ref());
        Self { rungs, law, saturated_at }
    }
}

fn is_control(of: &Intervention) -> bool {
    matches!(of, Intervention::Control { .. } | Intervention::ControlAgain)
}

/// Returns the number of users of a run that changes only that number.
fn users_of(of: &Intervention) -> Option<u32> {
    match of {
        Intervention::Users { users, .. } => Some(*users),
        Intervention::Changed(changed) => match changed.change {
            Change::Users { users } => Some(users),
            _ => None,
        },
        _ => None,
    }
}

/// Returns whether every point is near the law, and the fewest users are close enough to a single one.
fn fits(law: &Usl, points: &[(f64, f64)]) -> bool {
    let apart = points.iter().map(|(users, per_s)| (per_s / law.per_s(*users)).ln());
    let squares: f64 = apart.clone().map(|apart| apart * apart).sum();
    // The three coefficients of the law use up three degrees of freedom.
    let freedom = points.len().saturating_sub(3).max(1) as f64;
    let farthest = apart.map(f64::abs).fold(0.0, f64::max);
    let of_alone = points.first().map_or(0.0, |(users, per_s)| per_s / users / law.lambda);
    (squares / freedom).sqrt() <= MISFIT_MAX && farthest <= RESIDUAL_MAX && of_alone >= ALONE_MIN
}

/// Returns the number of users at which the law nears its peak; without a law, the number at which users who never wait
/// would reach the peak throughput. `None` if throughput still grows at the most users.
fn saturated_at(points: &[(f64, f64)], law: Option<&Usl>) -> Option<SaturatedAt> {
    let (fewest, last) = (points.first()?, points.last()?);
    let half = points.iter().rfind(|(users, _)| *users <= last.0 / 2.0)?;
    if (last.1 / half.1).ln() / (last.0 / half.0).ln() >= FLAT_MAX_ELASTICITY {
        return None;
    }
    let highest = points.iter().map(|(_, per_s)| *per_s).fold(0.0, f64::max);
    let users = match law {
        Some(law) => {
            let all = || (1..=last.0 as u32).map(f64::from);
            let most = all().map(|users| law.per_s(users)).fold(0.0, f64::max);
            all().find(|users| law.per_s(*users) >= SATURATED_MIN_SHARE * most)?
        }
        None => highest / (fewest.1 / fewest.0),
    };
    // Runs vary by this much without a cause.
    Some(SaturatedAt { users, is_at_most: users <= fewest.0 * (1.0 + RESIDUAL_MAX) })
}

impl SaturatedAt {
    /// Describes the number: `about 4 users`, or `4 users or fewer`.
    pub fn words(&self) -> String {
        let users = decimal(self.users.round().max(1.0), 0);
        if self.is_at_most { format!("{users} users or fewer") } else { format!("about {users} users") }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn from_rungs(points: impl Iterator<Item = (u32, f64)>) -> Ladder {
        Ladder::from_rungs(points.map(|(users, per_s)| Rung { users, per_s, runs: 2 }).collect(), 1)
    }

    const USERS: [u32; 7] = [4, 8, 16, 24, 32, 48, 64];

    #[test]
    fn rungs_fit_the_users_and_threads_of_the_load() {
        assert_eq!(rungs_of(16, 1), [4, 8, 24, 48, 64]);
        assert_eq!(rungs_of(1, 1), [3, 4, 6, 8]);
        assert_eq!(rungs_of(2, 2), [3, 6, 8, 12, 16], "no fewer users than threads");
        assert_eq!(rungs_of(3, 1), [1, 4, 9, 12, 18]);
        assert_eq!(rungs_of(10_000, 1), [2_500, 5_000, 15_000, 1_250, 7_500], "twice as many are enough");
        assert_eq!(rungs_of(u32::MAX, 1).len(), 3, "no number overflows");
    }

    #[test]
    fn each_rung_is_in_two_of_eight_blocks() {
        let rungs = [4, 8, 24, 48, 64];
        let blocks: Vec<Vec<u32>> = (0..8).map(|block| rungs_in_block(&rungs, block, 8).collect()).collect();
        assert!(blocks.iter().all(|rungs| (1..=2).contains(&rungs.len())), "{blocks:?}");
        for rung in rungs {
            assert_eq!(blocks.iter().flatten().filter(|of| **of == rung).count(), 2, "{blocks:?}");
        }
        assert_eq!(rungs_in_block(&[], 0, 8).count(), 0);
    }

    #[test]
    fn finds_the_law_of_points_that_follow_it() {
        let law = |users: u32| {
            let users = f64::from(users);
            1_000.0 * users / (1.0 + 0.02 * (users - 1.0) + 0.001 * users * (users - 1.0))
        };
        let ladder = from_rungs(USERS.iter().map(|users| (*users, law(*users))));
        let fitted = ladder.law.expect("it fits");
        assert!((fitted.sigma - 0.02).abs() < 1e-4 && (fitted.kappa - 0.001).abs() < 1e-5, "{fitted:?}");
        // Throughput peaks at 31 users with 12252/s; 22 users get 95 % of the peak.
        assert_eq!(ladder.saturated_at.map(|at| at.users), Some(22.0), "64 users get less than 32");
    }

    #[test]
    fn pool_has_no_law_and_saturates_at_its_size() {
        let ladder = from_rungs(USERS.iter().map(|users| (*users, 10.0 * f64::from((*users).min(12)))));
        assert_eq!(ladder.law, None, "a corner is on no such curve");
        let at = ladder.saturated_at.expect("it is flat from there on");
        assert!((at.users - 12.0).abs() < 0.1 && !at.is_at_most, "{at:?}");
        assert_eq!(at.words(), "about 12 users");
    }

    #[test]
    fn load_saturated_at_the_fewest_users_has_no_law() {
        let ladder = from_rungs(USERS.iter().map(|users| (*users, 200.0)));
        assert_eq!(ladder.law, None, "that all is serial work is a guess");
        assert_eq!(ladder.saturated_at.map(|at| at.words()), Some("4 users or fewer".to_owned()));
    }

    #[test]
    fn linear_growth_is_not_saturated() {
        let ladder = from_rungs(USERS.iter().map(|users| (*users, 20.0 * f64::from(*users))));
        let law = ladder.law.expect("a line");
        assert!(law.sigma < 1e-6 && law.peak.is_none(), "{law:?}");
        assert_eq!(ladder.saturated_at, None);
    }
}
