//! Transactions as steps of plans: the script of a step, the rows that it expects, and the values that it saves.

use wire::step::{Step, Text, Unit, Value};

use crate::settings::RowCount;

/// Script that clients run. A file or a workload may end in `@WEIGHT`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ScriptSource {
    /// Path of a file in pgbench's script language.
    File(String),
    /// Name of a built-in workload.
    Workload(String),
    /// Script from the text of a plan, without a weight.
    Text {
        /// Name of the script.
        name: String,
        /// Text of the script.
        text: Vec<u8>,
    },
}

/// A transaction: one run of a script.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SqlStep {
    /// Name in reports if its author gives none.
    pub title: String,
    /// The script.
    pub played: ScriptSource,
    /// Rows that the last statement is expected to return or change. `None` if any number will do.
    pub expects: Option<RowCount>,
    /// Numbers of the variables that the step sets for later steps of the iteration.
    pub saves: Vec<u16>,
}

/// Script that plays a step. `None` if the step has none.
pub fn script_of(step: &dyn Step) -> Option<&ScriptSource> {
    step.downcast::<SqlStep>().map(|step| &step.played)
}

/// Rows that the last statement of a step's script is expected to return or change. `None` if the step has no script.
pub fn expected_rows_of(step: &dyn Step) -> Option<Option<RowCount>> {
    step.downcast::<SqlStep>().map(|step| step.expects)
}

impl Step for SqlStep {
    fn title(&self) -> String {
        self.title.clone()
    }

    /// Empty, because the statements depend on the database and on the query mode.
    fn message(&self) -> &[u8] {
        &[]
    }

    fn record(&self, number: u16) -> Vec<(&'static str, Option<Value>)> {
        let rows = self.expects.map_or(Value::Nothing, |rows| text(rows.to_string()));
        vec![
            ("script", Some(Value::Count(number.into()))),
            ("expect", Some(Value::Table(vec![("rows", rows)]))),
            ("saves", Some(Value::List(self.saves.iter().copied().map(Value::Variable).collect()))),
        ]
    }

    fn is_recorded_as_request(&self) -> bool {
        false
    }

    /// Empty, because the hash of a plan has the texts of all scripts.
    fn identity(&self) -> Option<Vec<u8>> {
        Some(Vec::new())
    }

    fn unit(&self) -> Unit {
        Unit::Transaction
    }

    fn expects(&self) -> Option<String> {
        Some(match self.expects {
            Some(rows) if rows == RowCount::exactly(1) => "a transaction, expects 1 row".to_owned(),
            Some(rows) => format!("a transaction, expects {rows} rows"),
            None => "a transaction".to_owned(),
        })
    }

    fn saves(&self) -> Vec<u16> {
        self.saves.clone()
    }
}

fn text(written: String) -> Value {
    Value::Text(Text { written, template: Vec::new() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn records_number_of_its_script_rows_and_saved_values() {
        let played = ScriptSource::Workload("select-only".to_owned());
        let expects = Some(RowCount { least: 1, most: u64::MAX });
        let step = SqlStep { title: "a".to_owned(), played, expects, saves: vec![4] };
        let rows = Value::Table(vec![("rows", text("at least 1".to_owned()))]);
        let saved = Value::List(vec![Value::Variable(4)]);
        let expected = [("script", Some(Value::Count(3))), ("expect", Some(rows)), ("saves", Some(saved))];
        assert_eq!(step.record(3), expected);
        assert_eq!(step.expects().as_deref(), Some("a transaction, expects at least 1 rows"));
        assert_eq!((step.unit(), step.identity()), (Unit::Transaction, Some(Vec::new())));
    }
}
