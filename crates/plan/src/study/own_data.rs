//! Own statements and rows of a plan, as `prepare` has them.

use std::sync::Arc;

use load::values::Source;

use super::braced::Braced;

/// Own statements and rows: [`OwnData`] with variables.
#[derive(Clone, Debug)]
pub(crate) struct OwnDataText {
    pub(crate) sql: Vec<SqlFileText>,
    pub(crate) tables: Vec<OwnTable>,
    pub(crate) jobs: u32,
    /// Seed of random rows. `None` if `prepare` has none.
    pub(crate) seed: Option<u64>,
    pub(crate) drop: bool,
}

/// A text of SQL with variables.
#[derive(Clone, Debug)]
pub(crate) struct SqlFileText {
    pub(crate) file: Option<String>,
    pub(crate) text: Braced,
}

/// Own statements and rows of a variant.
#[derive(Clone, Debug, PartialEq)]
pub struct OwnData {
    /// Texts of SQL, in order.
    pub sql: Vec<SqlFile>,
    /// Tables that are filled, in order.
    pub tables: Vec<OwnTable>,
    /// Connections that fill tables in parallel.
    pub jobs: u32,
    /// Seed of random rows.
    pub seed: u64,
    /// Whether existing tables with the names that `sql` creates are dropped first.
    pub drop: bool,
}

/// A text of SQL.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SqlFile {
    /// File in the folder of the plan. `None` for a text of the plan.
    pub file: Option<String>,
    /// One or several statements.
    pub text: String,
}

/// A table that is filled.
#[derive(Clone, Debug, PartialEq)]
pub struct OwnTable {
    /// Name as written.
    pub name: String,
    /// Names of its columns as written.
    pub columns: Vec<String>,
    /// Rows of the table.
    pub rows: OwnRows,
}

/// Rows of a table.
#[derive(Clone, Debug, PartialEq)]
pub enum OwnRows {
    /// Generated rows.
    Drawn {
        /// Number of rows.
        count: u64,
        /// Source of each column, and its share of NULL, from 0 to 1.
        columns: Vec<(Source, f64)>,
    },
    /// Rows of a CSV file, which was checked.
    Csv {
        /// Name of the file.
        file: String,
        /// Contents of the file, with its first line.
        bytes: Arc<[u8]>,
    },
}

impl OwnDataText {
    /// Texts that may have variables.
    pub(crate) fn texts(&self) -> impl Iterator<Item = &Braced> {
        self.sql.iter().map(|sql| &sql.text)
    }

    /// Fills in variables. `seed` is the seed of the plan.
    pub(crate) fn fill(&self, seed: u64, value: impl Fn(&str) -> Option<String>) -> OwnData {
        let text = |sql: &SqlFileText| SqlFile { file: sql.file.clone(), text: sql.text.fill(&value) };
        OwnData {
            sql: self.sql.iter().map(text).collect(),
            tables: self.tables.clone(),
            jobs: self.jobs,
            seed: self.seed.unwrap_or(seed),
            drop: self.drop,
        }
    }

    /// Description for people: `2 texts of SQL, 1000000 rows in items`.
    pub(crate) fn words(&self) -> String {
        let table = |table: &OwnTable| match &table.rows {
            OwnRows::Drawn { count, .. } => format!("{count} rows in {}", table.name),
            OwnRows::Csv { file, .. } => format!("{file} into {}", table.name),
        };
        let texts = match self.sql.len() {
            0 => None,
            1 => Some("1 text of SQL".to_owned()),
            count => Some(format!("{count} texts of SQL")),
        };
        texts.into_iter().chain(self.tables.iter().map(table)).collect::<Vec<_>>().join(", ")
    }
}
