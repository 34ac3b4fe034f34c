//! Allowed dependencies between crates. A new dependency needs a line here and a line in `docs/architecture.md`.

use std::collections::{BTreeMap, BTreeSet};

use rules::{files, packages};

/// Allowed dependencies of each crate. In the diagram in `docs/architecture.md`, arrows only point to the left.
const MAY_NEED: &[(&str, &[&str])] = &[
    ("load", &[]),
    ("outcome", &[]),
    ("wire", &["outcome"]),
    ("record", &["outcome"]),
    ("stats", &[]),
    ("lab", &[]),
    ("target", &[]),
    ("servers", &[]),
    ("sql", &["load", "wire"]),
    ("sqlite", &["sql", "wire"]),
    ("replay", &["sql", "wire"]),
    ("sockets", &[]),
    ("engine", &["load", "record", "sockets", "wire"]),
    ("loading", &["engine", "load", "sql", "wire"]),
    ("loadtools", &["outcome"]),
    ("units", &[]),
    ("plan", &["judge", "load", "loadtools", "replay", "sql", "stats", "units", "wire"]),
    ("evidence", &["record", "units"]),
    ("store", &["evidence", "record"]),
    ("progress", &["evidence", "record"]),
    ("judge", &["evidence", "record", "stats", "units"]),
    ("report", &["evidence", "judge", "record", "units"]),
    (
        "runner",
        &[
            "engine",
            "evidence",
            "judge",
            "lab",
            "load",
            "loading",
            "loadtools",
            "plan",
            "progress",
            "record",
            "replay",
            "sql",
            "sqlite",
            "store",
            "wire",
        ],
    ),
    ("study", &["evidence", "judge", "load", "plan", "progress", "stats", "store"]),
    ("proxy", &["record", "sockets"]),
    ("machine", &["sockets", "units"]),
    (
        "tenbin",
        &[
            "evidence", "judge", "lab", "machine", "plan", "progress", "proxy", "replay", "report", "runner",
            "store", "study", "target",
        ],
    ),
    ("simulator", &["load", "record", "stats"]),
    ("fixtures", &["evidence", "record", "store"]),
    ("hostile", &["plan", "record", "replay", "wire"]),
    ("rules", &[]),
    ("harness", &["units"]),
    ("bench-http", &["harness"]),
    ("bench-sql", &["harness", "servers"]),
    ("bench-page", &["evidence", "fixtures", "record", "store"]),
    ("bench-truth", &["fixtures", "harness", "load", "record", "simulator", "stats", "target"]),
    ("bench-why", &["harness"]),
];

fn allowed() -> BTreeMap<String, BTreeSet<String>> {
    let set = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect();
    MAY_NEED.iter().map(|(name, needs)| ((*name).to_owned(), set(needs))).collect()
}

fn actual() -> BTreeMap<String, BTreeSet<String>> {
    let packages = packages::all();
    let ours: BTreeSet<String> = packages.keys().cloned().collect();
    let inner = |needs: &BTreeSet<String>| needs.intersection(&ours).cloned().collect();
    packages.values().map(|package| (package.name.clone(), inner(&package.needs))).collect()
}

#[test]
fn crates_depend_only_on_listed_crates() {
    let (allowed, actual) = (allowed(), actual());
    for (name, needs) in &actual {
        let Some(may) = allowed.get(name) else {
            panic!("the crate {name} is new: give it a line in MAY_NEED and one in docs/architecture.md");
        };
        let new: Vec<_> = needs.difference(may).collect();
        assert!(
            new.is_empty(),
            "{name} now needs {new:?}: move the code to where the knowledge is, or allow the arrow in MAY_NEED \
             and in docs/architecture.md, and say there why"
        );
        let gone: Vec<_> = may.difference(needs).collect();
        assert!(
            gone.is_empty(),
            "{name} no longer needs {gone:?}: take them out of MAY_NEED and docs/architecture.md"
        );
    }
    let missing: Vec<_> = allowed.keys().filter(|name| !actual.contains_key(*name)).collect();
    assert!(missing.is_empty(), "{missing:?} are no longer there: take them out of MAY_NEED");
}

#[test]
fn architecture_document_draws_the_listed_dependencies() {
    let document = files::read("docs/architecture.md");
    let section = document.split("## Arrows").nth(1).expect("docs/architecture.md has a section \"Arrows\"");
    let section = section.split("\n## ").next().unwrap_or_default();
    let rows = section.lines().filter_map(|line| line.strip_prefix("| `"));
    let drawn: BTreeMap<String, BTreeSet<String>> = rows
        .filter_map(|row| {
            let (name, rest) = row.split_once('`')?;
            Some((name.to_owned(), rest.split('`').skip(1).step_by(2).map(str::to_owned).collect()))
        })
        .collect();
    assert_eq!(drawn, allowed(), "left: the table of arrows in docs/architecture.md; right: MAY_NEED");
}

/// Crates that read evidence without the store. SQLite would be on the critical path of their builds.
const WITHOUT_SQLITE: [&str; 4] = ["evidence", "judge", "plan", "report"];

#[test]
fn readers_of_evidence_do_not_link_sqlite() {
    let packages = packages::all();
    for name in WITHOUT_SQLITE {
        let (mut seen, mut next) = (BTreeSet::new(), vec![name]);
        while let Some(crate_name) = next.pop() {
            if !seen.insert(crate_name) {
                continue;
            }
            assert_ne!(crate_name, "rusqlite", "{name} needs SQLite: only `store` and targets may");
            let needs = packages.get(crate_name).map(|package| &package.needs);
            next.extend(needs.into_iter().flatten().map(String::as_str));
        }
        assert!(seen.contains("evidence"), "{name} reads evidence");
    }
}
