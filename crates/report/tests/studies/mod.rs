//! Deterministic stored studies for reports.

#![allow(dead_code, reason = "every test takes what it needs")]

pub(crate) mod of_events;
pub(crate) mod searched;
mod with_events;
pub(crate) mod with_rows;

pub(crate) use with_events::with_events;

use std::sync::LazyLock;

use evidence::{
    AskedBaseline, Baseline, BaselineLoad, BaselineRow, BaselineSide, Bounds, Cause, Cost, Decision,
    Distorted, Distortion, Event, EventCost, EvidenceError, Failure, FoundBaseline, GateResult,
    GeneratorEffect, Judged, Level, NewStudy, Origin, Reading, Run, RunId, Study, StudyEnding, StudyId,
    StudyPlace, StudyState, Unit, Validity, Verdict,
};
use fixtures::OwnStore;
use record::{ErrorClass, Outcome};
use serde_json::json;
use store::Store;

use crate::runs::{self, Draws, Kept, STARTED_AT_UNIX_MS};

/// All studies that have golden files.
///
/// They are stored once for all tests.
pub(crate) fn all() -> &'static [(&'static str, Stored)] {
    static ALL: LazyLock<Vec<(&str, Stored)>> = LazyLock::new(store_all);
    &ALL
}

fn store_all() -> Vec<(&'static str, Stored)> {
    vec![
        ("study-complete", complete()),
        ("study-missing", missing()),
        ("study-one-block", one_block()),
        ("study-two-loads", two_loads()),
        ("study-seven-blocks", seven_blocks()),
        ("study-sql", sql()),
        ("study-against", against()),
        ("study-stored-baseline", stored_baseline()),
        ("study-no-baseline", no_baseline()),
        ("study-gates-of-baseline", gates_of_baseline()),
        ("study-invalid", all_invalid()),
        ("study-not-begun", not_begun()),
        ("study-apart", apart(0)),
        ("study-one-common", apart(1)),
        ("study-gone", gone()),
        ("study-best", searched::best()),
        ("study-events", of_events::deployments()),
        ("study-events-endless", of_events::never_back()),
        ("study-two-events", of_events::two_events()),
        ("study-failures", failures()),
        ("study-capacity", searched::capacity()),
        ("study-unmeasurable", searched::unmeasurable()),
        ("study-troubles", troubles()),
        ("study-crowded-two", crowded_two()),
        ("study-crowded-ten", crowded_ten()),
    ]
}

/// Behavior of one variant in every block.
struct Behaviour {
    system: &'static str,
    variant: &'static str,
    per_s: u64,
    /// CPU usage in percent of a core.
    cpu_percent: u64,
    what: What,
}

#[derive(Clone, Copy, PartialEq)]
enum What {
    Works,
    /// Rejects one in this many requests with 503.
    Refuses(u64),
    DoesNotStart,
    /// The generator was too slow in the blocks below this number.
    IsInvalidBefore(u32),
    /// The generator was too slow in the blocks from this number on.
    IsInvalidFrom(u32),
    /// The system answers nothing in the last second of the window.
    IsGone,
    /// All answers are a 301, which counts as ok.
    Redirects,
    /// The generator waits for cores that the system uses, in every run, and once for a neighbor, too.
    IsCrowded,
}

const fn behaviour(system: &'static str, variant: &'static str, per_s: u64, what: What) -> Behaviour {
    Behaviour { system, variant, per_s, cpu_percent: per_s / 10, what }
}

const APP_SERVERS: [Behaviour; 6] = [
    behaviour("puma", "workers=1 threads=1", 310, What::Works),
    behaviour("puma", "workers=8 threads=1", 834, What::Works),
    behaviour("puma", "workers=8 threads=16", 900, What::Refuses(40)),
    behaviour("puma", "workers=1 threads=500", 0, What::DoesNotStart),
    behaviour("unicorn", "workers=8", 745, What::IsInvalidBefore(1)),
    behaviour("passenger", "workers=8", 738, What::Works),
];

/// Stores the events of a run.
type KeepEvents = dyn Fn(&OwnStore, &RunId, &StudyPlace);

