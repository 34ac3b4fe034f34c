//! The best of many, many times.

use load::chance::Chance;
use stats::{Seen, Tournament, TournamentFindings, TournamentRules, TournamentStep, Verdict};

use super::{seeds, shuffled};

/// More blocks than these no tournament may take.
const BLOCKS_MAX: u32 = 10_000;

/// What every tournament is about.
#[derive(Clone, Copy, Debug)]
pub struct TournamentTrial {
    /// What is laid down.
    pub rules: TournamentRules,
    /// The setting that is truly the best; `None` where all are equal.
    pub best: Option<usize>,
}

/// How often what was found.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tournaments {
    /// Tournaments that came to an end.
    pub ended: u32,
    /// The best was named, or, where all are equal, no setting was said to be better than all others.
    pub right: u32,
    /// The best left on the way.
    pub lost: u32,
    /// The one that was named was confirmed as better than its rival.
    pub confirmed: u32,
    /// It ended without a choice between several.
    pub tied: u32,
    /// Runs, over all tournaments.
    pub runs: u32,
}

/// Plays so many tournaments. `systems` makes the runs of one from its seed: of a setting in a block.
pub fn tournaments<Run: FnMut(usize, u32) -> Seen>(
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

fn play(rules: TournamentRules, seed: u64, mut run: impl FnMut(usize, u32) -> Seen) -> (Tournament, u32) {
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
