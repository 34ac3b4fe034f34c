//! Simulated best-of searches: with a known best, and with inconsistent results.

use proptest::prelude::*;
use stats::{
    EliminationReason, RunResult, Tournament, TournamentEnd, TournamentRules, TournamentStage,
    TournamentStep, Verdict,
};

use crate::support::Chance;

fn rules(settings: usize) -> TournamentRules {
    TournamentRules {
        settings,
        matters: 0.03,
        higher_is_better: true,
        blocks_max: 24,
        incumbent: None,
        has_confirmation: false,
    }
}

fn figure(value: f64) -> RunResult {
    RunResult::exactly(value, 0, 10_000)
}

/// Runs a best-of search on simulated variants. Also returns the number of runs.
fn drive(rules: TournamentRules, mut run: impl FnMut(usize) -> RunResult) -> (Tournament, u32) {
    let (mut tournament, mut runs) = (Tournament::new(rules), 0);
    while let TournamentStep::Block { of, .. } = tournament.next() {
        runs += of.len() as u32;
        let seen: Vec<(usize, RunResult)> = of.iter().map(|setting| (*setting, run(*setting))).collect();
        tournament.note(&seen);
    }
    (tournament, runs)
}

/// Simulates variants with these mean figures and 2 % noise.
fn spread<'a>(figures: &'a [f64], chance: &'a mut Chance) -> impl FnMut(usize) -> RunResult + 'a {
    move |setting| figure(figures[setting] * (1.0 + 0.02 * chance.normal()))
}

/// Runs best-of searches in which setting 3 leads by `lead`. Returns the number that found it, the number in which it was the best or
/// tied with it, and the mean number of tied variants.
fn score(tournaments: u32, settings: usize, lead: f64) -> (u32, u32, f64) {
    let mut chance = Chance::seeded(20_260_102);
    let mut figures = vec![100.0; settings];
    figures[3] *= 1.0 + lead;
    let (mut right, mut within, mut tied) = (0, 0, 0);
    for _ in 0..tournaments {
        let found = drive(rules(settings), spread(&figures, &mut chance)).0.finding();
        right += u32::from(found.best == Some(3));
        within += u32::from(found.tied.contains(&3));
        tied += found.tied.len();
    }
    (right, within, tied as f64 / f64::from(tournaments))
}

#[test]
fn best_of_eight_is_found_if_it_leads_by_more_than_the_threshold() {
    let (right, _, tied) = score(200, 8, 0.05);
    assert!(right >= 190 && tied < 1.5, "{right} of 200, {tied} tied");
}

/// Draws the figure of a variant in a block of slices: a start varies by `between`, and each of its four slices by `within`, as shares.
fn start(value: f64, [between, within]: [f64; 2], chance: &mut Chance) -> f64 {
    let slices: f64 = (0..4).map(|_| within * chance.normal()).sum::<f64>() / 4.0;
    value * (between * chance.normal() + slices).exp()
}

/// Standard deviations between starts, and between slices of a start.
const LEVELS: [[f64; 2]; 4] = [[0.0, 0.03], [0.005, 0.02], [0.01, 0.01], [0.02, 0.0]];

#[test]
fn best_in_slices_is_found_for_any_split_of_the_variance() {
    for (number, levels) in LEVELS.into_iter().enumerate() {
        let mut chance = Chance::seeded(40 + number as u64);
        let (mut right, mut within) = (0, 0);
        for _ in 0..200 {
            let leads = [100.0, 97.0, 105.0, 90.0, 99.0];
            let found = drive(rules(5), |of| figure(start(leads[of], levels, &mut chance))).0.finding();
            right += u32::from(found.best == Some(2) && found.tied == [2]);
            let equal = drive(rules(5), |_| figure(start(100.0, levels, &mut chance))).0.finding();
            within += u32::from(equal.tied.contains(&2));
        }
        assert!(right >= 190, "{levels:?}: {right} of 200 found");
        assert!(within >= 190, "{levels:?}: {within} of 200 kept the equal one");
    }
}

