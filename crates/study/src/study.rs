//! The main loop of a study: plans it, and makes its runs turn by turn until its procedure ends it.

use std::collections::BTreeSet;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use evidence::{
    Baseline, CapacityRules, Compare, EXTENSIONS_MAX, NewStudy, Procedure, StudyEnding, StudyId, StudyPlace,
    UNLIKE_OK, Verdict, stage,
};
use judge::ComparedBy;
use plan::{Fault, Interleave, Study};
use progress::{BlockEnded, Next, RemainingStudy, RunEvent, VerdictSoFar};
use stats::DuelEnd;
use store::Store;

use crate::arrivals;
use crate::likely_bottlenecks::LikelyBottlenecks;
use crate::pace::Pace;
use crate::procedure::{self, EndReason, StudyProcedure, Turn};
use crate::run_maker::{Draws, Journal, RunMaker};
use crate::schedule::schedule;
use crate::study_error::{RunStudyError, StudyError};

/// Stores a new study, which can be resumed from then on, and returns its identifier.
///
/// - `procedure` decides the runs: see [`crate::procedure()`].
/// - `host` describes the machine.
/// - `stamp` states how the cores of the machine are shared. `None` if that does not matter.
/// - `baseline` is the stored run or study to compare with. `None` without a comparison.
///
/// # Errors
/// The store failed.
pub fn begin_study(
    study: &Study,
    procedure: Procedure,
    host: serde_json::Value,
    stamp: Option<String>,
    baseline: Option<&Baseline>,
    store: &Store,
) -> Result<StudyId, StudyError> {
    let mut stamps: Vec<String> = stamp.into_iter().collect();
    if study.is_quick {
        stamps.push("QUICK: short runs, to see that the plan works and roughly where things lie".to_owned());
    }
    stamps.extend(study.tool_stamps());
    // A reason is needed only if the plan could have run in slices but has whole runs.
    let is_compared =
        matches!(procedure, Procedure::Blocks | Procedure::Duel { .. } | Procedure::Best { .. });
    let is_auto = is_compared && study.compare.interleave == Interleave::Auto;
    let no_slices = study.no_slices().filter(|_| is_auto);
    stamps.extend(no_slices.map(|no| format!("in whole runs, not in slices: {}", no.because)));
    stamps.extend(study.compare.accepts_unlike.then(|| UNLIKE_OK.to_owned()));
    let planned = if procedure == Procedure::Blocks { schedule(study) } else { Vec::new() };
    let compare = &study.compare;
    let new = NewStudy {
        started_at_unix_ms: unix_ms(),
        title: study.title.clone(),
        question: study.question.clone(),
        source: plan::mask_secrets(&study.source),
        plan_hash: study.hash.clone(),
        tenbin_version: env!("CARGO_PKG_VERSION").to_owned(),
        host,
        seed: study.seed,
        is_quick: study.is_quick,
        compare: Compare {
            by: compare.primary_metric_name(),
            higher_is_better: compare.higher_is_better,
            matters: compare.matters,
            blocks: compare.blocks,
            procedure,
            also: compare.also.iter().map(ComparedBy::name).collect(),
            baseline: study.baseline(),
            within_s: compare.within_ns.map(|ns| ns as f64 / 1e9),
        },
        gates: study.gates.iter().map(|gate| gate.text.clone()).collect(),
        loads: study.loads.iter().map(|load| load.name.clone()).collect(),
        planned,
        stamps,
    };
    Ok(store.begin_study_with_baseline(&new, baseline)?)
}

/// Claims a finished study and plans the runs that extend it to `blocks` blocks. `study` must have the seed of the stored study.
/// `within_s` limits the time of the whole study in seconds, earlier runs included; `None` leaves the stored limit.
pub fn extend_study(
    study: &Study,
    kept: &evidence::Study,
    blocks: u32,
    within_s: Option<f64>,
    journal: &dyn Journal,
) -> Result<(), StudyError> {
    can_extend(study, kept, blocks)?;
    let places = procedure::extension_runs(study, kept, blocks);
    Ok(journal.extend(kept, within_s, blocks, &with_positions(places, &kept.new.planned))?)
}

