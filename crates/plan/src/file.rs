//! Reads the text of a plan file into a study, or into all of its errors.
//!
//! Reading has four steps. [`foreign`] rejects files of other load generators. [`parse`] turns YAML into a [`tree`], in which
//! [`aliases`] renames former keys. [`shape`] checks the tree against the [`tables`] of keys. The modules of the sections then read
//! steps, loads, systems, comparison, events, and gates, in this order. Each adds its errors to the [`findings`] and goes on, so
//! that all errors are reported at once.

mod addresses;
mod aliases;
mod baseline;
mod built_in;
mod compare;
mod condition;
mod connection_strings;
mod data;
mod database;
mod endpoints;
mod errands;
mod errors;
mod events;
mod figures;
mod findings;
mod folder;
mod foreign;
pub(crate) mod form;
pub(crate) mod gates;
mod keys;
mod kinds;
mod loads;
mod missing_plan;
pub(crate) mod near;
mod own_data;
pub(crate) mod own_step;
mod parameters;
mod parse;
mod prepare;
mod processes;
mod proxies;
mod quick;
mod reading;
mod reference;
mod replays;
mod resources;
mod scenario;
mod schema;
mod secret;
mod setting;
mod settings;
mod shape;
mod span;
mod step;
mod step_reader;
mod syntax;
mod systems;
pub(crate) mod tables;
mod tls;
mod tools;
pub(crate) mod tree;
mod url;
mod variables;
mod variants;
mod visits;
mod words;
mod written;
mod ycsb;

use std::env::VarError;
use std::path::{Path, PathBuf};

pub use errors::{FileError, FileErrors, FilePosition};
pub use reference::reference;
pub use replays::log_moment;
pub use schema::schema;

pub(crate) use database::check_url as check_database_url;
pub(crate) use endpoints::Role;
pub(crate) use folder::read_regular;
pub(crate) use keys::{Key, ValueKind};
pub(crate) use own_step::protocol as owner_of_step;
pub(crate) use reading::Reading;
pub(crate) use scenario::Script;
pub(crate) use settings::SqlText;
pub(crate) use span::Span;
pub(crate) use step::{ReadStepOfKind, read_request, read_transaction};
pub(crate) use tree::Node;
pub(crate) use url::check_requests as check_requests_url;
pub use url::without_credentials;

use wire::Secrets;

use crate::check_load::SEED_DEFAULT;
use crate::spec::CompareSpec;
use crate::study::{Experiment, Settings, Study, StudyLoad, System, WholeRuns, experiment_obstacle};
use compare::Compared;
use findings::Findings;
use folder::{Folder, open_plan};
use kinds::Kinds;
use parameters::Parameters;
use quick::Quick;

/// Max size of a plan file in bytes.
const FILE_BYTES_MAX: u64 = 8 * 1024 * 1024;

impl Study {
    /// Reads a plan file and the files that it names, which must be in its folder. `is_quick` applies its section `quick`. Nothing is
    /// started. The returned error lists all errors of the file.
    pub fn read(path: &Path, is_quick: bool) -> Result<Self, FileErrors> {
        let shown = path.display().to_string();
        let refused = |what: String, help: String| {
            let mut findings = Findings::default();
            findings.whole(what, help);
            FileErrors::new(shown.clone(), "", findings)
        };
        let bytes = open_plan(path).and_then(|file| read_regular(file, "the plan", FILE_BYTES_MAX));
        let bytes = bytes.map_err(|(what, help)| refused(what, help))?;
        let folder = path
            .canonicalize()
            .map_err(|error| refused(error.to_string(), "name a file that can be read".to_owned()))?;
        let folder = folder.parent().unwrap_or(Path::new("/")).to_path_buf();
        let title = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        let study = Self::from_bytes(&bytes, &shown, title, folder, is_quick)?;
        Ok(Self { file: Some(path.to_path_buf()), ..study })
    }

    /// Reads a plan from bytes. `shown` is the name of the file in errors, and the folder's path is absolute.
    pub fn from_bytes(
        bytes: &[u8],
        shown: &str,
        title: String,
        folder: PathBuf,
        is_quick: bool,
    ) -> Result<Self, FileErrors> {
        let environment = |name: &str| std::env::var(name);
        Self::from_bytes_in(&environment, bytes, shown, title, folder, is_quick)
    }