/// Checks forecasts of searches in progress: their number, and how many remaining runs were below and above them.
fn forecasts(tournaments: u64, figures: &[f64], levels: [f64; 2], after: u32) -> [u32; 3] {
    let mut chance = Chance::seeded(7);
    let [mut all, mut below, mut above] = [0; 3];
    for seed in 0..tournaments {
        let (mut tournament, mut forecast) = (Tournament::new(rules(figures.len())), None);
        let (mut blocks, mut runs) = (0, 0);
        while let TournamentStep::Block { of, .. } = tournament.next() {
            if blocks == after {
                forecast = tournament.forecast(seed);
                runs = 0;
            }
            runs += of.len() as u32;
            let seen = |of: &usize| (*of, figure(start(figures[*of], levels, &mut chance)));
            let seen: Vec<(usize, RunResult)> = of.iter().map(seen).collect();
            tournament.note(&seen);
            blocks += 1;
        }
        let Some(forecast) = forecast else { continue };
        let [low, _, high] = forecast.runs;
        all += 1;
        below += u32::from(runs < low);
        above += u32::from(runs > high);
    }
    [all, below, above]
}

#[test]
fn eight_of_ten_searches_end_within_their_forecast() {
    let figures = [100.0, 99.0, 101.5, 90.0, 97.0];
    for (levels, after) in
        [([0.01, 0.02], 2), ([0.01, 0.02], 4), ([0.03, 0.02], 2), ([0.03, 0.02], 4), ([0.03, 0.02], 12)]
    {
        let [all, below, above] = forecasts(200, &figures, levels, after);
        assert!(all >= 100, "{levels:?} after {after}: {all}");
        assert!((below + above) * 10 <= all * 3, "{levels:?} after {after}: {below} and {above} of {all}");
    }
}

#[test]
fn skewed_noise_and_block_effects_do_not_mislead() {
    let (mut chance, mut right) = (Chance::seeded(4), 0);
    for _ in 0..100 {
        let mut tournament = Tournament::new(rules(8));
        while let TournamentStep::Block { of, .. } = tournament.next() {
            let weather = 1.0 + 0.2 * chance.exponential();
            let run = |chance: &mut Chance, setting: usize| {
                let value = if setting == 3 { 105.0 } else { 100.0 };
                (setting, figure(weather * value * (0.02 * chance.exponential()).exp()))
            };
            tournament.note(&of.iter().map(|setting| run(&mut chance, *setting)).collect::<Vec<_>>());
        }
        right += u32::from(tournament.finding().best == Some(3));
    }
    assert!(right >= 95, "{right} of 100");
}

#[test]
fn equal_settings_are_tied() {
    let (_, within, tied) = score(100, 8, 0.0);
    assert!(within >= 95 && tied > 7.0, "{within} of 100, {tied} tied");
}

#[test]
fn best_of_many_survives_halving() {
    let (right, ..) = score(30, 40, 0.04);
    assert!(right >= 28, "{right} of 30");
}

#[test]
fn distant_variants_are_eliminated_after_eight_blocks() {
    let mut chance = Chance::seeded(1);
    let lower_is_better = TournamentRules { higher_is_better: false, ..rules(4) };
    let (tournament, runs) = drive(lower_is_better, spread(&[100.0, 90.0, 120.0, 130.0], &mut chance));
    let found = tournament.finding();
    assert_eq!(
        (found.best, found.tied, found.end, found.blocks),
        (Some(1), vec![1], Some(TournamentEnd::Decided), 8)
    );
    assert_eq!((runs, found.left.len()), (32, 3));
    for left in found.left {
        assert_eq!((left.after_blocks, left.why), (8, EliminationReason::Behind));
        assert!(left.ratio.is_some_and(|ratio| ratio > 1.08), "{left:?}");
    }
}

