//! Searches driven by the real procedures. In the capacity search, four workers sustain 400 requests per second, and reject the
//! rest.

use evidence::{CapacityRules, Compare, Procedure, StudyEnding, StudyId, StudyPlace, Verdict};
use fixtures::OwnStore;
use record::Outcome;
use stats::{At, Level, LevelRunResult, Search, SearchStep, TournamentStage, TournamentStep};

use super::{STARTED_AT_UNIX_MS, Stored, kept_study};
use crate::runs::{self, Draws, Kept};

const MOST_PER_S: u64 = 400;
const SETTING: (&str, &str) = ("target", "workers=4");

/// A capacity that was found, confirmed, and tested after an overload, without a soak run.
pub(crate) fn capacity() -> Stored {
    search(|_| false)
}

/// Like `capacity`, but runs above three quarters of the capacity are invalid.
pub(crate) fn unmeasurable() -> Stored {
    search(|per_s| per_s > MOST_PER_S * 3 / 4)
}

/// Search for the best of three. One variant that may be as good is lost to invalid runs.
pub(crate) fn best() -> Stored {
    let script = super::lost_rival();
    let load = script.loads[0];
    let store = OwnStore::new();
    let id = store.begin_study(&script.new).unwrap();
    let setting = |behaviour: &super::Behaviour| judge::Setting {
        system: behaviour.system.to_owned(),
        variant: behaviour.variant.to_owned(),
    };
    let mut settings: Vec<judge::Setting> = script.behaviours.iter().map(setting).collect();
    settings.sort();
    let metric = judge::ComparedBy::named("throughput").unwrap();
    for _ in 0..100 {
        let study = store.load_study(&id).unwrap();
        let tournament = judge::tournament(&study, load, &settings, &metric).unwrap().unwrap();
        let TournamentStep::Block { block, stage, of } = tournament.next() else { break };
        let stage = match stage {
            TournamentStage::Halving(_) => evidence::stage::HALVING,
            TournamentStage::Search => evidence::stage::SEARCH,
            TournamentStage::Confirm => evidence::stage::CONFIRM,
        };
        let next = study.new.planned.len() as u32;
        let places: Vec<StudyPlace> = (next..)
            .zip(of)
            .map(|(position, of)| StudyPlace {
                block: block - 1,
                position,
                load: load.to_owned(),
                stage: stage.to_owned(),
                ..fixtures::place(&settings[of].system, &settings[of].variant)
            })
            .collect();
        store.plan_more(&id, &places).unwrap();
        places.iter().for_each(|place| {
            script.run(&id, place).keep(&store);
        });
    }
    let why = Some("not fit".to_owned());
    let ended_at_unix_ms = STARTED_AT_UNIX_MS + 100_000;
    store.finish_study(&id, &StudyEnding { ended_at_unix_ms, verdict: Verdict::Partial, why }).unwrap();
    kept_study(&store, &id)
}

fn search(is_invalid: impl Fn(u64) -> bool) -> Stored {
    let mut new = runs::new_study(Vec::new());
    new.title = "workers".to_owned();
    new.question = Some("How many requests per second can four workers sustain?".to_owned());
    new.compare = Compare {
        matters: 0.1,
        blocks: 1,
        procedure: Procedure::Capacity(CapacityRules {
            slos: vec!["p50<200ms".to_owned(), "errors<0.1%".to_owned()],
            resolution: 0.1,
            from_per_s: None,
            to_per_s: None,
            confirm_runs: 3,
            overruled_by: 3,
            has_overload: true,
            soak_s: None,
            runs_max: 60,
        }),
        ..fixtures::compare()
    };
    let store = OwnStore::new();
    let id = store.begin_study(&new).unwrap();
    let mut search = Search::new(judge::search_rules(&new.compare, new.seed).unwrap());
    for position in 0.. {
        let SearchStep::Run(level) = search.next() else { break };
        let place = place(position, &level);
        store.plan_more(&id, std::slice::from_ref(&place)).unwrap();
        let (kept, judged) = run(&id, place, &level, &is_invalid);
        kept.keep(&store);
        search.note(level, judged);
    }
    let why = Some("decided".to_owned());
    let ended_at_unix_ms = STARTED_AT_UNIX_MS + 100_000;
    store.finish_study(&id, &StudyEnding { ended_at_unix_ms, verdict: Verdict::Complete, why }).unwrap();
    kept_study(&store, &id)
}

fn place(position: u32, level: &Level) -> StudyPlace {
    let (users, rate_per_s) = match level.at {
        At::Users(users) => (Some(users), None),
        At::PerS(per_s) => (None, Some(per_s)),
    };
    StudyPlace {
        position,
        load: "jobs".to_owned(),
        stage: judge::stage_name(level.stage).to_owned(),
        users,
        rate_per_s,
        ..fixtures::place(SETTING.0, SETTING.1)
    }
}

/// Contents of a run, and its result for the search.
fn run(
    id: &StudyId,
    place: StudyPlace,
    level: &Level,
    is_invalid: &dyn Fn(u64) -> bool,
) -> (Kept, LevelRunResult) {
    let asked = match level.at {
        At::Users(users) => u64::from(users) * 90,
        At::PerS(per_s) => per_s as u64,
    };
    let is_open = matches!(level.at, At::PerS(_));
    let per_s = if is_open { asked } else { asked.min(MOST_PER_S) };
    let mut new = runs::new_run();
    new.title = "workers".to_owned();
    new.steps = vec!["job".to_owned()];
    new.units = vec![evidence::Unit::Requests];
    new.load_words = if is_open { format!("{asked}/s, open") } else { "users, closed".to_owned() };
    new.model = if is_open { evidence::Model::Open } else { evidence::Model::Closed };
    new.started_at_unix_ms += i64::from(place.position) * 6_000;
    new.place = Some((id.clone(), place.clone()));
    let mut kept = Kept::load(&new, &[], Some(&runs::ending()));
    let mut draws = Draws(u64::from(place.position) * 77 + 5);
    let too_many = per_s.saturating_sub(MOST_PER_S);
    let outcome_of = |request: u64| match request < too_many {
        true => (Outcome::Rejected, 503),
        false => (Outcome::Ok, 200),
    };
    // One second of warm-up and three measured ones.
    for number in 0..4 {
        kept.seconds.push((0, runs::second(number, per_s, &mut draws, 0, outcome_of)));
    }
    let judged = match level.at {
        _ if is_open && is_invalid(asked) => {
            if let Some(ending) = &mut kept.ending {
                ending.verdict = Verdict::Invalid;
                ending.validity.verdict = evidence::Level::Invalid;
            }
            LevelRunResult::Invalid
        }
        At::Users(users) => {
            LevelRunResult::Sized { per_s: per_s as f64, mean_response_s: f64::from(users) / per_s as f64 }
        }
        At::PerS(_) if too_many > 0 => LevelRunResult::Failed,
        At::PerS(_) => LevelRunResult::Passed,
    };
    (kept, judged)
}
