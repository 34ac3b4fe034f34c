//! Origin of a run or study, which is the build under test: a label, and the commit and branch of the working directory.

use std::env;
use std::process::{Command, Stdio};

use clap::Args;
use evidence::Origin;
use store::Store;

use crate::output;

/// Max characters of a label. Longer ones make tables unreadable.
const LABEL_CHARS_MAX: usize = 60;
/// Variables in which CI services name the branch of the commit that they checked out.
const BRANCHES: [&str; 3] = ["GITHUB_HEAD_REF", "GITHUB_REF_NAME", "CI_COMMIT_REF_NAME"];

/// Label of a run or a study.
#[derive(Args, Clone, Debug)]
pub(crate) struct LabelFlag {
    /// Label of the run, such as main; commands take it as a name
    ///
    /// It means the newest run or study with this label. The commit and branch of the working directory are stored, too.
    #[arg(long, value_name = "TEXT", value_parser = label, help_heading = "Results", hide_short_help = true)]
    label: Option<String>,
}

impl LabelFlag {
    /// Stores the origin of a run or study. It only informs people, so an error is a warning and ends nothing.
    pub(crate) fn keep(&self, id: &str, store: &Store) {
        let origin = Origin { label: self.label.clone(), commit: commit(), branch: branch() };
        if origin == Origin::default() {
            return;
        }
        if let Err(error) = store.keep_origin(id, &origin) {
            output::warn(&format!("the label and commit are not stored: {error}"));
        }
    }
}

/// Name that a text means: that of the newest run or study with this label, or else the text itself.
pub(crate) fn named(store: &Store, text: &str) -> anyhow::Result<String> {
    Ok(store.labeled(text)?.unwrap_or_else(|| text.to_owned()))
}

fn label(text: &str) -> Result<String, String> {
    if text.is_empty() || text.chars().count() > LABEL_CHARS_MAX || text.chars().any(char::is_control) {
        return Err(format!("a label has 1 to {LABEL_CHARS_MAX} printable characters"));
    }
    if text == "last" || text.starts_with("s-") {
        return Err("it is the name of a run or a study already; choose another label".to_owned());
    }
    Ok(text.to_owned())
}

fn commit() -> Option<String> {
    git(&["rev-parse", "--short=12", "HEAD"])
}

/// Branch of the working directory, or else of the environment: CI services often check out a commit without its branch.
fn branch() -> Option<String> {
    let from_service =
        || BRANCHES.iter().filter_map(|name| env::var(name).ok()).find(|name| !name.is_empty());
    git(&["branch", "--show-current"]).or_else(from_service)
}

/// First line that git prints. `None` outside of a repository, and without git.
fn git(arguments: &[&str]) -> Option<String> {
    let output =
        Command::new("git").args(arguments).stdin(Stdio::null()).stderr(Stdio::null()).output().ok()?;
    let line = String::from_utf8(output.stdout).ok()?;
    let line = line.lines().next().unwrap_or_default().trim();
    (output.status.success() && !line.is_empty()).then(|| line.to_owned())
}