/// Returns the number of blocks of a study. In a study with duels, the maximum over its loads of the counted blocks.
pub fn blocks_of(study: &Study, kept: &evidence::Study) -> Result<u32, StudyError> {
    Ok(procedure::blocks_so_far(study, kept)?.0)
}

/// Checks that a finished study can be extended to `blocks` blocks.
fn can_extend(study: &Study, kept: &evidence::Study, blocks: u32) -> Result<(), StudyError> {
    let (has, in_the_way) = procedure::blocks_so_far(study, kept)?;
    let is_search = !kept.new.compare.procedure.can_be_extended();
    let most = stats::EXTENDED_MAX;
    let (what, way_out) = if is_search {
        (
            "the study is a search, which cannot be extended".to_owned(),
            "run it again, or compare the variants in question in a plan of their own".to_owned(),
        )
    } else if let Some(end) = in_the_way {
        let why = match end {
            DuelEnd::NoRatio => "a figure is 0, and has no ratio",
            _ => "many more runs of one variant were lost than of the other",
        };
        (
            format!("further blocks cannot decide this study: {why}"),
            "fix the cause, and run it again".to_owned(),
        )
    } else if has >= most {
        (
            format!("the study has {has} blocks, and further ones cannot decide more"),
            "run it again, with longer runs".to_owned(),
        )
    } else if kept.extensions.len() >= EXTENSIONS_MAX {
        (
            format!(
                "the study was extended {EXTENSIONS_MAX} times, and a further extension cannot decide more"
            ),
            "run it again, with more `blocks` in the plan".to_owned(),
        )
    } else if !(has + 1..=most).contains(&blocks) {
        (
            format!(
                "--blocks {blocks}: the study has {has} blocks, and this is the number with the added ones"
            ),
            format!("write a number from {} to {most}", has + 1),
        )
    } else {
        return Ok(());
    };
    Err(StudyError::Plan(vec![Fault::new(&kept.new.title, what, way_out)]))
}

/// Makes the remaining runs of a study in order, until its procedure ends it, its time is up, or a stop is requested.
///
/// # Errors
/// The store failed, or no more runs are possible.
pub fn run_study<R: RunMaker>(
    study: &Study,
    journal: &dyn Journal,
    runs: &mut R,
) -> Result<(), RunStudyError<R::Error>> {
    let why = match run_turns(study, journal, runs) {
        Err(RunStudyError::Run(error)) if runs.is_resumable(&error) => {
            journal.finish(&StudyEnding {
                ended_at_unix_ms: unix_ms(),
                verdict: Verdict::Partial,
                why: None,
            })?;
            return Err(RunStudyError::Run(error));
        }
        why => why?,
    };
    let verdict = if why.is_some_and(EndReason::is_whole) { Verdict::Complete } else { Verdict::Partial };
    let why = why.map(|why| why.word().to_owned());
    Ok(journal.finish(&StudyEnding { ended_at_unix_ms: unix_ms(), verdict, why })?)
}

/// Maximum number of attempts at a turn with runs that were cut short.
const ATTEMPTS_MAX: u32 = 3;

