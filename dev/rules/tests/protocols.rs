//! Every protocol in the list is tested and fuzzed. Protocols with their own steps are named only where they are defined.

use rules::{files, tokens};
use wire::Protocol;
use wire::step::{self, OwnSteps};

const SAMPLES_MIN: usize = 10;

#[test]
fn every_protocol_has_samples() {
    for protocol in wire::PROTOCOLS {
        let (name, samples) = (protocol.name, (protocol.samples)().len());
        assert!(samples >= SAMPLES_MIN, "{name} has {samples} samples: give it at least {SAMPLES_MIN}");
    }
}

#[test]
fn every_protocol_in_the_list_gets_hostile_input() {
    let shared = files::read("dev/hostile/src/lib.rs");
    assert!(shared.contains("PROTOCOLS.iter()"));
    assert!(files::read("fuzz/fuzz_targets/protocol.rs").contains("fuzz::begin_protocol()"));
    for protocol in wire::PROTOCOLS {
        let name = format!("\"{}\"", protocol.name);
        assert!(!shared.contains(&name), "{name} is in the list already");
    }
}

/// Protocols that are defined in the folder of another one, because they have the same steps in another format.
const WITHIN: [(&str, &str); 1] = [("couchbase", "memcached")];

/// Module that defines a protocol.
fn home(protocol: &str) -> &str {
    WITHIN.iter().find(|(inner, _)| *inner == protocol).map_or(protocol, |(_, outer)| outer)
}

/// Whether a file defines or lists a protocol.
fn is_home(path: &str, module: &str) -> bool {
    let list = ["crates/wire/src/protocol.rs", "crates/wire/src/lib.rs"];
    let own = format!("crates/wire/src/{}", home(module));
    list.contains(&path) || path == format!("{own}.rs") || path.starts_with(&format!("{own}/"))
}

/// Names by which code can refer to a protocol: its own, its step keys, its schemes, and its noun.
fn names(protocol: &Protocol, own: &OwnSteps) -> Vec<&'static str> {
    let keys = own.keys.iter().map(|key| key.name);
    let schemes = protocol.schemes.iter().map(|scheme| scheme.name);
    keys.chain(schemes).chain([protocol.name, own.noun]).collect()
}

/// Whether the token at an index belongs to a path or a `use`, and is not a variable or a field.
fn is_in_path(code: &[tokens::Token], at: usize) -> bool {
    let is_colon = |at: usize| code.get(at).is_some_and(|token| token.text == ":");
    let opened = code[..at].iter().rev().find(|token| ["use", "mod", ";"].contains(&token.text.as_str()));
    (is_colon(at + 1) && is_colon(at + 2))
        || (at >= 2 && is_colon(at - 1) && is_colon(at - 2))
        || opened.is_some_and(|token| token.text != ";")
}

/// Tokens outside of a protocol's home that name it, as a module or in a string literal.
fn named_by<'a>(code: &'a [tokens::Token], module: &str, names: &[&str]) -> Vec<&'a tokens::Token> {
    let is_doc = |at: usize| at >= 2 && code[at - 2].text == "doc" && code[at - 1].text == "=";
    let is_named = |(at, token): (usize, &'a tokens::Token)| {
        let text = token.text.strip_prefix('"').and_then(|text| text.strip_suffix('"'));
        let is_text = text.is_some_and(|text| {
            let scheme = text.split_once("://").map_or(text, |(scheme, _)| scheme);
            names.contains(&text) || names.contains(&scheme)
        });
        let is_module = token.text == module && is_in_path(code, at);
        (is_module || (is_text && !is_doc(at))).then_some(token)
    };
    code.iter().enumerate().filter_map(is_named).collect()
}

