//! `/`: lists the endpoints and the current settings.

use super::{Endpoint, Work, endpoints};
use crate::settings::Settings;
use std::fmt::Write;

pub(super) const ENDPOINT: Endpoint = Endpoint {
    path: "/",
    sentence: "Lists the endpoints and the settings in force.",
    example: "/",
    methods: &["GET", "HEAD"],
    keys: &[],
    prepare: |_| Ok(Work::Help),
};

/// Formats the help page.
pub(crate) fn page(settings: &Settings) -> String {
    let mut page = String::from("A server whose truth is known.\n\nEndpoints\n");
    for Endpoint { path, sentence, example, methods, .. } in endpoints() {
        // Writing to a String cannot fail.
        let _ = writeln!(page, "  {path}  ({})\n    {sentence}\n    example: {example}", methods.join(", "));
    }
    let _ = writeln!(page, "\nKnobs\n{settings:#?}");
    page
}
