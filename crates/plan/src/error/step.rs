//! Errors in steps, and in how transactions are played.

use super::Spelling;

/// Error in a step or a script.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum StepProblem {
    /// The step has neither a script nor a workload.
    NothingPlayed,
    /// Workload that is named twice.
    #[allow(missing_docs, reason = "which one")]
    PlayedTwice { workload: String },
    /// Style without a workload that has styles.
    NoStyles,
    /// Distribution without a workload that draws random rows.
    NoRowsDrawn,
    /// Variable that no workload has.
    #[allow(missing_docs, reason = "its name in scripts")]
    NoSuchVariable { name: &'static str },
    /// The text is not a variable name with a value.
    #[allow(missing_docs, reason = "what should be the name")]
    NoVariable { name: String },
    /// A script uses a pipeline in the simple query protocol.
    #[allow(missing_docs, reason = "which one")]
    PipelineInSimpleMode { script: String },
    /// A pgbench script reads an undefined variable.
    #[allow(missing_docs, reason = "where in the script; its name; a defined name that is like it")]
    Undefined { place: String, name: String, meant: Option<String> },
    /// A script has an error.
    #[allow(missing_docs, reason = "the number of the script; where in it; what is wrong")]
    Script { number: usize, line: u32, place: String, what: String },
}

impl StepProblem {
    /// Message of the error.
    pub(super) fn what(&self, spelling: Spelling) -> String {
        match self {
            Self::NothingPlayed => "no workload and no script is given".to_owned(),
            Self::PlayedTwice { workload } => format!("{workload} is given twice"),
            Self::NoStyles => "none of the workloads has styles".to_owned(),
            Self::NoRowsDrawn => "none of the workloads draws rows from a distribution".to_owned(),
            Self::NoSuchVariable { .. } => "none of the workloads has this variable".to_owned(),
            Self::NoVariable { name } => {
                format!("{name:?} is not a variable with a value")
            }
            Self::PipelineInSimpleMode { script } => {
                format!("{script} has a pipeline, which the simple query protocol does not support")
            }
            Self::Undefined { name, meant, .. } => {
                let meant = meant.as_ref().map_or(String::new(), |meant| format!("; did you mean :{meant}?"));
                format!("undefined variable :{name}{meant}")
            }
            // The marker of a script error is under a line of the script, which a plan file does not show.
            Self::Script { what, line, .. } => match spelling {
                Spelling::Flags => what.clone(),
                Spelling::Keys => {
                    format!("line {line} of the script: {}", what.lines().next().unwrap_or_default())
                }
            },
        }
    }

    /// Help of the error.
    pub(super) fn help(&self, spelling: Spelling) -> String {
        match self {
            Self::NothingPlayed => {
                "add --workload NAME, such as select-only, or -f FILE with a script in pgbench's language"
                    .to_owned()
            }
            Self::PlayedTwice { workload } => format!("give it once, with a weight, such as {workload}@3"),
            Self::NoRowsDrawn => "remove it; the oltp workloads have it".to_owned(),
            Self::NoSuchVariable { name } => {
                let variable = match spelling {
                    Spelling::Flags => format!("-D {name}=…"),
                    Spelling::Keys => format!("`variables: {{ {name}: … }}`"),
                };
                format!("remove it, or define it for your script with {variable}")
            }
            Self::NoVariable { .. } => {
                let example = spelling.pick_name("-D name=value", "`name: value`");
                format!("write {example}; a name has letters, digits, and _, and does not begin with a digit")
            }
            Self::PipelineInSimpleMode { .. } => spelling
                .pick_name(
                    "add --query-mode extended or --query-mode prepared",
                    "add `mode: extended` or `mode: prepared`",
                )
                .to_owned(),
            Self::Undefined { name, meant, .. } => match meant {
                Some(meant) => format!("write :{meant}, or define it with -D {name}=VALUE"),
                None => format!(
                    "define it with -D {name}=VALUE or \\set {name}; for a column that \\gset stores, add AS {name}; for a colon \
                     that is text, add a space after it"
                ),
            },
            Self::Script { .. } => "correct the script".to_owned(),
            Self::NoStyles => "remove it".to_owned(),
        }
    }
}
