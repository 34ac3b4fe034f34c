//! Checks that all listed protocols are tested and fuzzed, and that code does not branch on the kind of a protocol or database.

use rules::{files, packages, tokens};
use wire::Protocol;
use wire::step::{self, StepDefinition};

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

/// Protocols defined in the folder of another protocol, because they have equal steps in another format.
const NESTED_PROTOCOLS: [(&str, &str); 1] = [("couchbase", "memcached")];

/// Returns the module that defines a protocol.
fn home(protocol: &str) -> &str {
    NESTED_PROTOCOLS.iter().find(|(inner, _)| *inner == protocol).map_or(protocol, |(_, outer)| outer)
}

/// Returns true for a file that defines or lists a protocol.
fn is_home(path: &str, module: &str) -> bool {
    let list = ["crates/wire/src/protocol.rs", "crates/wire/src/lib.rs"];
    let own = format!("crates/wire/src/{}", home(module));
    list.contains(&path) || path == format!("{own}.rs") || path.starts_with(&format!("{own}/"))
}

/// Returns the names by which code can refer to a protocol: its own name, its step keys, its schemes, and its noun.
fn names(protocol: &Protocol, own: &StepDefinition) -> Vec<&'static str> {
    let keys = own.keys.iter().map(|key| key.name);
    let schemes = protocol.schemes.iter().map(|scheme| scheme.name);
    keys.chain(schemes).chain([protocol.name, own.noun]).collect()
}

/// Returns true if the token at an index belongs to a path or a `use`, and is not a variable or a field.
fn is_in_path(code: &[tokens::Token], at: usize) -> bool {
    let is_colon = |at: usize| code.get(at).is_some_and(|token| token.text == ":");
    let opened = code[..at].iter().rev().find(|token| ["use", "mod", ";"].contains(&token.text.as_str()));
    (is_colon(at + 1) && is_colon(at + 2))
        || (at >= 2 && is_colon(at - 1) && is_colon(at - 2))
        || opened.is_some_and(|token| token.text != ";")
}

/// Returns the tokens that name a protocol, as a module or in a string literal.
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

/// Applies to all crates, without exceptions.
#[test]
fn protocols_with_extra_keys_are_used_only_where_they_are_defined() {
    let with_further = wire::PROTOCOLS.iter().filter(|protocol| protocol.extra_keys().is_some());
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

/// Skips files that do not use `wire`, where the name has another meaning, such as a transport. Also skips the folders of
/// databases, which know how a store is monitored.
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
        "fn f(own: &StepDefinition) -> bool { own.noun == \"raw TCP\" }",
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

/// Crates that may name a database only in the folders of databases and in the lists of these folders.
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

/// Substrings of identifiers and texts that name a database, in lower case.
const DATABASES: [&str; 5] = ["postgres", "mysql", "mariadb", "sqlite", "innodb"];
/// Prefix of names in the system catalog of PostgreSQL.
const CATALOG: &str = "pg_";

/// Returns true for a file in the folder of a database, or with the list of these folders.
fn is_of_databases(path: &str) -> bool {
    path.ends_with("/databases.rs") || path.contains("/databases/")
}

/// Returns the tokens that name a database, in an identifier or in a string literal.
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

/// Returns true if a file or one of its parent folders is named after a database, or after databases in general.
fn is_home_of_database(path: &str) -> bool {
    let homes = ["database", "databases", "mysql", "postgres", "sqlite"];
    path.split('/').any(|part| homes.contains(&part.trim_end_matches(".rs")))
}

/// Applies to all crates, without exceptions.
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

/// Words for databases in general. As texts, they are plan keys and file extensions, and do not name a kind.
const GENERAL: [&str; 3] = ["sql", "database", "transaction"];

/// Returns the words for protocols and databases in identifiers and texts. Excludes raw TCP, which shares its name with the
/// transport.
fn kind_words() -> Vec<&'static str> {
    let of_protocol = |protocol: &'static Protocol| {
        let schemes = protocol.schemes.iter().map(|scheme| scheme.name);
        schemes.chain([protocol.name])
    };
    let words = wire::PROTOCOLS.iter().flat_map(of_protocol).chain(DATABASES).chain(GENERAL);
    words.filter(|word| *word != wire::tcp::PROTOCOL.name).collect()
}

