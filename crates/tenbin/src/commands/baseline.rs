//! Finds the stored baseline of a run or study before anything starts, and copies its figures.

use std::collections::BTreeSet;
use std::path::Path;

use evidence::{
    AskedBaseline, Baseline, BaselineLoad, BaselineRow, FoundBaseline, Origin, Procedure, Run, StudyState,
};
use judge::words::planned_load;
use judge::{ComparedBy, Condition, Eligibility, Setting, baseline, eligibility};
use plan::units::Utc;
use plan::{Find, Plan, StoredBaseline, Study};
use store::{Store, StoreError};

use crate::commands::StoreFlag;
use crate::commands::stored::StoredName;
use crate::exit::BadArguments;
use crate::output;

/// Max stored runs and studies of a label to look at, newest first.
const CANDIDATES_MAX: usize = 50;
/// Max configurations and loads that an error names.
const NAMED_MAX: usize = 3;

/// A load that is about to be measured, and the configurations that run under it.
struct PlannedLoad {
    name: String,
    /// Description of the load, in the form that stored runs have.
    words: String,
    settings: Vec<Setting>,
}

/// The run or study that is about to be measured.
struct PlannedMeasurement {
    /// Title of the study's plan. Empty for a single run.
    title: String,
    loads: Vec<PlannedLoad>,
    /// Names of the steps of a single run.
    steps: Vec<String>,
    conditions: Vec<Condition>,
    metrics: Vec<ComparedBy>,
}

/// A stored run or study that may be the baseline.
enum Candidate {
    Run(Box<Run>),
    Study(Box<evidence::Study>),
}

/// Finds the stored baseline of a study. `None` if its plan names none.
pub(crate) fn of_study(study: &Study, store: &StoreFlag) -> anyhow::Result<Option<Baseline>> {
    let Some(stored) = &study.compare.stored else { return Ok(None) };
    let wanted = PlannedMeasurement::of_study(study);
    let (asked, found) = match stored {
        StoredBaseline::Label(label) => {
            (AskedBaseline::Label(label.clone()), wanted.labeled(label, &store.path())?)
        }
        StoredBaseline::File { name, path } => {
            let named = StoredName::from_file(path)?;
            (AskedBaseline::File(name.clone()), Ok(wanted.named(&named, name)?))
        }
        StoredBaseline::Run(name) => {
            let named = StoredName { store: Store::open_existing(&store.path())?, name: name.clone() };
            (AskedBaseline::Run(name.clone()), Ok(wanted.named(&named, name)?))
        }
    };
    Ok(Some(wanted.baseline(asked, found)))
}

/// Finds the stored baseline of a run. `text` means what it means to every command, except that an unknown name is a label for
/// which nothing is stored yet.
pub(crate) fn of_run(
    plan: &Plan,
    conditions: &[Condition],
    text: &str,
    store: &StoreFlag,
) -> anyhow::Result<Baseline> {
    let wanted = PlannedMeasurement::of_run(plan, conditions);
    let is_label = match Store::open_existing(&store.path()) {
        Ok(store) => store.labeled(text)?.is_some(),
        Err(StoreError::Missing { .. }) => false,
        Err(error) => return Err(error.into()),
    };
    let is_file = Path::new(text).is_file();
    if is_label && !(is_file && text.starts_with(['.', '/'])) {
        return Ok(
            wanted.baseline(AskedBaseline::Label(text.to_owned()), wanted.labeled(text, &store.path())?)
        );
    }
    if is_file {
        let found = wanted.named(&StoredName::from_file(Path::new(text))?, text)?;
        return Ok(wanted.baseline(AskedBaseline::File(text.to_owned()), Ok(found)));
    }
    if is_name(text) {
        let named = StoredName { store: Store::open_existing(&store.path())?, name: text.to_owned() };
        let found = wanted.named(&named, text)?;
        return Ok(wanted.baseline(AskedBaseline::Run(text.to_owned()), Ok(found)));
    }
    if text.contains(['/', '.']) {
        return Err(bad_arguments(
            &format!("--baseline {text}: there is no such file"),
            "write one with tenbin export NAME -o FILE, or name a label or a run",
        ));
    }
    let asked = AskedBaseline::Label(text.to_owned());
    Ok(wanted.baseline(asked, wanted.labeled(text, &store.path())?))
}

/// Prints which baseline is used, or that there is none.
pub(crate) fn announce(baseline: &Baseline) {
    match &baseline.found {
        Ok(_) => output::remark(&format!("baseline: {}", words(baseline))),
        Err(_) => output::warn(&words(baseline)),
    }
}