/// Everything that a study stores, and the number of places with a run.
struct Script<'a> {
    new: NewStudy,
    behaviours: &'a [Behaviour],
    loads: &'a [&'a str],
    steps: &'a [&'a str],
    done: usize,
    /// Whether steps are transactions. The first one then has statements that are measured separately.
    is_sql: bool,
    /// Stores the events of a run and their costs. `None` for a study without events.
    events: Option<Box<KeepEvents>>,
    /// Additional readings of a run in one second.
    more_readings: fn(&StudyPlace, u64) -> Vec<Reading>,
    /// Changes a run before it is stored.
    change: fn(&mut Kept),
}

/// A study, and each of its runs with per-second data.
pub(crate) struct Stored {
    pub(crate) study: Study,
    pub(crate) runs: Vec<Run>,
}

impl Stored {
    /// A run with its per-second data.
    pub(crate) fn load(&self, run: &RunId) -> Result<Run, EvidenceError> {
        let found = self.runs.iter().find(|known| known.id == *run);
        found.cloned().ok_or_else(|| EvidenceError::DamagedRun { run: run.clone() })
    }
}

impl Script<'_> {
    fn through_store(mut self) -> Stored {
        self.new.planned = self.places();
        let store = OwnStore::new();
        let id = store.begin_study(&self.new).unwrap();
        for place in &self.new.planned[..self.done.min(self.new.planned.len())] {
            let run = self.run(&id, place).keep(&store);
            if let Some(keep) = &self.events {
                keep(&store, &run, place);
            }
        }
        if self.done >= self.new.planned.len() {
            let ended_at_unix_ms = STARTED_AT_UNIX_MS + 100_000;
            store
                .finish_study(&id, &StudyEnding { ended_at_unix_ms, verdict: Verdict::Complete, why: None })
                .unwrap();
        }
        kept_study(&store, &id)
    }

    fn places(&self) -> Vec<StudyPlace> {
        let mut places = Vec::new();
        for block in 0..self.new.compare.blocks {
            for load in self.loads {
                // The order differs in every block.
                let turned = self.behaviours.iter().cycle().skip(block as usize % self.behaviours.len());
                for behaviour in turned.take(self.behaviours.len()) {
                    places.push(StudyPlace {
                        block,
                        position: places.len() as u32,
                        load: (*load).to_owned(),
                        ..fixtures::place(behaviour.system, behaviour.variant)
                    });
                }
            }
        }
        places
    }

    fn run(&self, id: &StudyId, place: &StudyPlace) -> Kept {
        let is_meant =
            |behaviour: &&Behaviour| behaviour.system == place.system && behaviour.variant == place.variant;
        let behaviour = self.behaviours.iter().find(is_meant).unwrap();
        let mut new = runs::new_run();
        new.title = "app-servers".to_owned();
        new.plan_json = json!({ "plan_file": "plans/app-servers.yaml" });
        new.started_at_unix_ms += i64::from(place.position) * 6_000;
        new.steps = self.steps.iter().map(|step| (*step).to_owned()).collect();
        new.units = vec![Unit::Requests; self.steps.len()];
        if self.is_sql {
            (new.units, new.parts) = (vec![Unit::Transactions; self.steps.len()], runs::sql::parts());
        }
        new.load_words =
            if self.loads.len() > 1 { place.load.clone() } else { "100 users, closed".to_owned() };
        new.place = Some((id.clone(), place.clone()));
        new.system_version = Some(match behaviour.system {
            "node" => "v24.1.0".to_owned(),
            "postgres" => "PostgreSQL 15.8".to_owned(),
            system => format!("{system} version 6.6.0"),
        });
        if behaviour.what == What::DoesNotStart {
            return does_not_start(new);
        }
        let mut draws = Draws(u64::from(place.position) * 77 + 5);
        // Throughput varies between blocks, and a little between runs.
        let luck = Draws(u64::from(place.block) + 3).below(60) + draws.below(20);
        let scale = if place.load.starts_with("75") { 75_000 / behaviour.per_s } else { 1_000 };
        let per_s = behaviour.per_s * (1_000 - luck) * scale / 1_000_000;
        let one_in = match behaviour.what {
            What::Refuses(one_in) => one_in,
            _ => u64::MAX,
        };
        let outcome_of = |request: u64| {
            let ok = if behaviour.what == What::Redirects { 301 } else { 200 };
            if request % one_in == one_in - 1 { (Outcome::Rejected, 503) } else { (Outcome::Ok, ok) }
        };
        let mut kept = Kept::load(&new, &[], Some(&runs::ending()));
        for number in 0..4 {
            if self.is_sql {
                kept.seconds.extend(runs::sql::transaction(number, per_s, &mut draws));
            }
            for step in u16::from(self.is_sql)..self.steps.len() as u16 {
                let mut one = runs::second(number, per_s / (1 + u64::from(step)), &mut draws, 0, outcome_of);
                for _ in 0..one.tally.counts.rejected {
                    one.tally
                        .errors
                        .note(ErrorClass::Status, 503, || "HTTP 503 Service Unavailable".to_owned());
                }
                kept.seconds.push((step, one));
            }
            let cpu_s = behaviour.cpu_percent as f64 / 100.0 + draws.below(30) as f64 / 1_000.0;
            let rss_bytes = (80 + behaviour.per_s / 8 + draws.below(9)) as f64 * 1e6;
            let readings = runs::readings(cpu_s.min(1.0), rss_bytes);
            kept.readings.push((number, [readings, (self.more_readings)(place, number)].concat()));
        }
        kept.gates = self.gates(behaviour, draws.below(100));
        if let (What::IsGone, Some(ending)) = (behaviour.what, &mut kept.ending) {
            (ending.verdict, ending.outage) = (Verdict::Degraded, Some(runs::gone(2.0, 1.0, true)));
        }
        let is_invalid = match behaviour.what {
            What::IsInvalidBefore(block) => place.block < block,
            What::IsInvalidFrom(block) => place.block >= block,
            _ => false,
        };
        if let Some(ending) = kept.ending.as_mut().filter(|_| behaviour.what == What::IsCrowded) {
            ending.validity = crowded(place.block, per_s);
        }
        if let Some(ending) = kept.ending.as_mut().filter(|_| is_invalid) {
            ending.verdict = Verdict::Invalid;
            ending.validity.verdict = Level::Invalid;
            ending.validity.causes = vec![Cause {
                code: "generator_cpu".to_owned(),
                sentence: "a generator thread used 97 % of its core, so it may have measured itself"
                    .to_owned(),
                remedy: "use more threads, or a second machine for the load".to_owned(),
                distorts: Vec::new(),
            }];
        }
        (self.change)(&mut kept);
        kept
    }

    fn gates(&self, behaviour: &Behaviour, luck: u64) -> Vec<GateResult> {
        let gate = |text: &String| {
            let is_time = text.starts_with("p(");
            let errors = if let What::Refuses(one_in) = behaviour.what { 1.0 / one_in as f64 } else { 0.0 };
            let observed = if is_time { 1e6 + luck as f64 * 1e4 } else { errors };
            let limit = if is_time { 2e8 } else { 0.001 };
            GateResult {
                text: text.clone(),
                step: None,
                observed: Some(observed),
                bounds: Bounds::exactly(observed),
                limit,
                unit: if is_time { "ns" } else { "share" }.to_owned(),
                decision: if observed < limit { Decision::Holds } else { Decision::Fails },
                samples_needed: None,
            }
        };
        // Baseline conditions are judged over all runs.
        self.new.gates.iter().filter(|text| !text.contains("of baseline")).map(gate).collect()
    }
}

