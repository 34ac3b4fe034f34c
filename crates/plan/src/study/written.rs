//! Rows that a load writes, which are checked after it.

use super::environment::Launch;
use crate::database::Database;
use crate::fault::Fault;
use crate::plan::Plan;
use crate::system_kind::SystemKind;

/// The section `written` of a plan.
#[derive(Clone, Debug)]
pub(crate) struct WrittenText {
    pub(crate) table: String,
    pub(crate) key: String,
    pub(crate) step: String,
    pub(crate) endpoint: Option<String>,
}

/// Rows that a step inserts, one for each request that ends ok.
#[derive(Clone, Debug)]
pub struct Written {
    /// Databases that have the rows, at least one.
    pub databases: Vec<Database>,
    /// Table: letters, digits, `_`, and `.`.
    pub table: String,
    /// Column with a value that no two rows share: letters, digits, `_`, and `.`.
    pub key: String,
    /// Number of the step.
    pub step: u16,
}

/// The check of a run, with its databases. `None` if the load does not have the step.
pub(super) fn planned(
    text: Option<&WrittenText>,
    plan: &Plan,
    launch: &Launch,
) -> Result<Option<Written>, Vec<Fault>> {
    let Some(text) = text else { return Ok(None) };
    let Some(step) = (0..).zip(&plan.steps).find(|(_, step)| step.name == text.step) else {
        return Ok(None);
    };
    let fault = |what: String, help: &str| vec![Fault::new("written: endpoint", what, help)];
    let (url, further) = match &text.endpoint {
        Some(name) => {
            let known = launch.endpoints.iter().find(|known| known.name == *name).ok_or_else(|| {
                let what = format!("the system `{}` has no endpoint `{name}`", launch.system);
                fault(what, "define it under `endpoints`")
            })?;
            (&known.url, &known.further.urls[..])
        }
        None => match &launch.database {
            Some(database) => (database, &[][..]),
            None => (&launch.url, &launch.further.urls[..]),
        },
    };
    let has_rows = |url: &String| SystemKind::by_url(url).does_answer("written");
    if !std::iter::once(url).chain(further).all(has_rows) {
        let what = format!("`{}` is no database", wire::masking::mask_secrets(url));
        return Err(fault(what, "name the endpoint of the database that has the rows: `endpoint: NAME`"));
    }
    let databases = std::iter::once(url).chain(further).map(|url| Database::read(url));
    Ok(Some(Written {
        databases: databases.collect::<Result<_, _>>()?,
        table: text.table.clone(),
        key: text.key.clone(),
        step: step.0,
    }))
}