/// Names the baseline, or the reason why there is none, in a line that is safe to print.
pub(crate) fn words(baseline: &Baseline) -> String {
    let words = match &baseline.found {
        Err(why) => format!("{why}: conditions of the baseline are not judged"),
        Ok(found) => {
            let build = report::build(&found.origin);
            let build = if build.is_empty() { String::new() } else { format!("{build}, ") };
            let at = Utc::from_unix_ms(found.started_at_unix_ms).to_minute();
            format!("{} ({build}{at} UTC); measured at another time, so not paired", found.id)
        }
    };
    report::visible(&words)
}

impl PlannedMeasurement {
    fn of_study(study: &Study) -> Self {
        let settings = |_: usize| -> Vec<Setting> {
            let setting = |variant: &plan::Variant| Setting {
                system: study.systems[variant.system].name.clone(),
                variant: variant.name.clone(),
            };
            study.variants.iter().map(setting).collect()
        };
        let load = |(number, load): (usize, &plan::StudyLoad)| PlannedLoad {
            name: load.name.clone(),
            words: planned_load(
                &study.run_words(number),
                load.run_ns.map(|ns| ns.saturating_sub(load.warm_up_ns)),
                load.warm_up_ns,
            ),
            settings: settings(number),
        };
        let is_compared = study.compare.find == Find::Every;
        Self {
            title: study.title.clone(),
            loads: study.loads.iter().enumerate().map(load).collect(),
            steps: Vec::new(),
            conditions: of_baseline(&study.gates),
            metrics: study.compare.metrics().filter(|_| is_compared).cloned().collect(),
        }
    }

    fn of_run(plan: &Plan, conditions: &[Condition]) -> Self {
        let measured_ns = plan.planned_ns().map(|ns| ns.saturating_sub(plan.warm_up_ns));
        let words = planned_load(&plan.load_words(), measured_ns, plan.warm_up_ns);
        Self {
            title: String::new(),
            loads: vec![PlannedLoad { name: String::new(), words, settings: Vec::new() }],
            steps: plan.steps.iter().map(|step| step.name.clone()).collect(),
            conditions: of_baseline(conditions),
            metrics: Vec::new(),
        }
    }

    /// Whether the command is about to measure a single run.
    fn is_run(&self) -> bool {
        self.title.is_empty()
    }

    fn baseline(&self, asked: AskedBaseline, found: Result<FoundBaseline, String>) -> Baseline {
        let conditions = self.conditions.iter().map(|condition| condition.text.clone()).collect();
        Baseline { asked, conditions, found: found.map(Box::new) }
    }

    /// Newest complete run or study with a label that has a configuration in common, or the reason why there is none.
    fn labeled(&self, label: &str, store: &Path) -> anyhow::Result<Result<FoundBaseline, String>> {
        let what = if self.is_run() { "run".to_owned() } else { format!("study of {}", self.title) };
        let none = || format!("no stored {what} has the label {label} yet");
        let store = match Store::open_existing(store) {
            Ok(store) => store,
            Err(StoreError::Missing { .. }) => return Ok(Err(none())),
            Err(error) => return Err(error.into()),
        };
        let origins = store.origins()?;
        let has_label =
            |id: &str| origins.get(id).is_some_and(|origin| origin.label.as_deref() == Some(label));
        let (candidates, incomplete) = self.candidates(&store, &has_label)?;
        let mut differs = None;
        for candidate in candidates {
            match self.copied(&candidate, &store)? {
                Ok(found) => return Ok(Ok(found)),
                Err(why) => differs = differs.or(Some(why)),
            }
        }
        Ok(Err(match (differs, incomplete) {
            (Some(why), _) => format!("of the label {label}, {why}"),
            (None, 0) => none(),
            (None, 1) => format!("the only stored {what} with the label {label} is not complete"),
            (None, many) => format!("none of {many} stored of the label {label} is a complete {what}"),
        }))
    }

    /// Complete candidates, newest first, and the number of incomplete ones.
    fn candidates(
        &self,
        store: &Store,
        has_label: &dyn Fn(&str) -> bool,
    ) -> anyhow::Result<(Vec<Candidate>, usize)> {
        let (mut candidates, mut incomplete) = (Vec::new(), 0);
        let studies = store.studies()?.into_iter().filter(|study| has_label(study.id.as_str()));
        for study in studies.filter(|study| self.is_run() || study.title == self.title).take(CANDIDATES_MAX) {
            match study.state {
                StudyState::Complete => {
                    candidates.push(Candidate::Study(Box::new(store.load_study(&study.id)?)))
                }
                _ => incomplete += 1,
            }
        }
        if self.is_run() {
            let runs = store.runs(usize::MAX)?.into_iter().filter(|run| has_label(run.id.as_str()));
            for run in runs.take(CANDIDATES_MAX) {
                let run = store.load(&run.id)?;
                match eligibility(&run) {
                    _ if run.new.steps != self.steps => {}
                    Eligibility::Valid => candidates.push(Candidate::Run(Box::new(run))),
                    _ => incomplete += 1,
                }
            }
            candidates.sort_by_key(|candidate| std::cmp::Reverse(candidate.started_at_unix_ms()));
        }
        Ok((candidates, incomplete))
    }