/// Two variants with these notes. One of them only redirects.
pub(crate) fn unlike(stamps: &[&str]) -> Stored {
    const BEHAVIOURS: [Behaviour; 2] =
        [behaviour("nginx", "", 900, What::Redirects), behaviour("node", "", 600, What::Works)];
    let mut script = app_servers();
    script.behaviours = &BEHAVIOURS;
    script.new.gates.clear();
    script.new.stamps = stamps.iter().map(|stamp| (*stamp).to_owned()).collect();
    script.through_store()
}

/// Validity of a run whose generator had no core at times, with its effect on `per_s` requests per second.
fn crowded(block: u32, per_s: u64) -> Validity {
    let distorts = vec![Distortion {
        figure: Distorted::Tail,
        level: Level::Suspect,
        by_share: Some(0.09),
        by_us: Some(140.0),
    }];
    let cause = |code: &str, sentence: String| Cause {
        code: code.to_owned(),
        sentence,
        remedy: "give the generator a core of its own: `pin: auto`, or use a second machine".to_owned(),
        distorts: distorts.clone(),
    };
    let waited =
        cause("generator_waited", format!("the generator waited for a core {}.4 % of the time", 7 + block));
    let stolen = cause("steal", "other machines took 3 % of this one's cores".to_owned());
    let effect =
        GeneratorEffect { delay_ns: per_s as f64 * 1e5, missing_share: 0.03, ..GeneratorEffect::default() };
    Validity {
        verdict: Level::Suspect,
        causes: if block == 1 { vec![waited, stolen.clone()] } else { vec![waited] },
        notes: vec![stolen],
        effect: Some(effect),
    }
}