/// Returns true if a file or one of its parent folders is named after a protocol or a database.
fn is_named_for_kind(path: &str, words: &[&str]) -> bool {
    path.split('/').any(|part| {
        let part = part.trim_end_matches(".rs");
        words.contains(&part) || part == "databases" || part == wire::tcp::PROTOCOL.name
    })
}

/// Types that define protocols, kinds of systems, kinds of endpoints, and kinds of recorded traffic.
const ENTRIES: [&str; 5] = ["Protocol", "StepDefinition", "SystemKind", "EndpointKind", "Traffic"];

/// Returns true if code has a constant of one of the types in [`ENTRIES`], or a list of them.
fn defines_or_lists_kinds(code: &[tokens::Token]) -> bool {
    let text = |at: usize| code.get(at).map_or("", |token| token.text.as_str());
    (0..code.len()).any(|at| {
        let is_constant = ["const", "static"].contains(&text(at)) && text(at + 2) == ":";
        let mut of_type = (at + 3..).map(text).skip_while(|text| ["&", "'", "static"].contains(text));
        is_constant && of_type.next().is_some_and(|of_type| ENTRIES.contains(&of_type))
    })
}

/// Tokens of a file by index. Tokens beyond the end are empty.
struct Code<'a>(&'a [tokens::Token]);

impl Code<'_> {
    fn text(&self, at: usize) -> &str {
        self.0.get(at).map_or("", |token| token.text.as_str())
    }

    fn is(&self, at: usize, texts: &[&str]) -> bool {
        texts.iter().zip(at..).all(|(text, at)| self.text(at) == *text)
    }

    /// Returns true if `==` or `!=` begins at an index.
    fn compares(&self, at: usize) -> bool {
        self.is(at, &["=", "="]) || self.is(at, &["!", "="])
    }

    /// Returns true if an index is within the patterns of `matches!`.
    fn is_matched(&self, at: usize) -> bool {
        let before = (at.saturating_sub(14)..at).rev().map(|at| self.text(at));
        before.take_while(|text| *text != ";").any(|text| text == "matches")
    }

    /// Returns the index of the first token of the path that ends before an index: 3 for `a == b::` and 6.
    fn path_start(&self, at: usize) -> usize {
        let is_of_path = |text: &str| {
            [":", "*", "&"].contains(&text) || text.starts_with(|first: char| first.is_ascii_lowercase())
        };
        (0..at).rev().take_while(|at| is_of_path(self.text(*at))).last().unwrap_or(at)
    }

    /// Returns true if `==` or `!=` precedes or follows the expression from `at` to `end`.
    fn is_compared(&self, at: usize, end: usize) -> bool {
        self.compares(end) || at.checked_sub(2).is_some_and(|before| self.compares(before))
    }

    /// Returns true for an identifier that tests for a kind: `is_http`, `takes_statements`.
    fn is_question(&self, at: usize, words: &[&str]) -> bool {
        let Some((verb, noun)) = self.text(at).split_once('_') else { return false };
        let asks_for_kind = ["is", "are", "has", "takes", "speaks"].contains(&verb) && words.contains(&noun);
        asks_for_kind || (verb == "takes" && noun == "statements")
    }

    /// Returns true for an enum variant named after a kind: `Traffic::Http`. Checks the type's name, because parts of reports and
    /// sources of figures have such variants too.
    fn is_variant(&self, at: usize, words: &[&str]) -> bool {
        let variant = self.text(at);
        let begins_upper = |text: &str| text.starts_with(|first: char| first.is_ascii_uppercase());
        begins_upper(variant)
            && words.contains(&variant.to_lowercase().as_str())
            && at >= 3
            && self.is(at - 2, &[":", ":"])
            && ["Traffic", "Protocol", "Kind", "Engine", "Database", "Load"]
                .into_iter()
                .any(|of_type| self.text(at - 3).ends_with(of_type))
    }

    /// Returns true for a downcast of a step or a load: `step.downcast::<SqlStep>()`, `endpoint.load.downcast()`. Downcasts to a
    /// generic type do not count.
    fn is_downcast(&self, at: usize) -> bool {
        let names_type = self.is(at + 1, &[":", ":", "<"]);
        let is_asked = match names_type {
            true => self.text(at + 4).len() > 1,
            false => at >= 2 && ["load", "step"].contains(&self.text(at - 2)),
        };
        self.text(at) == "downcast" && at >= 1 && self.text(at - 1) == "." && is_asked
    }

    /// Returns true for a comparison of a unit with one of its variants.
    fn is_unit(&self, at: usize) -> bool {
        let units = ["Request", "Requests", "Transaction", "Transactions"];
        self.is(at, &["Unit", ":", ":"])
            && units.contains(&self.text(at + 3))
            && (self.is_compared(self.path_start(at), at + 4) || self.is_matched(at))
    }

    /// Returns true for a check for a definition that only some kinds have: `protocol.own_steps().is_some()`.
    fn is_presence(&self, at: usize) -> bool {
        let parts = ["own_steps", "extra_keys", "protocol", "database", "scripts_json", "words", "sql"];
        ["is_some", "is_none"].contains(&self.text(at))
            && at >= 2
            && self.text(at - 1) == "."
            && parts.contains(&self.text(at - 2))
    }

    /// Returns true for a comparison of a protocol's name: `protocol.name == "tcp"`.
    fn is_compared_name(&self, at: usize) -> bool {
        let is_name = self.is(at, &[".", "name"]) && at >= 1;
        let first = (0..at).rev().take_while(|at| {
            let text = self.text(*at);
            [".", ":", "&", "*"].contains(&text)
                || text.starts_with(|first: char| first.is_ascii_alphabetic())
        });
        let first = first.last().unwrap_or(at);
        let is_of_protocol =
            at >= 1 && (first..at).any(|at| self.text(at).to_lowercase().contains("protocol"));
        is_name && is_of_protocol && self.is_compared(first, at + 2)
    }

    /// Returns true for a comparison of an entry with a constant: `ptr::eq(kind, &SYSTEMS)`.
    fn is_compared_entry(&self, at: usize) -> bool {
        let is_constant =
            |text: &str| text.len() > 1 && text.chars().all(|c| c.is_ascii_uppercase() || c == '_');
        self.is(at, &["ptr", ":", ":", "eq"]) && (at + 4..at + 12).any(|at| is_constant(self.text(at)))
    }

    /// Returns true for a comparison with the name of a kind: `scheme == "http"`, `"https" =>`, `url.starts_with("http://")`.
    fn is_compared_text(&self, at: usize, words: &[&str]) -> bool {
        let text = self.text(at).strip_prefix('"').and_then(|text| text.strip_suffix('"'));
        let Some(name) = text.map(|text| text.trim_end_matches("//").trim_end_matches(':')) else {
            return false;
        };
        let is_pattern =
            self.is(at + 1, &["=", ">"]) || self.text(at + 1) == "|" || self.text(at + 1) == "if";
        let methods = ["starts_with", "strip_prefix", "ends_with", "eq_ignore_ascii_case"];
        words.contains(&name)
            && !GENERAL.contains(&name)
            && (self.is_compared(at, at + 1)
                || is_pattern
                || self.is_matched(at)
                || (at >= 1 && methods.contains(&self.text(at - 1))))
    }
}

