//! Checks that the parts of the HTML page exist, and that they can be embedded in one file.

#![allow(clippy::print_stdout, reason = "a build script speaks to Cargo on stdout")]

use std::path::{Path, PathBuf};

/// Folder of the built page, relative to this crate.
const UI: &str = "../../ui";
/// Parts of the page, each with the texts that would end the element it is embedded in.
const PARTS: [(&str, &[&str]); 3] = [
    ("page.html", &[]),
    ("dist/page.css", &["</style", "<!--"]),
    ("dist/page.js", &["</script", "<script", "<!--"]),
];

fn main() {
    // Cargo sets it for every build script.
    let folder = std::env::var_os("CARGO_MANIFEST_DIR").map(PathBuf::from).unwrap_or_default();
    for (part, forbidden) in PARTS {
        let path = folder.join(UI).join(part);
        println!("cargo::rerun-if-changed={}", path.display());
        if let Err(fault) = check(&path, forbidden) {
            println!("cargo::error=ui/{part}, which the HTML report is made of, {fault}");
        }
    }
}

fn check(path: &Path, forbidden: &[&str]) -> Result<(), String> {
    let text = std::fs::read_to_string(path).map_err(|error| {
        format!(
            "cannot be read: {error}; git restores it, and `make ui` builds it, which needs Node.js 20.19 or later"
        )
    })?;
    let text = text.to_ascii_lowercase();
    match forbidden.iter().find(|word| text.contains(**word)) {
        Some(word) => Err(format!(
            "has {word:?} in it, which would end or change the element that it is put into; write it in another way \
             and build again with `make ui`"
        )),
        None => Ok(()),
    }
}