/// Two variants, in all of whose runs the generator had no core at times, with conditions.
fn crowded_two() -> Stored {
    let behaviours = [
        behaviour("puma", "workers=8", 834, What::IsCrowded),
        behaviour("unicorn", "workers=8", 690, What::IsCrowded),
    ];
    crowded_of(&behaviours)
}

/// Ten such variants.
fn crowded_ten() -> Stored {
    let variants = ["1", "2", "3", "4", "6", "8", "12", "16", "24", "32"];
    let each = variants.iter().zip(0..).map(|(workers, number)| {
        let variant: &'static str = format!("workers={workers}").leak();
        behaviour("puma", variant, 300 + 60 * number, What::IsCrowded)
    });
    crowded_of(&each.collect::<Vec<_>>())
}

fn crowded_of(behaviours: &[Behaviour]) -> Stored {
    let mut script = app_servers();
    script.behaviours = behaviours;
    script.through_store()
}

/// Stores events, by name, with their costs.
fn keep_events(store: &OwnStore, run: &RunId, costs: &[(&str, Cost)]) {
    let event = |(name, cost): &(&str, Cost)| Event {
        name: (*name).to_owned(),
        action: "signal HUP".to_owned(),
        planned_ns: Some(cost.from_ns),
        begun_ns: Some(cost.from_ns),
        ended_ns: Some(cost.from_ns + 20_000_000),
        ..Event::default()
    };
    store.keep_events(run, &costs.iter().map(event).collect::<Vec<_>>()).unwrap();
    let cost = |(name, cost): &(&str, Cost)| EventCost {
        name: (*name).to_owned(),
        occurrence: 0,
        judged: Judged::Cost(Box::new(cost.clone())),
    };
    let costs = costs.iter().map(cost).collect();
    store.keep_event_costs(&mut store.load(run).unwrap(), costs).unwrap();
}

/// A stored study with fixed identifiers.
fn kept_study(store: &Store, id: &StudyId) -> Stored {
    let mut study = store.load_study(id).unwrap();
    // The writer is this process, which is still alive.
    if study.state == StudyState::Running {
        study.state = StudyState::Interrupted;
    }
    let fixed: StudyId = "s-20261121-142500-ab12".parse().unwrap();
    study.id = fixed.clone();
    let mut runs: Vec<Run> = study.runs.iter().map(|run| store.load(&run.id).unwrap()).collect();
    for run in study.runs.iter_mut().chain(&mut runs) {
        let place = run.new.place.as_mut().unwrap();
        place.0 = fixed.clone();
        run.id =
            format!("20261121-1425{:02}-{:04}", place.1.position % 60, place.1.position).parse().unwrap();
    }
    Stored { study, runs }
}

