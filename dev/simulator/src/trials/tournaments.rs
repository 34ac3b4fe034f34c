//! Trials of best-of searches.

use load::chance::Chance;
use stats::{RunResult, Tournament, TournamentFindings, TournamentRules, TournamentStep, Verdict};

use super::{seeds, shuffled};

/// Upper bound of the number of blocks of a search.
const BLOCKS_MAX: u32 = 10_000;

/// Setup of the searches.
#[derive(Clone, Copy, Debug)]
pub struct TournamentTrial {
    /// Rules of each search.
    pub rules: TournamentRules,
    /// Variant that is truly best. `None` if all are equal.
    pub best: Option<usize>,
}

/// Number of searches by result.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tournaments {
    /// Searches that ended.
    pub ended: u32,
    /// Searches that named the best or, if all are equal, did not report a single winner.
    pub right: u32,
    /// Searches that eliminated the best.
    pub lost: u32,
    /// Searches whose winner was confirmed as better than the runner-up.
    pub confirmed: u32,
    /// Searches that ended in a tie.
    pub tied: u32,
    /// Number of runs over all searches.
    pub runs: u32,
}

/// Runs `count` searches. `systems` returns the run function of a search for its seed, which takes the variant and the block.
pub fn tournaments<Run: FnMut(usize, u32) -> RunResult>(
    trial: &TournamentTrial,
    seed: u64,
    count: u32,
    mut systems: impl FnMut(u64) -> Run,
) -> Tournaments {
    let mut found = Tournaments::default();
    for seed in seeds(seed, count) {
        let (tournament, runs) = play(trial.rules, seed, systems(seed));
        found.runs += runs;
        if tournament.next() == TournamentStep::Over {
            found.note(&tournament.finding(), trial.best);
        }
    }
    found
}

fn play(
    rules: TournamentRules,
    seed: u64,
    mut run: impl FnMut(usize, u32) -> RunResult,
) -> (Tournament, u32) {
    let mut tournament = Tournament::new(rules);
    let mut chance = Chance::stream(seed, u64::MAX);
    let mut runs = 0;
    for _ in 0..BLOCKS_MAX {
        let TournamentStep::Block { block, of, .. } = tournament.next() else { break };
        runs += of.len() as u32;
        let seen: Vec<_> =
            shuffled(of, &mut chance).into_iter().map(|setting| (setting, run(setting, block))).collect();
        tournament.note(&seen);
    }
    (tournament, runs)
}

impl Tournaments {
    fn note(&mut self, found: &TournamentFindings, best: Option<usize>) {
        self.ended += 1;
        let is_confirmed =
            found.confirmed.is_some_and(|confirmed| matches!(confirmed.verdict, Verdict::Differs { .. }));
        self.confirmed += u32::from(is_confirmed);
        self.tied += u32::from(found.tied.len() > 1);
        self.right += u32::from(match best {
            Some(best) => found.best == Some(best),
            None => !is_confirmed,
        });
        self.lost += u32::from(found.left.iter().any(|left| Some(left.setting) == best));
    }
}
