//! How throughput grows with the users of a load: from a quarter of them to four times as many, in an experiment.

use evidence::{Change, Intervention};
use stats::median;
use stats::usl::{self, Usl};

use crate::words::decimal;

/// Numbers of users, as a share of those of the load: the first that fit. Those after the first five make up for others that are no whole
/// number, or too many.
const SHARES: [(u32, u32); 9] = [(1, 4), (1, 2), (3, 2), (3, 1), (4, 1), (6, 1), (8, 1), (1, 8), (3, 4)];
/// With the load itself and twice its users, one more than the scalability law needs.
const RUNGS_MAX: usize = 5;
/// More users than these are only tried up to twice those of the load: a machine has a limit of open files and of ports.
const USERS_MAX: u32 = 2_000;
/// In how many blocks each number of users is tried.
const TIMES: usize = 2;
/// The law is as good as the points, as a standard deviation of log ratios: between these they lie on no such curve.
const MISFIT_MAX: f64 = 0.05;
/// The same of the point that is the farthest from it.
const FARTHEST_MAX: f64 = 0.1;
/// What the fewest users get of the law's throughput of a user alone, as a share, at least: with less, one user is a guess.
const ALONE_MIN: f64 = 0.5;
/// Below this elasticity between the most users and the half of them, throughput has stopped to grow.
const FLAT: f64 = 0.2;

/// Of the highest throughput by the law.
const NEARLY_ALL: f64 = 0.95;

/// Throughput by users.
#[derive(Clone, Debug, PartialEq)]
pub struct Ladder {
    /// Fewest users first; at least two.
    pub rungs: Vec<Rung>,
    /// The scalability law, if it fits.
    pub law: Option<Usl>,
    /// From how many users on more of them get no more; `None` if that was not reached.
    pub saturated_at: Option<SaturatedAt>,
}

/// What a number of users got.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Rung {
    /// How many users.
    pub users: u32,
    /// Throughput per second, the median of the runs, each in proportion to the controls of its block.
    pub per_s: f64,
    /// In so many runs.
    pub runs: usize,
}

/// The users with which a system gets as much as it ever does.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SaturatedAt {
    /// Those that get nearly all by the law. Without one, the highest throughput ÷ what each of the fewest users gets: with as many, none
    /// would have to wait for another.
    pub users: f64,
    /// Whether it may be fewer: the fewest that were tried get nearly all.
    pub is_at_most: bool,
}