fn does_not_start(new: evidence::NewRun) -> Kept {
    let mut ending = runs::ending();
    ending.verdict = Verdict::Aborted;
    ending.validity.verdict = Level::Invalid;
    ending.spread = None;
    (ending.generator.cpu_user_s, ending.generator.cpu_sys_s) = (0.0, 0.0);
    ending.failure = Some(Failure {
        stage: "ready".to_owned(),
        process: Some("puma".to_owned()),
        what: "GET /fibonacci?n=1 was not answered with 2xx within 30 s".to_owned(),
        way_out: "look at its output, or give it more time: ready: { within: 60s }".to_owned(),
    });
    let mut kept = Kept::load(&new, &[], Some(&ending));
    let output = "Puma starting in single mode...\n* Min threads: 500\nRuntimeError: can't create Thread: \
                  Resource temporarily unavailable\n\n\tfrom thread_pool.rb:104:in 'spawn_thread'\n";
    kept.outputs = vec![("puma".to_owned(), output.as_bytes().to_vec())];
    kept
}

fn app_servers() -> Script<'static> {
    let mut new = runs::new_study(Vec::new());
    new.gates = vec!["p(99)<200ms".to_owned(), "errors<0.1%".to_owned()];
    new.stamps = vec![
        "SHARED: system and generator were not kept apart on 2 cores, which makes differences look smaller"
            .to_owned(),
    ];
    Script {
        new,
        behaviours: &APP_SERVERS,
        loads: &["100 users"],
        steps: &["fibonacci"],
        done: usize::MAX,
        is_sql: false,
        events: None,
        more_readings: |_, _| Vec::new(),
        change: |_| {},
    }
}

/// Three systems, six variants, and eight blocks. One variant does not start, one has errors, and one run is invalid.
pub(crate) fn complete() -> Stored {
    app_servers().through_store()
}

/// All kinds of trouble in one interrupted study of seven configurations with an unknown plan file.
pub(crate) fn troubles() -> Stored {
    const BEHAVIOURS: [Behaviour; 7] = [
        behaviour("puma", "workers=1 threads=1", 310, What::Works),
        behaviour("puma", "workers=8 threads=1", 834, What::Works),
        behaviour("puma", "workers=8 threads=16", 900, What::Refuses(40)),
        behaviour("puma", "workers=1 threads=500", 0, What::DoesNotStart),
        behaviour("unicorn", "workers=8", 745, What::IsInvalidBefore(1)),
        behaviour("passenger", "workers=8", 738, What::IsGone),
        behaviour("node", "workers=2 pool=32", 640, What::Refuses(8)),
    ];
    let mut script = app_servers();
    (script.behaviours, script.done) = (&BEHAVIOURS, 53);
    script.new.gates.push("p(99.9)<1s".to_owned());
    script.new.stamps.push("TLS certificates were not verified (insecure in the plan)".to_owned());
    let mut stored = script.through_store();
    for run in stored.study.runs.iter_mut().chain(&mut stored.runs) {
        run.new.plan_json = json!({});
    }
    stored
}

/// Like `complete`, but interrupted in the second block.
pub(crate) fn missing() -> Stored {
    let mut script = app_servers();
    script.done = 9;
    script.through_store()
}

/// One block of two variants of one system.
pub(crate) fn one_block() -> Stored {
    let mut script = app_servers();
    script.behaviours = &APP_SERVERS[..2];
    (script.new.compare.blocks, script.new.is_quick) = (1, true);
    (script.new.gates, script.new.question) = (Vec::new(), None);
    script.new.stamps =
        vec!["QUICK: short runs, to see that the plan works and roughly where things lie".to_owned()];
    script.through_store()
}

/// Two systems under two loads of two steps each, compared by p90.
pub(crate) fn two_loads() -> Stored {
    const BEHAVIOURS: [Behaviour; 2] =
        [behaviour("node", "", 600, What::Works), behaviour("php", "", 590, What::Works)];
    let mut script = app_servers();
    (script.behaviours, script.loads) = (&BEHAVIOURS, &["100 users", "75/s"]);
    script.steps = &["front page", "search"];
    script.new.compare =
        evidence::Compare { by: "p90".to_owned(), higher_is_better: false, blocks: 6, ..fixtures::compare() };
    script.new.stamps = vec!["the systems ran on core 0, the generator on core 1".to_owned()];
    script.through_store()
}