    /// Figures of a named baseline: a run, a study, or the only one of a file.
    fn named(&self, named: &StoredName, text: &str) -> anyhow::Result<FoundBaseline> {
        let candidate = match named.study()? {
            Some(study) => Candidate::Study(Box::new(named.store.load_study(&study)?)),
            None => Candidate::Run(Box::new(named.store.load(&named.run()?)?)),
        };
        if let Some(why) = candidate.incomplete_reason() {
            return Err(bad_arguments(
                &format!("the baseline {text} {why}"),
                "name a complete one (tenbin history)",
            ));
        }
        let help = "name a baseline of the same systems, settings, and loads (tenbin history)";
        self.copied(&candidate, &named.store)?
            .map_err(|why| bad_arguments(&format!("the baseline {text} cannot be used: {why}"), help))
    }

    /// Figures of a candidate, or the reason why it has no comparable ones.
    fn copied(
        &self,
        candidate: &Candidate,
        store: &Store,
    ) -> Result<Result<FoundBaseline, String>, StoreError> {
        let with_seconds = |run: &Run| Ok(store.load(&run.id)?);
        let mut found = candidate.describe(store)?;
        match candidate {
            Candidate::Run(run) => {
                let load = baseline::load_of("", &run.new);
                let place = run.new.place.as_ref().map(|(_, place)| place);
                let Some(wanted) = self.load_of_run(&load, place) else {
                    return Ok(Err(self.differs(&found.id, std::slice::from_ref(&load), &[])));
                };
                let row = baseline::row_of_run(run, &self.conditions, &self.metrics, &with_seconds)?;
                let setting = wanted.settings.first().cloned().unwrap_or_else(empty_setting);
                let setting = place.map_or(setting, Setting::of);
                found.loads = vec![BaselineLoad { name: wanted.name.clone(), ..load }];
                found.rows = vec![self.named_row(row, wanted, setting)];
            }
            Candidate::Study(study) => {
                if matches!(study.new.compare.procedure, Procedure::Capacity(_)) {
                    return Ok(Err(format!("{} is a search for a capacity", found.id)));
                }
                if study.new.compare.procedure.slices().is_some() {
                    return Ok(Err(format!(
                        "{} was made in slices, next to another system, and can be no baseline of whole runs",
                        found.id
                    )));
                }
                let (loads, mut rows) = self.of_stored_study(study, &with_seconds)?;
                let is_wanted = |row: &BaselineRow| self.wants(row, &loads);
                let other: Vec<BaselineRow> = rows.extract_if(.., |row| !is_wanted(row)).collect();
                if rows.is_empty() || self.is_run() && rows.len() > 1 {
                    rows.extend(other);
                    return Ok(Err(self.differs(&found.id, &loads, &rows)));
                }
                (found.loads, found.rows) = (loads, rows);
            }
        }
        Ok(Ok(found))
    }

    fn of_stored_study(
        &self,
        study: &evidence::Study,
        with_seconds: baseline::WithSeconds<'_>,
    ) -> Result<(Vec<BaselineLoad>, Vec<BaselineRow>), StoreError> {
        let names: BTreeSet<&str> = study.new.planned.iter().map(|place| place.load.as_str()).collect();
        let (mut loads, mut rows) = (Vec::new(), Vec::new());
        for name in names {
            let is_of_load = |run: &&Run| run.new.place.as_ref().is_some_and(|(_, place)| place.load == name);
            let Some(run) = study.runs.iter().find(is_of_load) else { continue };
            loads.push(baseline::load_of(name, &run.new));
            rows.extend(baseline::rows_of_study(study, name, &self.conditions, &self.metrics, with_seconds)?);
        }
        Ok((loads, rows))
    }

    /// Whether the command is about to measure the configuration of a stored row under an equal load.
    fn wants(&self, row: &BaselineRow, loads: &[BaselineLoad]) -> bool {
        let Some(stored) = loads.iter().find(|load| load.name == row.load) else { return false };
        let is_setting =
            |setting: &Setting| (&setting.system, &setting.variant) == (&row.system, &row.variant);
        self.loads.iter().any(|load| {
            load.words == stored.words
                && (self.is_run() || load.name == row.load && load.settings.iter().any(is_setting))
        })
    }

    /// Planned load that equals the load of a stored run. `place` is the place of that run in its study. `None` if there is no such
    /// load.
    fn load_of_run(&self, run: &BaselineLoad, place: Option<&evidence::StudyPlace>) -> Option<&PlannedLoad> {
        match (place, self.loads.as_slice()) {
            (Some(place), loads) if !self.is_run() => {
                let has_setting = |load: &&PlannedLoad| load.settings.contains(&Setting::of(place));
                loads
                    .iter()
                    .filter(|load| load.name == place.load && load.words == run.words)
                    .find(has_setting)
            }
            (_, [only]) if only.words == run.words && only.settings.len() <= 1 => Some(only),
            _ => None,
        }
    }

