//! Finds the run or study that a text refers to, and its store.
//!
//! The text is a name, a label, a plan, or a file that `tenbin export` wrote.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use evidence::{Origin, RunId, StudyId};
use plan::nearest_name;
use store::{Store, StoreContent, StoreError};

use crate::arguments::is_server;
use crate::commands::StoreFlag;
use crate::exit::BadArguments;

/// Name of the newest run or study.
const LAST: &str = "last";

/// Store, and the full or abbreviated name of a run or study in it.
pub(crate) struct StoredName {
    pub(crate) store: Store,
    pub(crate) name: String,
}

impl StoredName {
    /// The newest run or study of the store.
    pub(crate) fn last(store: &StoreFlag) -> anyhow::Result<Self> {
        Ok(Self { store: Store::open_existing(&store.path())?, name: LAST.to_owned() })
    }

    /// Resolves a text to a label, the newest study of a plan, an exported file, or the name of a run or study.
    ///
    /// A label or a plan takes precedence over an exported file of the same name. `./FILE` always means the file.
    pub(crate) fn of(text: &str, store: &StoreFlag) -> anyhow::Result<Self> {
        let text = text.trim();
        let is_file = Path::new(text).is_file();
        if is_file && text.starts_with(['.', '/']) {
            return Self::from_file(Path::new(text));
        }
        let store = match Store::open_existing(&store.path()) {
            Ok(store) => store,
            Err(_) if is_file => return Self::from_file(Path::new(text)),
            Err(error) => return Err(error.into()),
        };
        let known = match store.labeled(text)? {
            Some(name) => Some(name),
            None => newest_of_plan(&store, text)?,
        };
        match known {
            Some(name) => Ok(Self { store, name }),
            None if is_file => Self::from_file(Path::new(text)),
            None => Self { store, name: text.to_owned() }.known(),
        }
    }

    /// Returns an error with advice, if no run and no study has the name and advice can be given.
    fn known(self) -> anyhow::Result<Self> {
        let error = match self.is_study() {
            true => self.store.find_study(&self.name).err(),
            false => self.store.find(&self.name).err(),
        };
        let Some(StoreError::UnknownRun { .. } | StoreError::UnknownStudy { .. }) = error else {
            return Ok(self);
        };
        let Some(help) = self.suggestion()? else { return Ok(self) };
        let path = self.store.path().display();
        Err(BadArguments(format!("nothing in {path} is called {:?}\n  help: {help}", self.name)).into())
    }

    fn suggestion(&self) -> anyhow::Result<Option<String>> {
        let name = self.name.as_str();
        if is_server(name) {
            return Ok(Some(
                "this command reads stored results; for running servers, write tenbin URL".to_owned(),
            ));
        }
        let titles: BTreeSet<String> = self.store.studies()?.into_iter().map(|study| study.title).collect();
        let labels: BTreeSet<String> =
            self.store.origins()?.into_values().filter_map(|origin| origin.label).collect();
        let plan = of_plan(name);
        let near = nearest_name(plan, titles.iter().chain(&labels).map(String::as_str).chain([LAST]));
        Ok(near.map(|near| format!("did you mean {near}? `tenbin history` lists all")))
    }

    /// The only run or study of a file.
    pub(crate) fn from_file(path: &Path) -> anyhow::Result<Self> {
        // SQLite would turn an empty file into a store.
        if fs::metadata(path).is_ok_and(|there| there.len() == 0) {
            return Err(StoreError::Foreign { path: path.to_owned() }.into());
        }
        let store = Store::open_existing(path)?;
        let name = match store.only()? {
            StoreContent::Run(run) => run.to_string(),
            StoreContent::Study(study) => study.to_string(),
            StoreContent::Other { runs, studies } => {
                let path = path.display();
                return Err(BadArguments(format!(
                    "{path} holds {runs} runs and {studies} studies, and a file can name only one\n  \
                     help: write one to a file of its own: tenbin export NAME --store {path} -o FILE; tenbin history --store \
                     {path} lists the names"
                ))
                .into());
            }
        };
        Ok(Self { store, name })
    }

    /// Study that is meant, or `None` if a run is meant. "last" also means a study if the newest run belongs to one.
    pub(crate) fn study(&self) -> anyhow::Result<Option<StudyId>> {
        if self.is_study() {
            return Ok(Some(self.store.find_study(&self.name)?));
        }
        if !self.is_last() {
            return Ok(None);
        }
        let newest_run = self.store.runs(1)?.pop();
        Ok(newest_run.and_then(|run| run.place).map(|(study, _)| study))
    }

    /// Run that is meant.
    pub(crate) fn run(&self) -> Result<RunId, StoreError> {
        self.store.find(&self.name)
    }

    /// Build that a run or study measured. Empty if it is unknown.
    pub(crate) fn origin(&self, id: &str) -> Result<Origin, StoreError> {
        Ok(self.store.origins()?.remove(id).unwrap_or_default())
    }

    /// Whether the name belongs to a study.
    pub(crate) fn is_study(&self) -> bool {
        self.name.starts_with(StudyId::PREFIX)
    }

    /// Whether the name refers to the newest run or study.
    pub(crate) fn is_last(&self) -> bool {
        self.name.eq_ignore_ascii_case(LAST)
    }
}

/// Name of the newest study of a plan. The title of a study is the file name of its plan without the extension.
fn newest_of_plan(store: &Store, text: &str) -> anyhow::Result<Option<String>> {
    let of_plan = store.studies()?.into_iter().filter(|study| study.title == of_plan(text));
    Ok(of_plan.max_by_key(|study| study.started_at_unix_ms).map(|study| study.id.to_string()))
}

/// Title of the studies of a plan.
fn of_plan(text: &str) -> &str {
    text.strip_suffix(".yaml").or_else(|| text.strip_suffix(".yml")).unwrap_or(text)
}
