//! `--resume`: selects the study to resume.

use clap::Args;
use evidence::StudyId;

/// The study to resume.
#[derive(Args, Clone, Debug)]
pub(crate) struct ResumeFlag {
    /// Resume the newest interrupted study of this plan, or the named one
    #[arg(long, value_name = "STUDY", num_args = 0..=1, default_missing_value = "", value_parser = study_name)]
    resume: Option<String>,
}

impl ResumeFlag {
    /// Name that was given. Empty for the newest study, `None` without the flag.
    pub(crate) fn name(&self) -> Option<&str> {
        self.resume.as_deref()
    }
}

/// Checks that the value is the name of a study, because `--resume PLAN` would take the plan for one.
fn study_name(text: &str) -> Result<String, String> {
    if text.is_empty() || text.starts_with(StudyId::PREFIX) {
        return Ok(text.to_owned());
    }
    Err(format!("the name of a study begins with {}; write the plan before --resume", StudyId::PREFIX))
}
