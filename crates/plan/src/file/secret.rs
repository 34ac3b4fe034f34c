//! Reads `{env.NAME}`: secrets in environment variables, which the plan only names.

use std::env::VarError;

use wire::Secrets;

use super::reading::Reading;
use super::span::Span;

/// Prefix of a secret's name. The name of the environment variable follows.
const ENV: &str = "env.";
/// Reserved name. A source of data with this name would hide the secrets.
pub(crate) const RESERVED: &str = "env";

/// Whether a name in braces refers to a secret.
pub(crate) fn is_secret_name(name: &str) -> bool {
    name.starts_with(ENV)
}

impl Reading<'_> {
    /// Looks up the value of a secret. `place` gives the position of its name if it is in another file.
    pub(crate) fn secret(&mut self, at: Span, name: &str, place: &str) {
        let Some(variable) = name.strip_prefix(ENV) else { return };
        if self.secrets.get(name).is_some() || self.findings.is_full() || self.findings.has_at(at) {
            return;
        }
        let (what, help) = match (self.environment)(variable) {
            Ok(value) if value.len() > Secrets::BYTES_MAX => {
                ("is longer than 4 KiB".to_owned(), "set it to a shorter value".to_owned())
            }
            Ok(value) if value.is_empty() => {
                ("is empty".to_owned(), format!("set it: {variable}=… tenbin run PLAN"))
            }
            Ok(value) if value.len() < Secrets::BYTES_MIN => {
                let what = format!(
                    "is shorter than {} bytes: results could not be kept free of it",
                    Secrets::BYTES_MIN
                );
                (what, "set it to a longer value, or write it in the plan if it is not secret".to_owned())
            }
            Ok(value) => return self.secrets.add(name, &value),
            Err(VarError::NotPresent) => {
                ("is not set".to_owned(), format!("set it: {variable}=… tenbin run PLAN"))
            }
            Err(VarError::NotUnicode(_)) => {
                ("is not UTF-8".to_owned(), "set it to a text in UTF-8".to_owned())
            }
        };
        self.at(at, format!("{place}the environment variable `{variable}` {what}"), help);
    }

    /// Reports a secret in a text that others can see.
    pub(crate) fn report_exposed(&mut self, at: Span, name: &str) {
        let variable = name.strip_prefix(ENV).unwrap_or(name);
        let what = format!(
            "{{{name}}} is a secret, and this text is visible to others, in the list of processes or in results"
        );
        let help = format!("pass it to the system in `env: {{ {variable}: \"{{{name}}}\" }}`, or in `files`");
        self.at(at, what, help);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::file::findings::Findings;
    use crate::file::folder::Folder;

    #[test]
    fn looks_up_value_once_and_reports_unusable_ones() {
        let environment = |name: &str| match name {
            "GOOD" => Ok("s3cr3t-value".to_owned()),
            "SHORT" => Ok("abc".to_owned()),
            "EMPTY" => Ok(String::new()),
            "LONG" => Ok("x".repeat(Secrets::BYTES_MAX + 1)),
            "BYTES" => Err(VarError::NotUnicode("\u{fffd}".into())),
            _ => Err(VarError::NotPresent),
        };
        let mut reading = Reading {
            source: "",
            folder: Folder::open("/".into()),
            findings: Findings::default(),
            system: 0,
            kinds: super::super::kinds::Kinds::default(),
            at_url: super::super::kinds::Kinds::default(),
            pipeline_max: None,
            environment: &environment,
            secrets: Secrets::default(),
            parameters: super::super::parameters::Parameters::default(),
            logs: super::super::replays::ReadLogs::default(),
        };
        for (number, name) in
            ["GOOD", "SHORT", "EMPTY", "LONG", "BYTES", "NONE", "GOOD"].into_iter().enumerate()
        {
            reading.secret(Span::new(number, number), &format!("env.{name}"), "");
        }
        assert_eq!(reading.secrets.get("env.GOOD"), Some("s3cr3t-value"));
        let what: Vec<&str> = reading.findings.list.iter().map(|finding| finding.what.as_str()).collect();
        assert_eq!(
            what,
            [
                "the environment variable `SHORT` is shorter than 4 bytes: results could not be kept free of it",
                "the environment variable `EMPTY` is empty",
                "the environment variable `LONG` is longer than 4 KiB",
                "the environment variable `BYTES` is not UTF-8",
                "the environment variable `NONE` is not set",
            ]
        );
    }
}