/// Holds for all crates, and has no exceptions.
#[test]
fn protocols_with_further_keys_are_used_only_where_they_are_defined() {
    let with_further = wire::PROTOCOLS.iter().filter(|protocol| protocol.further_keys().is_some());
    for module in with_further.map(|protocol| protocol.name) {
        let files = files::rust().into_iter().filter(|file| {
            let code = tokens::without_tests(&file.text);
            file.is_product()
                && !is_home(&file.path, module)
                && !named_by(&code, module, &[module]).is_empty()
        });
        let using: Vec<String> = files.map(|file| file.path).collect();
        assert!(
            using.is_empty(),
            "ask the protocol of the step or the endpoint instead of {module}: {}",
            using.join(", ")
        );
    }
}

/// A file that does not use `wire` cannot refer to a protocol. There, the name means something else, such as a transport. The folders
/// of databases know how a store is monitored.
#[test]
fn protocols_with_own_steps_are_named_only_where_they_are_defined() {
    let files = files::rust();
    for (protocol, own) in step::owners() {
        let (module, names) = (protocol.name, names(protocol, own));
        let of_wire = format!("crates/wire/src/{}.rs", home(module));
        assert!(files.iter().any(|file| file.path == of_wire), "{module} is not defined in {of_wire}");
        let is_free = |path: &str| is_home(path, module) || is_of_databases(path);
        for file in files.iter().filter(|file| file.is_product() && !is_free(&file.path)) {
            let code = tokens::without_tests(&file.text);
            let is_in_wire = file.package() == Some("wire");
            if !is_in_wire && tokens::lines_of(&code, &["wire", ":", ":"]).is_empty() {
                continue;
            }
            let named = named_by(&code, module, &names);
            assert!(
                named.is_empty(),
                "{} names {module} in line {}: ask the protocol of the step or the endpoint instead",
                file.path,
                named[0].line
            );
        }
    }
}

#[test]
fn finds_every_way_to_name_a_protocol() {
    let named = |code: &str| named_by(&tokens::without_tests(code), "tcp", &["tcp", "raw TCP"]).len();
    for code in [
        "use wire::tcp::Exchange;",
        "use wire::{Protocol, tcp};",
        "fn f(p: &Protocol) -> bool { p.name == wire::tcp::PROTOCOL.name }",
        "fn f(p: &Protocol) -> bool { p.name == \"tcp\" }",
        "const URL: &str = \"tcp://127.0.0.1:9\";",
        "fn f(own: &OwnSteps) -> bool { own.noun == \"raw TCP\" }",
    ] {
        assert_eq!(named(code), 1, "{code}");
    }
    for code in [
        "/// Over raw TCP.\nfn f() {}",
        "fn f() { Endpoint::Tcp(9); }",
        "use a::b; fn f() { let tcp = 1; g(tcp); }",
        "const A: &str = \"http://a\";",
    ] {
        assert_eq!(named(code), 0, "{code}");
    }
}

/// Crates that name a database only in the folders of databases and in the lists of these folders.
const WITHOUT_DATABASE_NAMES: &[&str] = &[
    "evidence",
    "lab",
    "load",
    "machine",
    "progress",
    "proxy",
    "record",
    "runner",
    "simulator",
    "sockets",
    "sql",
    "stats",
    "study",
    "units",
];

/// Parts of identifiers and texts that name a database, in lower case.
const DATABASES: [&str; 5] = ["postgres", "mysql", "mariadb", "sqlite", "innodb"];
/// Prefix of names in the system catalog of PostgreSQL.
const CATALOG: &str = "pg_";

/// Whether a file is in the folder of a database, or lists these folders.
fn is_of_databases(path: &str) -> bool {
    path.ends_with("/databases.rs") || path.contains("/databases/")
}

/// Tokens that name a database, in an identifier or in a string literal.
fn databases_named(code: &[tokens::Token]) -> Vec<&tokens::Token> {
    let is_doc = |at: usize| at >= 2 && code[at - 2].text == "doc" && code[at - 1].text == "=";
    let is_named = |(at, token): (usize, &'_ tokens::Token)| {
        let text = token.text.to_lowercase();
        let is_named = DATABASES.iter().any(|name| text.contains(name)) || token.text.contains(CATALOG);
        is_named && !is_doc(at)
    };
    let named = code.iter().enumerate().filter(|(at, token)| is_named((*at, token)));
    named.map(|(_, token)| token).collect()
}

