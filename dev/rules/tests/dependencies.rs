//! Checks licenses, sources, and versions of the crates that are built into Tenbin against `deny.toml`.
//!
//! `make advisories` runs `cargo deny` with these lists, and also checks for security advisories.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use rules::{files, packages};
use serde_json::Value;
use spdx::{Expression, LicenseReq};
use toml_edit::{DocumentMut, Item};

/// Prefix of the source of a crate from a registry.
const REGISTRY: &str = "registry+";

/// Packages of the workspace and their dependencies on the platforms in `deny.toml`, as JSON from Cargo.
static PACKAGES: LazyLock<Vec<Value>> = LazyLock::new(|| {
    let lists = lists();
    let platforms = texts(&lists["graph"]["targets"]).flat_map(|target| ["--filter-platform", target]);
    packages::metadata(&["--locked", "--all-features"].into_iter().chain(platforms).collect::<Vec<_>>())
});

#[test]
fn licences_of_dependencies_are_allowed() {
    let lists = lists();
    let allowed: Vec<LicenseReq> = texts(&lists["licenses"]["allow"])
        .map(|name| {
            let expression =
                Expression::parse(name).unwrap_or_else(|error| panic!("{name} in deny.toml: {error}"));
            let mut licences = expression.requirements();
            licences.next().expect("a licence").req.clone()
        })
        .collect();
    let refused: Vec<String> = dependencies()
        .iter()
        .filter_map(|package| {
            let licence = package["license"].as_str().unwrap_or_default();
            // Old crates write `MIT/Apache-2.0`.
            let is_allowed = Expression::parse(&licence.replace('/', " OR "))
                .is_ok_and(|expression| expression.evaluate(|licence| allowed.contains(licence)));
            (!is_allowed).then(|| format!("{}: {licence:?}", named(package)))
        })
        .collect();
    assert!(refused.is_empty(), "use another crate, or add the licence to deny.toml: {refused:#?}");
}

#[test]
fn dependencies_come_from_allowed_registries() {
    let lists = lists();
    let allowed: Vec<&str> = texts(&lists["sources"]["allow-registry"]).collect();
    let refused: Vec<String> = dependencies()
        .iter()
        .filter(|package| {
            let source = package["source"].as_str().unwrap_or_default();
            source.strip_prefix(REGISTRY).is_none_or(|registry| !allowed.contains(&registry))
        })
        .map(|package| format!("{} from {}", named(package), package["source"]))
        .collect();
    assert!(refused.is_empty(), "add the registry to deny.toml: {refused:#?}");
}

#[test]
fn banned_crates_are_not_built_in() {
    let lists = lists();
    let bans: BTreeMap<&str, &str> = lists["bans"]["deny"]
        .as_array()
        .into_iter()
        .flatten()
        .filter_map(|ban| ban.as_inline_table())
        .filter_map(|ban| Some((ban.get("crate")?.as_str()?, ban.get("reason")?.as_str()?)))
        .collect();
    assert!(!bans.is_empty(), "deny.toml lists banned crates");
    let refused: Vec<String> = dependencies()
        .iter()
        .filter_map(|package| bans.get_key_value(package["name"].as_str()?))
        .map(|(name, reason)| format!("{name}: {reason}"))
        .collect();
    assert!(refused.is_empty(), "{refused:#?}");
}

#[test]
fn dependencies_name_their_versions() {
    let members = PACKAGES.iter().filter(|package| package["source"].is_null());
    let refused: Vec<String> = members
        .flat_map(|member| member["dependencies"].as_array().into_iter().flatten())
        .filter(|needed| needed["path"].is_null() && needed["req"] == "*")
        .map(|needed| needed["name"].to_string())
        .collect();
    assert!(refused.is_empty(), "write a version in Cargo.toml: {refused:#?}");
}

fn lists() -> DocumentMut {
    files::read("deny.toml").parse().expect("deny.toml is TOML")
}

fn texts(list: &Item) -> impl Iterator<Item = &str> {
    list.as_array().into_iter().flatten().filter_map(|value| value.as_str())
}

/// Returns the packages that are not part of the workspace.
fn dependencies() -> Vec<&'static Value> {
    let found: Vec<&Value> = PACKAGES.iter().filter(|package| !package["source"].is_null()).collect();
    assert!(found.len() > 50, "Cargo lists {} dependencies", found.len());
    found
}

fn named(package: &Value) -> String {
    format!(
        "{} {}",
        package["name"].as_str().unwrap_or_default(),
        package["version"].as_str().unwrap_or_default()
    )
}