/// The numbers of users that an experiment tries next to those of the load and twice as many. No fewer than the threads of the generator.
pub fn rungs_of(users: u32, threads: u32) -> Vec<u32> {
    let mut rungs: Vec<u32> = Vec::new();
    for (by, over) in SHARES {
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

/// Those of them that a block of so many has: each comes twice, half an experiment apart.
pub fn rungs_in_block(rungs: &[u32], block: u32, blocks: u32) -> impl Iterator<Item = u32> {
    let times = rungs.len() * TIMES;
    let is_of = move |place: &usize| place * blocks as usize / times == block as usize;
    (0..times).filter(is_of).map(|place| rungs[place % rungs.len()])
}

impl Ladder {
    /// Of the runs of each block with their throughputs; `None` of an experiment that tried no other numbers of users. `seed` is that of
    /// the law.
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
        (rungs.len() >= 2).then(|| Self::through(rungs, seed))
    }

    fn through(rungs: Vec<Rung>, seed: u64) -> Self {
        let points: Vec<(f64, f64)> = rungs.iter().map(|rung| (f64::from(rung.users), rung.per_s)).collect();
        let law = usl::fit(&points, seed).filter(|law| fits(law, &points));
        let saturated_at = saturated_at(&points, law.as_ref());
        Self { rungs, law, saturated_at }
    }
}

fn is_control(of: &Intervention) -> bool {
    matches!(of, Intervention::Control { .. } | Intervention::ControlAgain)
}

/// The users of a run that changes nothing else.
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

/// Whether every point is near the law, and the fewest users tell what one alone gets.
fn fits(law: &Usl, points: &[(f64, f64)]) -> bool {
    let apart = points.iter().map(|(users, per_s)| (per_s / law.per_s(*users)).ln());
    let squares: f64 = apart.clone().map(|apart| apart * apart).sum();
    // Three coefficients have taken their part.
    let freedom = points.len().saturating_sub(3).max(1) as f64;
    let farthest = apart.map(f64::abs).fold(0.0, f64::max);
    let of_alone = points.first().map_or(0.0, |(users, per_s)| per_s / users / law.lambda);
    (squares / freedom).sqrt() <= MISFIT_MAX && farthest <= FARTHEST_MAX && of_alone >= ALONE_MIN
}

/// Where the law is near its peak, or the line of users who do not wait for each other meets the highest throughput, if the most users
/// show that it is one.
fn saturated_at(points: &[(f64, f64)], law: Option<&Usl>) -> Option<SaturatedAt> {
    let (fewest, last) = (points.first()?, points.last()?);
    let half = points.iter().rfind(|(users, _)| *users <= last.0 / 2.0)?;
    if (last.1 / half.1).ln() / (last.0 / half.0).ln() >= FLAT {
        return None;
    }
    let highest = points.iter().map(|(_, per_s)| *per_s).fold(0.0, f64::max);
    let users = match law {
        Some(law) => {
            let all = || (1..=last.0 as u32).map(f64::from);
            let most = all().map(|users| law.per_s(users)).fold(0.0, f64::max);
            all().find(|users| law.per_s(*users) >= NEARLY_ALL * most)?
        }
        None => highest / (fewest.1 / fewest.0),
    };
    // Runs differ by this much without a cause.
    Some(SaturatedAt { users, is_at_most: users <= fewest.0 * (1.0 + FARTHEST_MAX) })
}

impl SaturatedAt {
    /// For people: `about 4 users`, or `4 users or fewer`.
    pub fn words(&self) -> String {
        let users = decimal(self.users.round().max(1.0), 0);
        if self.is_at_most { format!("{users} users or fewer") } else { format!("about {users} users") }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn through(points: impl Iterator<Item = (u32, f64)>) -> Ladder {
        Ladder::through(points.map(|(users, per_s)| Rung { users, per_s, runs: 2 }).collect(), 1)
    }

    const USERS: [u32; 7] = [4, 8, 16, 24, 32, 48, 64];

    #[test]
    fn six_or_seven_numbers_of_users_are_tried_with_those_of_the_load() {
        assert_eq!(rungs_of(16, 1), [4, 8, 24, 48, 64]);
        assert_eq!(rungs_of(1, 1), [3, 4, 6, 8]);
        assert_eq!(rungs_of(2, 2), [3, 6, 8, 12, 16], "no fewer users than threads");
        assert_eq!(rungs_of(3, 1), [1, 4, 9, 12, 18]);
        assert_eq!(rungs_of(10_000, 1), [2_500, 5_000, 15_000, 1_250, 7_500], "twice as many are enough");
        assert_eq!(rungs_of(u32::MAX, 1).len(), 3, "no number overflows");
    }

    #[test]
    fn each_comes_twice_in_eight_blocks() {
        let rungs = [4, 8, 24, 48, 64];
        let blocks: Vec<Vec<u32>> = (0..8).map(|block| rungs_in_block(&rungs, block, 8).collect()).collect();
        assert!(blocks.iter().all(|rungs| (1..=2).contains(&rungs.len())), "{blocks:?}");
        for rung in rungs {
            assert_eq!(blocks.iter().flatten().filter(|of| **of == rung).count(), 2, "{blocks:?}");
        }
        assert_eq!(rungs_in_block(&[], 0, 8).count(), 0);
    }

    #[test]
    fn a_law_that_fits_is_found() {
        let law = |users: u32| {
            let users = f64::from(users);
            1_000.0 * users / (1.0 + 0.02 * (users - 1.0) + 0.001 * users * (users - 1.0))
        };
        let ladder = through(USERS.iter().map(|users| (*users, law(*users))));
        let fitted = ladder.law.expect("it fits");
        assert!((fitted.sigma - 0.02).abs() < 1e-4 && (fitted.kappa - 0.001).abs() < 1e-5, "{fitted:?}");
        // 31 users get the most, 12252/s, and 22 users 95 % of that.
        assert_eq!(ladder.saturated_at.map(|at| at.users), Some(22.0), "64 users get less than 32");
    }

    #[test]
    fn a_pool_has_no_law_and_a_size() {
        let ladder = through(USERS.iter().map(|users| (*users, 10.0 * f64::from((*users).min(12)))));
        assert_eq!(ladder.law, None, "a corner is on no such curve");
        let at = ladder.saturated_at.expect("it is flat from there on");
        assert!((at.users - 12.0).abs() < 0.1 && !at.is_at_most, "{at:?}");
        assert_eq!(at.words(), "about 12 users");
    }

    #[test]
    fn what_is_saturated_from_the_fewest_users_on_does_not_tell_what_one_gets() {
        let ladder = through(USERS.iter().map(|users| (*users, 200.0)));
        assert_eq!(ladder.law, None, "that all is serial work is a guess");
        assert_eq!(ladder.saturated_at.map(|at| at.words()), Some("4 users or fewer".to_owned()));
    }

    #[test]
    fn what_grows_with_its_users_is_not_saturated() {
        let ladder = through(USERS.iter().map(|users| (*users, 20.0 * f64::from(*users))));
        let law = ladder.law.expect("a line");
        assert!(law.sigma < 1e-6 && law.peak.is_none(), "{law:?}");
        assert_eq!(ladder.saturated_at, None);
    }
}