/// A result after six of seven blocks, in which a CPU quota held one of two systems back.
fn seven_blocks() -> Stored {
    const BEHAVIOURS: [Behaviour; 2] =
        [behaviour("node", "", 900, What::Works), behaviour("php", "", 600, What::Works)];
    let mut script = app_servers();
    script.behaviours = &BEHAVIOURS;
    script.new.compare.blocks = 7;
    script.more_readings = |place, _| match place.system.as_str() {
        "php" => runs::quota(0.6, 1.93),
        _ => Vec::new(),
    };
    script.through_store()
}

/// One database with two variants. Their transactions have statements, retries, and ends with unknown effect.
pub(crate) fn sql() -> Stored {
    const BEHAVIOURS: [Behaviour; 2] = [
        behaviour("postgres", "synchronous_commit=off", 900, What::Works),
        behaviour("postgres", "synchronous_commit=on", 600, What::Works),
    ];
    let mut script = app_servers();
    (script.behaviours, script.steps, script.is_sql) = (&BEHAVIOURS, &["tpcb-like"], true);
    (script.new.title, script.new.gates) = ("commits".to_owned(), Vec::new());
    script.new.question = Some("What does a commit that lasts cost?".to_owned());
    script.new.compare = evidence::Compare {
        by: "cpu-per-request".to_owned(),
        higher_is_better: false,
        blocks: 6,
        ..fixtures::compare()
    };
    script.through_store()
}

/// The faster system is unavailable for a third of the time.
pub(crate) fn gone() -> Stored {
    const BEHAVIOURS: [Behaviour; 2] =
        [behaviour("frozen", "", 1_500, What::IsGone), behaviour("steady", "", 600, What::Works)];
    let mut script = app_servers();
    script.behaviours = &BEHAVIOURS;
    script.through_store()
}

/// All runs are invalid.
pub(crate) fn all_invalid() -> Stored {
    const BEHAVIOURS: [Behaviour; 2] = [
        behaviour("a", "", 600, What::IsInvalidBefore(9)),
        behaviour("b", "x=1", 500, What::IsInvalidBefore(9)),
    ];
    let mut script = app_servers();
    script.behaviours = &BEHAVIOURS;
    script.new.compare.blocks = 2;
    script.through_store()
}

/// A study of failures, in which nothing is compared.
pub(crate) fn failures() -> Stored {
    let behaviours = [
        behaviour("passenger", "queue=0", 300, What::Works),
        behaviour("passenger", "queue=100", 320, What::Refuses(8)),
        behaviour("unicorn", "timeout=3", 310, What::Refuses(40)),
        behaviour("unicorn", "timeout=4", 310, What::Refuses(50)),
        behaviour("nginx", "", 900, What::Works),
    ];
    let mut script = app_servers();
    script.behaviours = &behaviours;
    (script.new.title, script.new.gates, script.new.compare.blocks) = ("limits".to_owned(), Vec::new(), 1);
    script.new.question = Some("What fails under overload, and what helps?".to_owned());
    script.new.compare.by = "failures".to_owned();
    script.through_store()
}

/// A system near the best whose runs become invalid before the two can be distinguished, and a slow one that is the incumbent.
fn lost_rival() -> Script<'static> {
    const BEHAVIOURS: [Behaviour; 3] = [
        behaviour("nginx", "", 500, What::Works),
        behaviour("haproxy", "", 489, What::IsInvalidFrom(5)),
        behaviour("apache", "", 110, What::Works),
    ];
    let mut script = app_servers();
    (script.behaviours, script.new.compare.blocks) = (&BEHAVIOURS, 24);
    script.new.title = "proxies".to_owned();
    script.new.question = Some("Which proxy is the fastest?".to_owned());
    script.new.compare.procedure =
        evidence::Procedure::Best { incumbent: Some("apache".to_owned()), slices: None };
    script
}