#[test]
fn best_is_confirmed_against_the_incumbent_on_fresh_blocks() {
    let confirmed = TournamentRules { incumbent: Some(2), has_confirmation: true, ..rules(4) };
    let mut chance = Chance::seeded(3);
    let (mut tournament, mut stages) = (Tournament::new(confirmed), Vec::new());
    let figures = [100.0, 120.0, 105.0, 110.0];
    while let TournamentStep::Block { block, stage, of } = tournament.next() {
        assert_eq!(block as usize, stages.len() + 1);
        stages.push((stage, of.clone()));
        assert_eq!(tournament.finding().end, None);
        let mut run = spread(&figures, &mut chance);
        tournament.note(&of.iter().map(|setting| (*setting, run(*setting))).collect::<Vec<_>>());
    }
    assert_eq!(stages[7], (TournamentStage::Search, vec![0, 1, 2, 3]));
    assert_eq!(stages[8], (TournamentStage::Confirm, vec![1, 2]));
    assert_eq!(stages.len(), 16);
    let found = tournament.finding();
    let comparison = found.confirmed.unwrap();
    assert_eq!((found.best, found.rival, found.blocks, comparison.blocks), (Some(1), Some(2), 8, 8));
    assert!(comparison.estimate.is_some_and(|ratio| (1.10..1.19).contains(&ratio)), "{comparison:?}");
    assert!(matches!(comparison.verdict, Verdict::Differs { below_matters: false }));
}

#[test]
fn best_incumbent_is_confirmed_against_the_next_best() {
    let confirmed = TournamentRules { incumbent: Some(1), has_confirmation: true, ..rules(4) };
    let mut chance = Chance::seeded(3);
    let (tournament, _) = drive(confirmed, spread(&[100.0, 120.0, 105.0, 110.0], &mut chance));
    assert_eq!(tournament.finding().rival, Some(3));
}

#[test]
fn unmeasurable_variant_is_eliminated_and_the_others_continue() {
    let mut chance = Chance::seeded(3);
    let mut run = spread(&[100.0, 120.0, 105.0, 110.0], &mut chance);
    let said = |setting: usize| match setting {
        1 => RunResult::Invalid,
        3 => RunResult::Failed,
        _ => run(setting),
    };
    let (tournament, runs) = drive(rules(4), said);
    let found = tournament.finding();
    assert_eq!((found.best, found.end), (Some(2), Some(TournamentEnd::Decided)));
    let left: Vec<_> = found.left.iter().map(|left| (left.setting, left.after_blocks, left.why)).collect();
    assert_eq!(left[..2], [(1, 1, EliminationReason::Invalid), (3, 1, EliminationReason::NoFigure)]);
    assert_eq!(runs, 4 + 3 * 2 + 7 * 2);
}

#[test]
fn rival_lost_to_invalid_runs_leaves_the_search_undecided() {
    let mut chance = Chance::seeded(3);
    let confirmed = TournamentRules { incumbent: Some(2), has_confirmation: true, ..rules(3) };
    // Near the best, and valid at first; then the machine has no core to spare. The incumbent is far behind.
    let mut noted = 0;
    let said = |setting: usize| {
        noted += u32::from(setting == 1);
        match setting {
            1 if noted > 8 => RunResult::Invalid,
            _ => figure([100.0, 98.5, 22.0][setting] * (1.0 + 0.04 * chance.normal())),
        }
    };
    let (tournament, _) = drive(confirmed, said);
    let found = tournament.finding();
    assert_eq!((found.best, found.end), (Some(0), Some(TournamentEnd::Unmeasured)), "{found:?}");
    assert_eq!((found.tied, found.rival, found.confirmed), (vec![0, 1], None, None));
    let left: Vec<_> = found.left.iter().map(|left| (left.setting, left.after_blocks, left.why)).collect();
    assert_eq!(left, [(2, 8, EliminationReason::Behind), (1, 9, EliminationReason::Invalid)]);
}