    fn named_row(&self, row: BaselineRow, load: &PlannedLoad, setting: Setting) -> BaselineRow {
        match self.is_run() {
            true => row,
            false => BaselineRow {
                load: load.name.clone(),
                system: setting.system,
                variant: setting.variant,
                ..row
            },
        }
    }

    /// Says what is stored, and what is about to be measured instead.
    fn differs(&self, id: &str, loads: &[BaselineLoad], rows: &[BaselineRow]) -> String {
        let words = |name: &str| loads.iter().find(|load| load.name == name).map_or("", |load| &load.words);
        let mut has: Vec<String> = rows
            .iter()
            .map(|row| {
                let setting = Setting { system: row.system.clone(), variant: row.variant.clone() };
                format!("{} under {}", setting.name(), words(&row.load))
            })
            .collect();
        if has.is_empty() {
            has = loads.iter().map(|load| format!("{} under {}", load.title, load.words)).collect();
        }
        let wants = |load: &PlannedLoad| match load.settings.as_slice() {
            [] => vec![load.words.clone()],
            settings => settings.iter().map(|of| format!("{} under {}", of.name(), load.words)).collect(),
        };
        let wanted: Vec<String> = self.loads.iter().flat_map(wants).collect();
        let what = if self.is_run() { "this run has" } else { "this plan has" };
        format!("{id} measured nothing of the same: it has {}; {what} {}", listed(&has), listed(&wanted))
    }
}

impl Candidate {
    fn started_at_unix_ms(&self) -> i64 {
        match self {
            Self::Run(run) => run.new.started_at_unix_ms,
            Self::Study(study) => study.new.started_at_unix_ms,
        }
    }

    fn incomplete_reason(&self) -> Option<&'static str> {
        match self {
            Self::Study(study) => {
                (study.state != StudyState::Complete).then_some("is a study that is not complete")
            }
            Self::Run(run) => match eligibility(run) {
                Eligibility::Valid => None,
                Eligibility::Invalid => Some("is an invalid run"),
                Eligibility::Failed => Some("is a run whose system failed"),
                Eligibility::CutShort => Some("is a run that was cut short"),
            },
        }
    }

    /// Describes the candidate, without its figures.
    fn describe(&self, store: &Store) -> Result<FoundBaseline, StoreError> {
        let id = match self {
            Self::Run(run) => run.id.to_string(),
            Self::Study(study) => study.id.to_string(),
        };
        let mut origins = store.origins()?;
        let of_study = match self {
            Self::Run(run) => run.new.place.as_ref().and_then(|(study, _)| origins.remove(study.as_str())),
            Self::Study(_) => None,
        };
        let origin: Origin = origins.remove(&id).or(of_study).unwrap_or_default();
        Ok(match self {
            Self::Run(run) => FoundBaseline {
                id,
                title: run.new.title.clone(),
                started_at_unix_ms: run.new.started_at_unix_ms,
                origin,
                tenbin_version: run.new.tenbin_version.clone(),
                host: run.new.host.clone(),
                ..FoundBaseline::default()
            },
            Self::Study(study) => FoundBaseline {
                id,
                title: study.new.title.clone(),
                started_at_unix_ms: study.new.started_at_unix_ms,
                origin,
                tenbin_version: study.new.tenbin_version.clone(),
                host: study.new.host.clone(),
                plan_hash: Some(study.new.plan_hash.clone()),
                ..FoundBaseline::default()
            },
        })
    }
}

/// Whether a text can only be the name of a run or a study.
fn is_name(text: &str) -> bool {
    let text = text.strip_prefix(evidence::StudyId::PREFIX).unwrap_or(text);
    text.eq_ignore_ascii_case("last")
        || text.len() >= 8 && text.bytes().take(8).all(|byte| byte.is_ascii_digit())
}

fn of_baseline(conditions: &[Condition]) -> Vec<Condition> {
    conditions.iter().filter(|condition| condition.of_baseline.is_some()).cloned().collect()
}

fn empty_setting() -> Setting {
    Setting { system: String::new(), variant: String::new() }
}

fn listed(names: &[String]) -> String {
    let more = names.len().saturating_sub(NAMED_MAX);
    let mut listed = names.iter().take(NAMED_MAX).cloned().collect::<Vec<_>>().join("; ");
    if more > 0 {
        listed.push_str(&format!("; and {more} more"));
    }
    report::visible(&listed)
}

fn bad_arguments(what: &str, help: &str) -> anyhow::Error {
    BadArguments(format!("{what}\n  help: {help}")).into()
}