/// Two variants with a valid run each in different blocks, and in `shared` common ones.
pub(crate) fn apart(shared: u32) -> Stored {
    let behaviours = [
        behaviour("postgres", "synchronous_commit=off", 800, What::IsInvalidBefore(3)),
        behaviour("postgres", "synchronous_commit=on", 500, What::IsInvalidFrom(3 + shared)),
        behaviour("mysql", "", 700, What::IsInvalidBefore(9)),
    ];
    let mut script = app_servers();
    script.behaviours = &behaviours;
    (script.new.title, script.new.compare.blocks) = ("commits".to_owned(), 6);
    script.new.question = Some("What does a commit that lasts cost?".to_owned());
    script.through_store()
}

/// The faster system fails one request in forty. With `invalid` above 0, its runs in the blocks below that number are invalid
/// instead.
pub(crate) fn faster_with_faults(invalid: u32) -> Stored {
    let what = if invalid > 0 { What::IsInvalidBefore(invalid) } else { What::Refuses(40) };
    let behaviours = [behaviour("hasty", "", 900, what), behaviour("steady", "", 600, What::Works)];
    let mut script = app_servers();
    script.behaviours = &behaviours;
    script.new.compare.blocks = 12;
    script.through_store()
}

/// Three configurations of one system, one of them without errors.
pub(crate) fn one_without_errors() -> Stored {
    let behaviours = [
        behaviour("puma", "threads=1", 600, What::Works),
        behaviour("puma", "threads=8", 700, What::Refuses(40)),
        behaviour("puma", "threads=16", 800, What::Refuses(20)),
    ];
    let mut script = app_servers();
    script.behaviours = &behaviours;
    script.through_store()
}

/// Three candidates against a baseline, by two metrics.
pub(crate) fn against() -> Stored {
    const BEHAVIOURS: [Behaviour; 4] = [
        behaviour("node", "", 600, What::Works),
        behaviour("php", "", 604, What::Works),
        behaviour("puma", "workers=4", 480, What::Works),
        behaviour("puma", "workers=8", 900, What::Works),
    ];
    let mut script = app_servers();
    script.behaviours = &BEHAVIOURS;
    (script.new.title, script.new.gates) = ("against-node".to_owned(), Vec::new());
    script.new.question = Some("Is anything better than what runs now?".to_owned());
    script.new.compare = evidence::Compare {
        also: vec!["cpu-per-request".to_owned()],
        baseline: Some("node".to_owned()),
        ..fixtures::compare()
    };
    script.through_store()
}

const OF_BASELINE: [&str; 2] = ["throughput>=95% of baseline", "errors<=+0.1% of baseline"];

/// Three configurations with baseline conditions.
fn gated() -> Script<'static> {
    const BEHAVIOURS: [Behaviour; 3] = [
        behaviour("node", "", 600, What::Works),
        behaviour("php", "", 604, What::Works),
        behaviour("puma", "workers=4", 480, What::Works),
    ];
    let mut script = app_servers();
    script.behaviours = &BEHAVIOURS;
    script.new.title = "against-main".to_owned();
    script.new.question = Some("Did the new build cost anything?".to_owned());
    script.new.gates = OF_BASELINE.map(str::to_owned).to_vec();
    script
}

/// Figures of a baseline with eight runs, at about `per_s` requests per second.
fn side(of: &str, per_s: f64) -> BaselineSide {
    let luck = [1.0, 0.99, 0.97, 0.98, 0.96, 0.95, 0.975, 0.985];
    let is_errors = of.starts_with("errors");
    let figures = luck.iter().map(|luck| if is_errors { 0.0 } else { per_s * luck }).collect();
    BaselineSide { of: of.to_owned(), figures, planned: 8 * 2_400, ..BaselineSide::default() }
}