/// Returns the lines of code that test for a kind of protocol or database.
fn kind_checks(code: &[tokens::Token], words: &[&str]) -> Vec<usize> {
    let asked = Code(code);
    let does_ask = |at: &usize| {
        let at = *at;
        asked.is_question(at, words)
            || asked.is_variant(at, words)
            || asked.is_downcast(at)
            || asked.is_unit(at)
            || asked.is_presence(at)
            || asked.is_compared_name(at)
            || asked.is_compared_entry(at)
            || asked.is_compared_text(at, words)
            || asked.text(at) == "ENGINE"
            || ["at", "in_plan"]
                .into_iter()
                .any(|function| asked.is(at, &["Transactions", ":", ":", function]))
    };
    (0..code.len()).filter(does_ask).map(|at| code[at].line).collect()
}

/// Returns the names of packages that depend on protocols, or on records of their steps.
fn protocol_aware_packages() -> Vec<String> {
    let known = ["wire", "sql", "replay", "plan", "evidence"];
    let knows = |package: &packages::Package| {
        known.iter().any(|name| package.name == *name || package.needs.contains(*name))
    };
    packages::all().into_values().filter(knows).map(|package| package.name).collect()
}

/// Applies to all files, except those that define or list kinds, or are named after one.
#[test]
fn no_other_code_asks_for_the_kind_of_a_protocol() {
    let (words, knowing) = (kind_words(), protocol_aware_packages());
    let mut asked = Vec::new();
    for file in files::rust().iter().filter(|file| file.is_product()) {
        let knows = file.package().is_some_and(|package| knowing.iter().any(|known| known == package));
        let code = tokens::without_tests(&file.text);
        if knows && !is_named_for_kind(&file.path, &words) && !defines_or_lists_kinds(&code) {
            asked.extend(kind_checks(&code, &words).iter().map(|line| format!("{}:{line}", file.path)));
        }
    }
    assert!(
        asked.is_empty(),
        "add what the caller needs as a property to the entry of the protocol, to the step, or to the load, and ask for that:\n{}",
        asked.join("\n")
    );
}

