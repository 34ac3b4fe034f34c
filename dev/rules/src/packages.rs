//! Packages of the workspace and their dependencies, from `cargo metadata` and the lock file.

use std::collections::{BTreeMap, BTreeSet};
use std::process::Command;

use serde_json::Value;

use crate::files;

/// Package of the workspace.
#[derive(Clone, Debug)]
pub struct Package {
    /// Package name.
    pub name: String,
    /// Folder, relative to the root.
    pub folder: String,
    /// Package version.
    pub version: String,
    /// Whether the package can be published.
    pub is_published: bool,
    /// Names of its dependencies, without dev-dependencies.
    pub needs: BTreeSet<String>,
}

/// Returns all packages of the workspace, by name.
///
/// # Panics
///
/// If Cargo fails.
pub fn all() -> BTreeMap<String, Package> {
    let packages = metadata(&["--no-deps"]);
    packages.iter().map(package).map(|package| (package.name.clone(), package)).collect()
}

/// Returns the packages of `cargo metadata` with additional arguments, as JSON.
///
/// # Panics
///
/// If Cargo fails.
pub fn metadata(arguments: &[&str]) -> Vec<Value> {
    let output = Command::new(env!("CARGO"))
        .args(["metadata", "--offline", "--format-version", "1"])
        .args(arguments)
        .current_dir(files::root())
        .output()
        .expect("cargo can be started");
    assert!(output.status.success(), "cargo metadata: {}", String::from_utf8_lossy(&output.stderr));
    let metadata: Value = serde_json::from_slice(&output.stdout).expect("cargo metadata prints JSON");
    items(&metadata["packages"]).cloned().collect()
}

fn package(json: &Value) -> Package {
    let text = |key: &str| json[key].as_str().unwrap_or_default().to_owned();
    let needs = items(&json["dependencies"]).filter(|dependency| dependency["kind"].is_null());
    Package {
        name: text("name"),
        folder: folder(&text("manifest_path")),
        version: text("version"),
        is_published: json["publish"].as_array().is_none_or(|registries| !registries.is_empty()),
        needs: needs.filter_map(|dependency| Some(dependency["name"].as_str()?.to_owned())).collect(),
    }
}

fn folder(manifest: &str) -> String {
    let root = format!("{}/", files::root().display());
    manifest.trim_start_matches(&root).trim_end_matches("/Cargo.toml").to_owned()
}

fn items(list: &Value) -> impl Iterator<Item = &Value> {
    list.as_array().into_iter().flatten()
}

/// Returns the transitive dependencies of the given packages, from the lock file. Excludes the given packages themselves.
pub fn closure<'a>(names: impl IntoIterator<Item = &'a String>) -> BTreeSet<String> {
    let needs = locked(&files::read("Cargo.lock"));
    let mut open: Vec<String> = names.into_iter().cloned().collect();
    let mut seen = BTreeSet::new();
    while let Some(name) = open.pop() {
        if seen.insert(name.clone()) {
            open.extend(needs.get(&name).into_iter().flatten().cloned());
        }
    }
    seen
}

/// Returns the direct dependencies of each package in a lock file. All versions of a package count as one.
fn locked(lock: &str) -> BTreeMap<String, BTreeSet<String>> {
    let mut needs: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    let mut name = String::new();
    for line in lock.lines() {
        if let Some(found) = line.strip_prefix("name = ") {
            name = found.trim_matches('"').to_owned();
        } else if let Some(found) = line.strip_prefix(" \"") {
            let dependency = found.trim_end_matches(['"', ',']).split(' ').next().unwrap_or_default();
            needs.entry(name.clone()).or_default().insert(dependency.to_owned());
        }
    }
    needs
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lock_file_lists_direct_dependencies() {
        let lock = "[[package]]\nname = \"a\"\nversion = \"1.0.0\"\ndependencies = [\n \"b\",\n \"c 2.0.0\",\n]\n\n[[package]]\nname = \"b\"\n";
        let needs = locked(lock);
        assert_eq!(needs["a"], ["b", "c"].map(str::to_owned).into());
        assert!(!needs.contains_key("b"));
    }
}