#[test]
fn databases_are_named_only_in_their_folders_and_lists() {
    let is_clean = |package: Option<&str>| package.is_some_and(|one| WITHOUT_DATABASE_NAMES.contains(&one));
    let mut named = Vec::new();
    for file in files::rust().iter().filter(|file| file.is_product() && is_clean(file.package())) {
        if !is_of_databases(&file.path) {
            let code = tokens::without_tests(&file.text);
            let tokens = databases_named(&code).into_iter();
            named.extend(tokens.map(|token| format!("{}:{}: {}", file.path, token.line, token.text)));
        }
    }
    assert!(
        named.is_empty(),
        "move what names a database into the folder `databases` of its crate, and ask the database of the endpoint:\n{}",
        named.join("\n")
    );
}

/// Whether a file, or a folder above it, is named for one database or for all of them.
fn is_home_of_database(path: &str) -> bool {
    let homes = ["database", "databases", "mysql", "postgres", "sqlite"];
    path.split('/').any(|part| homes.contains(&part.trim_end_matches(".rs")))
}

/// Holds for all crates, and has no exceptions.
#[test]
fn kinds_of_databases_are_named_only_in_files_of_their_names() {
    for file in files::rust().iter().filter(|file| file.is_product() && !is_home_of_database(&file.path)) {
        let code = tokens::without_tests(&file.text);
        for kind in ["PostgreSql", "MySql", "Sqlite"] {
            let lines = tokens::lines_of(&code, &["Engine", ":", ":", kind]);
            assert!(
                lines.is_empty(),
                "{} names {kind} in line {}: ask the database of the endpoint for a property",
                file.path,
                lines[0]
            );
        }
    }
}

/// Holds for all crates, and has no exceptions. Other code asks the load or the kind of the endpoint for a property.
#[test]
fn transactions_of_an_endpoint_are_asked_for_only_where_databases_are() {
    let is_home = |path: &str| is_home_of_database(path) || path == "crates/plan/src/transactions.rs";
    for file in files::rust().iter().filter(|file| file.is_product() && !is_home(&file.path)) {
        let code = tokens::without_tests(&file.text);
        for function in ["at", "in_plan"] {
            let lines = tokens::lines_of(&code, &["Transactions", ":", ":", function]);
            assert!(
                lines.is_empty(),
                "{} asks for transactions in line {}: ask the load or the kind of the endpoint for a property",
                file.path,
                lines[0]
            );
        }
    }
}

#[test]
fn finds_every_way_to_name_a_database() {
    let named = |code: &str| databases_named(&tokens::without_tests(code)).len();
    for code in [
        "fn f(e: Engine) -> bool { e == Engine::MySql }",
        "use wire::postgres;",
        "const A: &str = \"see pg_hba.conf\";",
        "const URL: &str = \"sqlite:a.db\";",
        "const POSTGRESQL: u8 = 1;",
    ] {
        assert_eq!(named(code), 1, "{code}");
    }
    for code in ["/// As PostgreSQL does.\nfn f() {}", "// As MySQL does.\nfn pgbench() {}"] {
        assert_eq!(named(code), 0, "{code}");
    }
}

#[test]
fn every_fuzz_target_is_run() {
    let (manifest, makefile) = (files::read("fuzz/Cargo.toml"), files::read("Makefile"));
    let targets = files::rust().into_iter().filter_map(|file| {
        file.path.strip_prefix("fuzz/fuzz_targets/").map(|name| name.trim_end_matches(".rs").to_owned())
    });
    for name in targets {
        assert!(
            manifest.contains(&format!("name = \"{name}\"")),
            "fuzz/Cargo.toml must list the target {name}"
        );
        let list = makefile.lines().find(|line| line.starts_with("FUZZ_TARGETS")).unwrap_or_default();
        assert!(
            list.split_whitespace().any(|word| word == name),
            "FUZZ_TARGETS in the Makefile must name {name}"
        );
    }
}