#[test]
fn finds_every_way_to_ask_for_a_kind() {
    let words = kind_words();
    let count = |code: &str| kind_checks(&tokens::without_tests(code), &words).len();
    for code in [
        "fn f(traffic: &Traffic) -> bool { traffic.is_http() }",
        "fn f(url: &str) -> bool { plan::takes_statements(url) }",
        "fn f(load: &Load) -> bool { load.has_database() }",
        "fn f(step: &Node) -> bool { sql::is_transaction(step) }",
        "fn f(traffic: Traffic) { match traffic { Traffic::Sql(engine) => g(engine), _ => {} } }",
        "fn f(step: &dyn Step) -> bool { step.downcast::<SqlStep>().is_some() }",
        "fn f(endpoint: &Endpoint) -> Option<&Requests> { endpoint.load.downcast() }",
        "fn f(step: &dyn Step) -> bool { step.unit() == Unit::Transaction }",
        "fn f(unit: &Unit) -> bool { *unit != wire::step::Unit::Request }",
        "fn f(unit: Unit) -> bool { matches!(unit, Unit::Transaction) }",
        "fn f(unit: Unit) -> bool { Unit::Transactions == unit }",
        "fn f(protocol: &Protocol) -> bool { protocol.own_steps().is_some() }",
        "fn f(load: &dyn EndpointLoad) -> bool { load.database().is_none() }",
        "fn f(role: &Role) -> bool { role.sql.is_some() }",
        "fn f(protocol: &Protocol, name: &str) -> bool { protocol.name == name }",
        "fn f(name: &str) -> bool { name == wire::mysql::PROTOCOL.name }",
        "fn f(kind: &SystemKind) -> bool { std::ptr::eq(kind, &database::SYSTEMS) }",
        "fn f(scheme: &str) -> bool { scheme == \"http\" }",
        "fn f(scheme: &str) -> bool { matches!(scheme, \"https\") }",
        "fn f(scheme: &str) -> u8 { match scheme { \"redis\" => 1, _ => 0 } }",
        "fn f(url: &str) -> bool { url.starts_with(\"postgres://\") }",
        "fn f(engine: Engine) -> bool { engine == mysql::ENGINE }",
        "fn f(plan: &Plan) -> usize { Transactions::in_plan(plan).count() }",
    ] {
        assert_eq!(count(code), 1, "{code}");
    }
    for code in [
        "fn f(traffic: &Traffic) -> bool { traffic.has_sessions }",
        "fn f(step: &dyn Step) -> Option<&ScriptSource> { sql::script_of(step) }",
        "fn f<T: Step>(step: &dyn Step) -> Option<&T> { step.downcast::<T>() }",
        "fn f(part: Part) -> bool { matches!(part, Part::Database(_)) }",
        "fn f(key: &str) -> bool { key == \"sql\" }",
        "fn f(unit: Unit) -> &'static str { unit.noun() }",
        "fn f(one: Unit, other: Unit) -> bool { one == other }",
        "fn f(protocol: &Protocol) -> Option<LogIn> { protocol.steps()?.log_in }",
        "fn f(kind: &SystemKind, other: &SystemKind) -> bool { std::ptr::eq(kind, other) }",
        "const NAME: &str = \"postgres\";",
        "fn f(endpoint: Endpoint) -> bool { matches!(endpoint, Endpoint::Tcp(_)) }",
    ] {
        assert_eq!(count(code), 0, "{code}");
    }
}

#[test]
fn files_of_kinds_are_found_by_their_entries() {
    let defines = |code: &str| defines_or_lists_kinds(&tokens::without_tests(code));
    assert!(defines("pub(crate) static SYSTEMS: SystemKind = SystemKind {};"));
    assert!(defines("const KINDS: [&SystemKind; 2] = [&requests::SYSTEMS, &database::SYSTEMS];"));
    assert!(defines("pub const PROTOCOLS: &[Protocol] = &[];"));
    assert!(!defines("pub(crate) struct Role { kind: &'static SystemKind }"));
    assert!(!defines("fn f(kind: &'static SystemKind) {}"));
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
