//! Flags with the conditions for a reply.

use clap::Args;
use plan::{ExpectSpec, Field, escape_braces};

use crate::adhoc::quoted;

/// Flags for checks of replies.
#[derive(Args, Clone, Debug, Default)]
pub(crate) struct ExpectFlags {
    /// Statuses that count as ok: 200,201 or 2xx or 200-299 [default: 200-399]
    #[arg(long, value_name = "LIST", help_heading = "Checks", hide_short_help = true)]
    expect_status: Option<String>,
    /// Text that the body must contain; repeatable
    #[arg(long, value_name = "TEXT", help_heading = "Checks", hide_short_help = true)]
    expect_body: Vec<String>,
    /// Regular expression that the body must match; repeatable
    #[arg(long, value_name = "REGEX", help_heading = "Checks", hide_short_help = true)]
    expect_body_regex: Vec<String>,
    /// Required header, "Name" or "Name: part of value"; repeatable
    #[arg(long, value_name = "HEADER", help_heading = "Checks", hide_short_help = true)]
    expect_header: Vec<String>,
    /// Required size of the body: 1024 or 1KiB..2KiB
    #[arg(long, value_name = "SIZE", help_heading = "Checks", hide_short_help = true)]
    expect_size: Option<String>,
}

impl ExpectFlags {
    fn texts(&self) -> [(Field, &[String]); 5] {
        [
            (Field::EXPECT_STATUS, self.expect_status.as_slice()),
            (Field::EXPECT_BODY, &self.expect_body),
            (Field::EXPECT_BODY_REGEX, &self.expect_body_regex),
            (Field::EXPECT_HEADER, &self.expect_header),
            (Field::EXPECT_SIZE, self.expect_size.as_slice()),
        ]
    }

    /// First of these flags that was given. `None` if there is none.
    pub(crate) fn given(&self) -> Option<&'static str> {
        self.texts().into_iter().find_map(|(field, texts)| (!texts.is_empty()).then_some(field.flag))
    }

    /// Conditions that replies are checked against.
    pub(crate) fn spec(&self) -> ExpectSpec {
        let mut expects = ExpectSpec::default();
        for (field, texts) in self.texts() {
            texts.iter().for_each(|text| expects.write(field, text));
        }
        expects
    }

    /// Conditions as keys of a step's `expect`, with their values in YAML.
    pub(crate) fn keys(&self) -> Vec<(&'static str, String)> {
        let given = self.texts().into_iter().filter(|(_, texts)| !texts.is_empty());
        given.map(|(field, texts)| (field.key, value(field, texts))).collect()
    }
}

fn value(field: Field, texts: &[String]) -> String {
    let listed = |texts: Vec<String>| texts.join(", ");
    match field {
        Field::EXPECT_HEADER => {
            let header = |line: &String| match line.split_once(':') {
                Some((name, part)) => {
                    format!("{}: {}", quoted(name.trim()), quoted(&escape_braces(part.trim())))
                }
                None => format!("{}: null", quoted(line.trim())),
            };
            format!("{{ {} }}", listed(texts.iter().map(header).collect()))
        }
        // Braces on a command line are literal: they name no variable.
        Field::EXPECT_BODY => {
            format!("[ {} ]", listed(texts.iter().map(|text| quoted(&escape_braces(text))).collect()))
        }
        Field::EXPECT_SIZE => listed(texts.iter().map(|text| quoted(text)).collect()),
        Field::EXPECT_STATUS => {
            let statuses = texts.iter().flat_map(|text| text.split(','));
            format!("[ {} ]", listed(statuses.map(|status| quoted(status.trim())).collect()))
        }
        _ => format!("[ {} ]", listed(texts.iter().map(|text| quoted(text)).collect())),
    }
}