/// Makes turn after turn. `None` if a stop was requested, or if a required run was cut short in all attempts.
fn run_turns<R: RunMaker>(
    study: &Study,
    journal: &dyn Journal,
    runs: &mut R,
) -> Result<Option<EndReason>, RunStudyError<R::Error>> {
    let mut kept = journal.study()?;
    let next_runs = procedure::of(study, &kept, journal);
    let (pace, limits) = (Pace::of(study, &kept), LikelyBottlenecks::of(&kept));
    let mut going =
        RunningStudy { study, journal, pace, limits, verdicts: Vec::new(), begun: runs.now(), made: 0 };
    let mut places: Vec<StudyPlace> = kept.missing().cloned().collect();
    let mut tries = 1;
    let mut told = BTreeSet::new();
    let mut is_out_of_time = false;
    loop {
        match going.run_turn(&*next_runs, &mut kept, &places, runs)? {
            None => {}
            // An experiment has a separate time limit, and uses the measurements of the study.
            Some(Some(EndReason::Budget)) if !is_out_of_time => is_out_of_time = true,
            Some(stopped) => return Ok(stopped),
        }
        journal.reload(&mut kept)?;
        let needs_every_run = !is_out_of_time && next_runs.needs_every_run(&kept);
        if needs_every_run && kept.missing().next().is_some() {
            if tries == ATTEMPTS_MAX {
                let remark = "a run was cut short repeatedly: nothing more can be decided";
                runs.publish(RunEvent::Remark(remark.to_owned()));
                return Ok(None);
            }
            tries += 1;
            places = kept.missing().cloned().collect();
            continue;
        }
        tries = 1;
        going.publish_verdicts(next_runs.verdicts(&kept)?, runs);
        let decided = if is_out_of_time { next_runs.out_of_time(&kept)? } else { next_runs.next(&kept)? };
        let (next, news) = match decided {
            Turn::Runs { places, news } => (Ok(places), news),
            Turn::Over { why, news } => (Err(why), news),
        };
        // A finding under one load is repeated after each turn of the other loads, so it is published only once.
        news.into_iter()
            .filter(|line| told.insert(line.clone()))
            .for_each(|line| runs.publish(RunEvent::Remark(line)));
        match next {
            Err(why) if is_out_of_time => return Ok(Some(why)),
            Err(why) => return Ok(unless_missing(why, &kept)),
            Ok(next) => places = with_positions(next, &kept.new.planned),
        }
        journal.plan_more(&places)?;
        kept.new.planned.extend_from_slice(&places);
    }
}

/// Returns `None` if planned runs are missing that no decision needed. They can still be made, so the study can be
/// resumed.
fn unless_missing(why: EndReason, kept: &evidence::Study) -> Option<EndReason> {
    kept.missing().next().is_none().then_some(why)
}

/// State of a study while it runs.
struct RunningStudy<'a> {
    study: &'a Study,
    journal: &'a dyn Journal,
    pace: Pace<'a>,
    /// `None` for capacity searches, which report no bottlenecks.
    limits: Option<LikelyBottlenecks>,
    /// Verdicts that were published last.
    verdicts: Vec<VerdictSoFar>,
    begun: Instant,
    /// Number of runs that this process has made.
    made: usize,
}