#[test]
fn single_measurable_variant_is_not_fit() {
    let (tournament, _) =
        drive(rules(3), |setting| if setting == 2 { figure(1.0) } else { RunResult::TooFew });
    let found = tournament.finding();
    assert_eq!((found.best, found.end, found.confirmed), (Some(2), Some(TournamentEnd::NotFit), None));
    let (tournament, runs) = drive(rules(3), |_| RunResult::Invalid);
    assert_eq!(
        (tournament.finding().best, tournament.finding().end, runs),
        (None, Some(TournamentEnd::NotFit), 12)
    );
}

#[test]
fn fast_variant_with_errors_is_not_the_best() {
    let mut chance = Chance::seeded(9);
    let mut run = spread(&[100.0, 150.0, 101.0], &mut chance);
    let mut said = |setting: usize| match run(setting) {
        RunResult::Figure { value, planned, .. } => {
            RunResult::Figure { value, planned, errors: if setting == 1 { 100 } else { 0 } }
        }
        other => other,
    };
    let found = drive(rules(3), &mut said).0.finding();
    assert!(found.best != Some(1) && !found.tied.contains(&1));
    assert!(
        found.left.iter().any(|left| (left.setting, left.why) == (1, EliminationReason::MoreErrors)),
        "{found:?}"
    );
}

#[test]
fn few_noisy_blocks_are_inconclusive() {
    let mut chance = Chance::seeded(9);
    let said = |_| figure(100.0 * (0.5 * chance.normal()).exp());
    let found = drive(TournamentRules { blocks_max: 8, ..rules(5) }, said).0.finding();
    assert_eq!((found.end, found.blocks), (Some(TournamentEnd::OutOfBlocks), 8));
    assert!(found.tied.len() > 2, "{found:?}");
}

#[test]
fn single_variant_wins_without_a_run() {
    let found = Tournament::new(rules(1)).finding();
    assert_eq!((found.best, found.end), (Some(0), Some(TournamentEnd::Decided)));
    let found = Tournament::new(rules(0)).finding();
    assert_eq!((found.best, found.end), (None, Some(TournamentEnd::NotFit)));
}

proptest! {
    #[test]
    fn search_ends_and_is_reproducible_for_any_notes(
        said in prop::collection::vec((0..9u8, any::<f64>()), 1..60), settings in 0..40usize, blocks_max in 0..12u32,
        incumbent in prop::option::of(0..50usize), matters: f64, higher_is_better: bool, has_confirmation: bool,
    ) {
        let rules = TournamentRules { settings, matters, higher_is_better, blocks_max, incumbent, has_confirmation };
        let one = |(kind, value): (u8, f64)| match kind {
            0 => RunResult::Invalid,
            1 => RunResult::TooFew,
            2 => RunResult::Failed,
            3 => RunResult::Missing,
            4 => figure(value),
            5 => RunResult::exactly(1.0, u64::MAX, 1),
            _ => figure(100.0 + f64::from(kind)),
        };
        let mut says = said.iter().cycle();
        let mut noted = Vec::new();
        let (tournament, runs) = drive(rules, |setting| {
            let seen = one(*says.next().unwrap_or(&(0, 0.0)));
            noted.push((setting, seen));
            seen
        });
        let found = tournament.finding();
        prop_assert!(found.end.is_some());
        // A valid block takes at most four runs of each variant, in three rounds and a race. The duel has two runs per block.
        let most = 4 * settings * 4 * (blocks_max as usize + 1) + 8 * blocks_max.max(6) as usize;
        prop_assert!(runs as usize <= most, "{runs} of {most}");
        let mut again = noted.into_iter().map(|(_, seen)| seen);
        let (replayed, _) = drive(rules, |_| again.next().unwrap_or(RunResult::Missing));
        prop_assert_eq!(format!("{:?}", replayed.finding()), format!("{found:?}"));
    }
}