    /// Like [`Self::from_bytes`], but takes the values of secrets from `environment`.
    pub fn from_bytes_in(
        environment: &dyn Fn(&str) -> Result<String, VarError>,
        bytes: &[u8],
        shown: &str,
        title: String,
        folder: PathBuf,
        is_quick: bool,
    ) -> Result<Self, FileErrors> {
        let mut findings = Findings::default();
        let source = match text(bytes, &mut findings) {
            Ok(source) => source,
            Err(valid) => return Err(FileErrors::new(shown.to_owned(), valid, findings)),
        };
        let mut reading = Reading {
            source,
            folder: Folder::open(folder),
            findings,
            system: 0,
            kinds: Kinds::default(),
            at_url: Kinds::default(),
            pipeline_max: None,
            environment,
            secrets: Secrets::default(),
            parameters: Parameters::default(),
            logs: replays::ReadLogs::default(),
        };
        let study = study(&mut reading, title, is_quick);
        match study.filter(|_| reading.findings.is_empty()) {
            Some(study) => {
                let warnings = reading.findings.warnings.iter();
                let warnings = warnings.map(|warning| errors::warning(warning, shown, source)).collect();
                Ok(Self { warnings, ..study })
            }
            None => Err(FileErrors::new(shown.to_owned(), source, reading.findings)),
        }
    }
}

/// Decodes UTF-8. The error is the text before the first invalid byte.
fn text<'a>(bytes: &'a [u8], findings: &mut Findings) -> Result<&'a str, &'a str> {
    if bytes.len() as u64 > FILE_BYTES_MAX {
        findings.whole("the file is larger than 8 MiB", "move data to CSV files, and name them under `data`");
        return Err("");
    }
    if bytes.starts_with(&[0xff, 0xfe]) || bytes.starts_with(&[0xfe, 0xff]) {
        findings.whole("the file is UTF-16", "save it as UTF-8");
        return Err("");
    }
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    let (valid, is_whole) = match std::str::from_utf8(bytes) {
        Ok(text) => (text, true),
        Err(error) => (std::str::from_utf8(&bytes[..error.valid_up_to()]).unwrap_or_default(), false),
    };
    if let Some(at) = valid.find('\0') {
        findings.at(Span::new(at, at + 1), "NUL byte in the file", "remove it");
        return Err(valid);
    }
    if !is_whole {
        let at = valid.len();
        findings.at(Span::new(at, at), "the next byte is not UTF-8", "save the file as UTF-8");
        return Err(valid);
    }
    Ok(valid)
}

fn study(reading: &mut Reading<'_>, title: String, is_quick: bool) -> Option<Study> {
    if let Some((what, help)) = foreign::recognize(reading.source) {
        reading.findings.whole(what, help);
        return None;
    }
    let mut root = parse::parse(reading.source, &mut reading.findings)?;
    aliases::resolve(&mut root, &mut reading.findings);
    connection_strings::resolve(&mut root, &mut reading.findings);
    setting::read(&root, &title, is_quick, reading)
}

/// Reads a tree with the values of one setting. `written` is the tree with its parameters.
fn read_setting(
    root: &Node,
    written: &Node,
    title: &str,
    is_quick: bool,
    reading: &mut Reading<'_>,
) -> Option<Study> {
    let root = &check_shape(root, reading)?;
    let figures = figures::read(root, reading);
    // Unused definitions are not reported after other errors, because a misspelling may be their cause.
    let is_sound = reading.findings.is_empty();
    hash_source(is_quick, reading);
    let (seed, has_seed) = seed(root);
    let script = scenario::read(root, is_sound, reading);
    let other = Quick::read(root, reading);
    let mut loads = loads::read(root, written, seed, None, reading);
    loads::check_scenarios(root.get("load").filter(|_| is_sound), &script.scenarios, reading);
    let (mut systems, mut variants) = systems::read(root, is_sound, None, reading);
    let compared = Compared { systems: &systems, variants: &variants, loads: &loads };
    let mut compare = compare::read(root, &compared, None, reading);
    let mut events = events::read(root, &loads, &systems, reading);
    compare::check_events(root, &compared, &events, &compare, reading);
    let gates = gates::read(root.get("gates"), &script.steps, &events, (&loads, &figures), reading);
    let spec = root.get("compare").map(CompareSpec::from_node);
    baseline::check_gates(&gates, spec.as_ref(), &compare, variants.len(), reading);
    parameters::check(root, &systems, is_sound && reading.findings.is_empty(), reading);
    let experiment = experiment(root, &systems, &loads, reading);
    // Both the quick and the full form are checked, regardless of which one will run.
    if let Some(quick) = other.as_ref() {
        let quick_loads = loads::read(root, written, seed, Some(quick), reading);
        let (quick_systems, quick_variants) = systems::read(root, is_sound, Some(quick), reading);
        let compared = Compared { systems: &quick_systems, variants: &quick_variants, loads: &quick_loads };
        let quick_compare = compare::read(root, &compared, Some(quick), reading);
        let changed = events::read_quick(root, quick, &quick_loads, &quick_systems, &events, reading);
        if is_quick {
            (loads, systems, events) = (quick_loads, quick_systems, changed);
            (variants, compare) = (quick_variants, quick_compare);
        }
    }
    check_credentials(root, &script, reading);
    let mut study = Study {
        title: title.to_owned(),
        question: root.text_of("question").map(str::to_owned),
        source: reading.source.to_owned(),
        hash: reading.folder.hash(),
        file: None,
        dir: reading.folder.path.clone(),
        seed,
        has_seed,
        warnings: Vec::new(),
        is_quick,
        experiment,
        loads,
        systems,
        variants,
        compare,
        gates: gates.into_iter().map(|(gate, _)| gate).collect(),
        events,
        pin: compare::pin(root.get("pin"), reading),
        secrets: reading.secrets.clone(),
        figures,
        written: written::read(root, &script.steps, reading),
        script,
        settings: Settings::default(),
        whole: WholeRuns::default(),
    };
    remove_unfit_for_quick(&mut study);
    compare::resolve_interleave(root, study, reading)
}