impl RunningStudy<'_> {
    /// Makes the runs of a turn. Returns `Some` if the study stops before the end of the turn: with the reason, or with
    /// `None` if a stop was requested.
    fn run_turn<R: RunMaker>(
        &mut self,
        next_runs: &dyn StudyProcedure,
        kept: &mut evidence::Study,
        places: &[StudyPlace],
        runs: &mut R,
    ) -> Result<Option<Option<EndReason>>, RunStudyError<R::Error>> {
        let later = next_runs.max_later_runs(kept);
        for (index, place) in places.iter().enumerate() {
            if runs.is_stopped() {
                return Ok(Some(None));
            }
            // An incomplete block is useless, so a block begins only if there is time for all of its runs.
            let is_of_block = |next: &&StudyPlace| (next.block, &next.stage) == (place.block, &place.stage);
            let block = places[index..].iter().take_while(is_of_block).count();
            let block = &places[index..index + block];
            let (begun, elapsed) = (runs.now(), runs.now() - self.begun);
            if !self.pace.has_time_for(block, elapsed) {
                let later = later.map(|later| later + places.len() - index - block.len());
                runs.publish(RunEvent::Remark(self.pace.out_of_time_message(block, later, elapsed)));
                return Ok(Some(Some(EndReason::Budget)));
            }
            let amount = next_runs.amount(kept, place)?;
            let is_same = |other: &&StudyPlace| {
                (other.block, &other.stage, &other.system, &other.variant)
                    == (place.block, &place.stage, &place.system, &place.variant)
            };
            let before = places[..index].iter().filter(is_same).count();
            let stays_up = stage::is_slice(&place.stage) && block[1..].iter().any(|next| is_same(&next));
            let seed = arrivals::seed(self.study.seed, place, before);
            let draws = Draws { amount, seed, stays_up };
            let ahead = self.ahead(&places[index..], later, elapsed);
            runs.publish(RunEvent::Next(Box::new(Next { place: place.clone(), ahead })));
            runs.make(place, &draws, &ahead).map_err(RunStudyError::Run)?;
            self.pace.record(place, runs.now() - begun);
            self.made += 1;
            if block.len() == 1 && !runs.is_stopped() {
                let (stage, block) = (place.stage.clone(), place.block);
                runs.publish(RunEvent::BlockEnded(BlockEnded { stage, block }));
            }
            if block.len() == 1 || runs.is_stopped() {
                self.publish_bottlenecks(kept, runs)?;
            }
        }
        Ok(runs.is_stopped().then_some(None))
    }

    /// Publishes verdicts that differ from those published last.
    fn publish_verdicts<R: RunMaker>(&mut self, verdicts: Vec<VerdictSoFar>, runs: &mut R) {
        let changed = verdicts.iter().filter(|verdict| !self.verdicts.contains(verdict));
        changed.for_each(|verdict| runs.publish(RunEvent::VerdictSoFar(verdict.clone())));
        self.verdicts = verdicts;
    }

    /// Publishes likely bottlenecks at the end of a block if they are due, and when the study is stopped.
    fn publish_bottlenecks<R: RunMaker>(
        &mut self,
        kept: &mut evidence::Study,
        runs: &mut R,
    ) -> Result<(), StudyError> {
        let is_due =
            |limits: &&mut LikelyBottlenecks| limits.needs_evaluation(self.made) || runs.is_stopped();
        let Some(limits) = self.limits.as_mut().filter(is_due) else { return Ok(()) };
        self.journal.reload(kept)?;
        let news = limits.news(self.study, kept, self.made)?;
        news.into_iter().for_each(|finding| runs.publish(RunEvent::Finding(finding)));
        Ok(())
    }

    fn ahead(&self, left: &[StudyPlace], later: Option<usize>, elapsed: Duration) -> RemainingStudy {
        RemainingStudy {
            number: self.made,
            of: later.map(|later| self.made + left.len() + later),
            is_at_most: later != Some(0),
            left: later.and_then(|later| self.pace.expected(left, later)),
            budget: self.pace.left(elapsed),
        }
    }
}

/// Numbers the positions of `places`, following those of `planned`.
fn with_positions(places: Vec<StudyPlace>, planned: &[StudyPlace]) -> Vec<StudyPlace> {
    let first = planned.last().map_or(0, |place| place.position.saturating_add(1));
    (first..).zip(places).map(|(position, place)| StudyPlace { position, ..place }).collect()
}

/// Checks that a stored study belongs to this plan and uses this procedure.
pub fn is_of(kept: &NewStudy, study: &Study, procedure: &Procedure) -> Result<(), Fault> {
    if kept.is_quick != study.is_quick {
        let (what, way_out) = match kept.is_quick {
            true => ("this study is a quick one", "add --quick"),
            false => ("this study is no quick one", "leave out --quick"),
        };
        return Err(Fault::new(&study.title, what, way_out));
    }
    // If the plan has no seed, the seed that was drawn at the start applies.
    let mut study = study.clone();
    study.set_seed(kept.seed);
    // Replacements of invalid blocks may follow the scheduled runs.
    let is_planned_so = *procedure != Procedure::Blocks || kept.planned.starts_with(&schedule(&study));
    let is_alike = is_alike(&kept.compare.procedure, procedure)
        || study.compare.interleave == Interleave::Auto && is_whole(&kept.compare.procedure, procedure);
    if kept.plan_hash == study.hash && is_alike && is_planned_so {
        return Ok(());
    }
    Err(Fault::new(
        &study.title,
        "the plan, or a file that it uses, has changed since this study began",
        "run it again, or bring back the plan as it was",
    ))
}

/// Returns whether two procedures are equal, except for rules that earlier versions set differently. A study continues
/// under its old rules.
fn is_alike(kept: &Procedure, asked: &Procedure) -> bool {
    match (kept, asked) {
        (Procedure::Capacity(kept), Procedure::Capacity(asked)) => {
            *kept == CapacityRules { overruled_by: kept.overruled_by, ..asked.clone() }
        }
        _ => kept == asked,
    }
}