/// A stored baseline with this label.
pub(crate) fn baseline(label: &str) -> Baseline {
    let row = |(system, variant, per_s): (&str, &str, f64)| BaselineRow {
        load: "100 users".to_owned(),
        system: system.to_owned(),
        variant: variant.to_owned(),
        sides: OF_BASELINE.iter().chain(&["throughput"]).map(|of| side(of, per_s)).collect(),
        spent: Vec::new(),
    };
    let run = runs::new_run();
    let found = FoundBaseline {
        id: "s-20261101-090000-cd34".to_owned(),
        title: "against-main".to_owned(),
        started_at_unix_ms: STARTED_AT_UNIX_MS - 86_400_000,
        origin: Origin {
            label: Some(label.to_owned()),
            commit: Some("1a2b3c4d5e6f".to_owned()),
            branch: Some("main".to_owned()),
        },
        tenbin_version: run.tenbin_version.clone(),
        host: run.host.clone(),
        plan_hash: Some("c0ffee5ca1ab1e00".to_owned()),
        loads: vec![BaselineLoad {
            name: "100 users".to_owned(),
            title: "app-servers".to_owned(),
            steps: vec!["fibonacci".to_owned()],
            plan_json: run.plan_json.clone(),
            ..BaselineLoad::default()
        }],
        // One configuration that is equal, one that was faster, and none for the third.
        rows: [("node", "", 590.0), ("php", "", 700.0)].map(row).to_vec(),
    };
    Baseline {
        asked: AskedBaseline::Label(label.to_owned()),
        conditions: OF_BASELINE.map(str::to_owned).to_vec(),
        found: Ok(Box::new(found)),
    }
}

/// One configuration that passes, one that is worse, and one that the baseline does not have.
pub(crate) fn stored_baseline() -> Stored {
    let mut stored = gated().through_store();
    stored.study.baseline = Some(baseline("main"));
    stored
}

/// The first study with its label.
fn no_baseline() -> Stored {
    let mut stored = gated().through_store();
    let found = Err("no stored study of against-main has the label main yet".to_owned());
    stored.study.baseline = Some(Baseline { found, ..baseline("main") });
    stored
}

/// Baseline conditions against another variant of the study, measured in common blocks.
fn gates_of_baseline() -> Stored {
    let mut script = gated();
    script.new.compare = evidence::Compare { baseline: Some("node".to_owned()), ..fixtures::compare() };
    script.through_store()
}

/// A study without any run.
pub(crate) fn not_begun() -> Stored {
    let mut script = app_servers();
    script.done = 0;
    script.through_store()
}

/// A study in which every text is an attack.
pub(crate) fn hostile(attack: &str) -> Stored {
    let mut study = one_block().study;
    let text = || attack.to_owned();
    let new = &mut study.new;
    (new.title, new.question, new.source, new.plan_hash) = (text(), Some(text()), text(), text());
    (new.tenbin_version, new.host) = (text(), json!({"name": attack, "cpu": attack, "system": attack}));
    new.gates = vec![text(), format!("{}: {}", attack.replace(": ", ":"), OF_BASELINE[0])];
    new.stamps = vec![text()];
    study.baseline = Some(Baseline {
        asked: AskedBaseline::File(text()),
        conditions: new.gates.clone(),
        found: Err(text()),
    });
    let attacked = |place: &mut StudyPlace| {
        (place.system, place.load) = (format!("{}{attack}", place.system), text());
        place.knobs = vec![(text(), format!("{attack}{}", place.variant))];
        place.variant = format!("{attack}{}", place.variant);
    };
    new.planned.iter_mut().for_each(attacked);
    // The first run has failed, with output and gates. The other one has figures that count.
    let hostile = runs::hostile(attack);
    for (position, run) in study.runs.iter_mut().enumerate() {
        let (study, mut place) = run.new.place.take().unwrap();
        attacked(&mut place);
        match position {
            0 => *run = hostile.clone(),
            _ => (run.new, run.ending) = (hostile.new.clone(), hostile.ending.clone()),
        }
        run.new.place = Some((study, place));
        if let (0, Some(ending)) = (position, &mut run.ending) {
            ending.verdict = Verdict::Aborted;
        }
    }
    let with_seconds = |run: &Run| {
        let mut full = hostile.clone();
        full.id = run.id.clone();
        full
    };
    let runs = study.runs.iter().map(with_seconds).collect();
    Stored { study, runs }
}