/// Tree with the steps of its workload and the full names of figures, after its shape was checked. `None` if it is not a mapping.
fn check_shape(root: &Node, reading: &mut Reading<'_>) -> Option<Node> {
    let expanded = ycsb::expanded(root, reading.system, reading);
    let root = figures::named(expanded.as_ref().unwrap_or(root), reading);
    shape::check(&root, &tables::PLAN, reading.parameters.names(), &mut reading.findings);
    if !matches!(root.value, tree::Value::Map(_)) {
        return None;
    }
    check_required_keys(&root, reading);
    Some(root)
}

/// Removes the gates that the loads and blocks of a quick run cannot judge, and an experiment that is not possible with it.
fn remove_unfit_for_quick(study: &mut Study) {
    if !study.is_quick {
        return;
    }
    gates::retain_within(&study.loads, &mut study.gates);
    baseline::remove_undecidable_gates(&study.compare, &mut study.gates);
    study.remove_gates_without_load();
    if study.experiment_obstacle().is_some() {
        study.experiment = None;
    }
}

/// Adds the text of the plan to the hash, and whether the run is quick.
fn hash_source(is_quick: bool, reading: &mut Reading<'_>) {
    reading.folder.note(reading.source.as_bytes());
    reading.folder.note(if is_quick { b"quick" } else { b"" });
}

/// Seed, and whether the plan sets it.
fn seed(root: &Node) -> (u64, bool) {
    let given = root.text_of("seed").and_then(|text| text.parse().ok());
    (given.unwrap_or(SEED_DEFAULT), given.is_some())
}

/// Experiment that follows the study. Skipped if no system or load could be read, because other errors explain that.
fn experiment(
    root: &Node,
    systems: &[System],
    loads: &[StudyLoad],
    reading: &mut Reading<'_>,
) -> Option<Experiment> {
    let entry = root.entry("diagnose")?;
    if let (Some((what, help)), [_, ..], [_, ..]) = (experiment_obstacle(systems, loads), systems, loads) {
        reading.at(entry.key_at, what, help);
    }
    Some(Experiment::default())
}

/// Requires one key of each group that a plan needs. Events need a load that Tenbin makes.
fn check_required_keys(root: &Node, reading: &mut Reading<'_>) {
    let groups: [(&[&str], &str, &str); 2] = [
        (&["scenario", "scenarios", "workload"], "requires `scenario`", "add `scenario: [ get: / ]`"),
        (
            &["url", "systems", "endpoints"],
            "requires `url` or `systems`",
            "add `url: http://127.0.0.1:8080`, or `systems`",
        ),
    ];
    for (keys, what, help) in groups {
        if keys.contains(&"scenario") && loads::need_no_scenario(root) {
            continue;
        }
        let is_given = root.entries().iter().any(|entry| {
            keys.contains(&entry.key.as_str())
                || near::nearest(&entry.key, tables::PLAN.names()).is_some_and(|near| keys.contains(&near))
        });
        if let Some(first) = root.entries().first().filter(|_| !is_given) {
            reading.at(Span::new(first.key_at.start, first.key_at.start), format!("the plan {what}"), help);
        }
    }
    tools::reject_events(root, reading);
}

/// Rejects credentials in steps if the URL has some as well.
fn check_credentials(root: &Node, script: &Script, reading: &mut Reading<'_>) {
    let systems = root.get("systems").map_or(&[][..], Node::entries);
    let mut written =
        root.get("url").into_iter().chain(systems.iter().filter_map(|entry| entry.value.get("url")));
    if written.any(|url| url.items().iter().filter_map(Node::text).any(url::has_credentials)) {
        for at in &script.authorized_at {
            let what = "both the URL and this header contain credentials";
            reading.at(*at, what, "remove the user and the password from the URL");
        }
    }
}