/// Returns whether a study was started with whole runs, and would now be started with slices.
fn is_whole(kept: &Procedure, asked: &Procedure) -> bool {
    match (kept, asked) {
        (
            Procedure::Duel { slices: None, looks_early: kept, .. },
            Procedure::Duel { slices: Some(_), looks_early: asked, .. },
        ) => kept == asked,
        (
            Procedure::Best { slices: None, incumbent: kept },
            Procedure::Best { slices: Some(_), incumbent: asked },
        ) => kept == asked,
        (Procedure::Blocks, Procedure::RoundRobin { .. }) => true,
        _ => false,
    }
}

fn unix_ms() -> i64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_millis() as i64)
}

#[cfg(test)]
mod tests {
    use evidence::SliceRules;

    use super::*;
    use crate::procedure::tests::begun;

    #[test]
    fn resumes_search_of_earlier_version_under_its_rules() {
        let asked = Procedure::Capacity(CapacityRules {
            slos: vec!["p99<100ms".to_owned()],
            resolution: 0.03,
            from_per_s: None,
            to_per_s: None,
            confirm_runs: 1,
            overruled_by: stats::OVERRULE_LEAD,
            has_overload: true,
            soak_s: None,
            runs_max: 120,
        });
        let (study, store, id) = begun(1, "{ by: throughput }");
        let mut kept = store.load_study(&id).expect("it is kept").new;
        let mut written = serde_json::to_value(&asked).expect("JSON");
        written.as_object_mut().and_then(|rules| rules.remove("overruled_by")).expect("it is there");
        kept.compare.procedure = serde_json::from_value(written).expect("rules");
        let Procedure::Capacity(rules) = &kept.compare.procedure else { panic!("{kept:?}") };
        assert_eq!(rules.overruled_by, 0);
        assert!(is_of(&kept, &study, &asked).is_ok());
        let Procedure::Capacity(other) = asked else { panic!("a search") };
        let other = Procedure::Capacity(CapacityRules { confirm_runs: 2, ..other });
        assert!(is_of(&kept, &study, &other).is_err());
    }

    #[test]
    fn resumes_study_of_whole_runs_where_slices_are_now_default() {
        let rules = SliceRules {
            slice_s: 1.0,
            settle_s: 0.25,
            warm_up_s: 1.0,
            pairs_most: 4,
            pauses_idle: false,
            has_control: false,
            has_full_blocks: false,
        };
        let duel = |slices| Procedure::Duel { pilot_blocks: 3, looks_early: true, slices };
        for (compare, kept_slices, is_same) in [
            ("{ interleave: auto }", None, true),
            ("{ interleave: auto }", Some(SliceRules { slice_s: 2.0, ..rules }), false),
            ("{ interleave: runs }", None, false),
        ] {
            let (study, store, id) = begun(2, compare);
            let mut kept = store.load_study(&id).expect("it is kept").new;
            kept.compare.procedure = duel(kept_slices);
            assert_eq!(
                is_of(&kept, &study, &duel(Some(rules))).is_ok(),
                is_same,
                "{compare} {kept_slices:?}"
            );
        }
    }

    #[test]
    fn stamps_say_why_there_are_whole_runs_and_what_is_accepted() {
        let stamps = |variants, compare: &str| {
            let (_, store, id) = begun(variants, compare);
            store.load_study(&id).expect("it is kept").new.stamps.clone()
        };
        let [why, accepted] = stamps(2, "{ unlike: ok }").try_into().expect("two");
        assert!(why.starts_with("in whole runs, not in slices: the load "), "{why}");
        assert!(why.contains("has no `warm-up`") && accepted == UNLIKE_OK, "{why} {accepted}");
        assert!(stamps(2, "{ interleave: runs }").is_empty() && stamps(3, "{ blocks: 2 }").is_empty());
    }

    #[test]
    fn study_with_missing_run_has_not_ended() {
        let (_, store, id) = begun(3, "{ blocks: 2 }");
        let mut kept = store.load_study(&id).expect("it is kept");
        assert_eq!(unless_missing(EndReason::Blocks, &kept), None);
        kept.new.planned.clear();
        assert_eq!(unless_missing(EndReason::Blocks, &kept), Some(EndReason::Blocks));
    }
}
