//! A load as flags and an equal load as a plan file give one plan, or equal errors with their respective names.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use plan::{Draft, Environment, Fault, Field, FileErrors, LoadSpec, Plan, ScriptSource, SqlSpec, Study};
use proptest::option;
use proptest::prelude::*;
use proptest::sample::select;

const URL: &str = "http://127.0.0.1:8080";

/// Values that apply to any load, both valid and invalid.
const ANY: &[(Field, &[&str])] = &[
    (Field::WARM_UP, &["0s", "1s", "250ms", "soon"]),
    (Field::MEASURED, &["1s", "2m30s", "0s", "5"]),
    (Field::EXTEND, &["0", "2", "11", "x"]),
    (Field::REQUESTS, &["1", "10k", "0", "many"]),
    (Field::TIMEOUT, &["1s", "20s", "0s"]),
    (Field::CONNECT_TIMEOUT, &["500ms", "15s", "0s"]),
    (Field::KEEP_ALIVE, &["false", "true"]),
    (Field::LOG_REQUESTS, &["0", "10", "1M"]),
    (Field::PROFILE, &["true", "false", "dwarf", "yes"]),
    (Field::THREADS, &["1", "3", "0"]),
];

/// Values that apply only to closed loads or only to open ones. Each is an error in the other kind.
const OF_A_MODEL: &[(Field, &[&str])] = &[
    (Field::THINK, &["100ms", "50ms..150ms", "exp:1s", "2s..1s"]),
    (Field::PACING, &["1s", "fast"]),
    (Field::RAMP_UP, &["500ms", "1h"]),
    (Field::THROUGHPUT, &["500/s", "90/min", "0"]),
    (Field::ARRIVALS, &["even", "poisson", "often"]),
    (Field::RAMP_FROM, &["10/s", "0/s", "10x"]),
    (Field::SHED_AFTER, &["1s", "10us", "late"]),
];

/// Values that apply only to databases.
const OF_A_DATABASE: &[(Field, &[&str])] = &[
    (Field::POOL, &["2", "0", "few"]),
    (Field::ROOM_CHECK, &["false", "true"]),
    (Field::LATENCY_LIMIT, &["100ms", "0s"]),
];

/// Values of transactions.
const OF_TRANSACTIONS: &[(Field, &[&str])] = &[
    (Field::MODE, &["simple", "extended", "prepared", "quick"]),
    (Field::MAX_TRIES, &["0", "3", "x"]),
    (Field::VARIABLES, &["a=1", "rows=10", "1a=x"]),
    (Field::SCALE, &["1", "10", "0"]),
    (Field::TABLES, &["1", "4", "5k"]),
    (Field::TABLE_SIZE, &["100", "0"]),
    (Field::RANGE_SIZE, &["7", "0"]),
    (Field::DISTRIBUTION, &["uniform", "zipf:1.1", "zipf:0", "odd"]),
    (Field::ROWS, &["10", "61"]),
    (Field::STYLE, &["multi-row", "autocommit", "slow"]),
];

/// Amounts of load, of three kinds. Stages are `TIME:RATE,…`.
const LOAD_AMOUNTS: &[&[(Field, &[&str])]] = &[
    &[(Field::USERS, &["1", "10", "2k", "0", "1.5"])],
    &[(Field::RATE, &["500/s", "10k/s", "0", "1e9"]), (Field::CONNECTIONS, &["2", "64", "0"])],
    &[(Field::STAGES, &["1s:5/s,2s:10/s", "0s:5/s,10s:5/s", "5s:0/s", "0s:5/s", "5s:fast"])],
    &[(Field::STAGES, &["1s:5/s"]), (Field::RATE, &["5/s"])],
];

type Given = Vec<(Field, &'static str)>;

fn random_subset(all: &[(Field, &'static [&'static str])]) -> impl Strategy<Value = Given> + use<> {
    let maybe = |(field, values): &(Field, &'static [&'static str])| {
        let field = *field;
        option::weighted(0.25, select(*values)).prop_map(move |value| value.map(|value| (field, value)))
    };
    let all: Vec<_> = all.iter().map(maybe).collect();
    all.prop_map(|all| all.into_iter().flatten().collect())
}

fn load_amounts() -> impl Strategy<Value = Given> {
    select(LOAD_AMOUNTS).prop_flat_map(|all| {
        let one = |(field, values): &(Field, &'static [&'static str])| (Just(*field), select(*values));
        all.iter().map(one).collect::<Vec<_>>()
    })
}

fn load() -> impl Strategy<Value = Given> {
    (load_amounts(), random_subset(ANY), random_subset(OF_A_MODEL))
        .prop_map(|(first, any, own)| [first, any, own].concat())
}

fn from_flags(given: &Given) -> Result<Plan, Vec<Fault>> {
    let mut load = LoadSpec::default();
    given.iter().for_each(|(field, text)| load.write(*field, text));
    Draft { url: format!("{URL}/"), load, ..Draft::default() }.check()
}

/// Reads a plan file with the given values, one per line from the fourth line on.
fn from_file(given: &Given) -> Result<Plan, FileErrors> {
    read(&format!("scenario: [ get: / ]\nurl: {URL}\nload:\n{}", lines(given)))
}

/// Reads a plan file with a single load on a single system.
fn read(text: &str) -> Result<Plan, FileErrors> {
    let study = Study::from_bytes(text.as_bytes(), "p.yaml", "p".to_owned(), PathBuf::from("/"), false)?;
    let environment = Environment {
        ports: &[],
        dir: Path::new("/run"),
        tenbin: Path::new("/tenbin"),
        host: std::net::Ipv4Addr::LOCALHOST,
    };
    Ok(study.plan(0, &study.launch(0, &environment)).expect("what was checked is a plan"))
}

fn lines(given: &Given) -> String {
    let line = |(field, text): &(Field, &str)| match *field {
        Field::STAGES => {
            let stages = text.split(',').filter_map(|stage| stage.split_once(':'));
            let stages: Vec<String> =
                stages.map(|(time, to)| format!("{{ for: {time}, to: {to} }}")).collect();
            format!("  stages: [ {} ]\n", stages.join(", "))
        }
        Field::VARIABLES => {
            let (name, value) = text.split_once('=').unwrap_or_default();
            format!("  variables: {{ {name}: {value} }}\n")
        }
        field => format!("  {}: {text}\n", field.key),
    };
    given.iter().map(line).collect()
}

const DATABASE: &str = "postgres://me@127.0.0.1:5432/db?sslmode=disable";

fn transactions_from_flags(workload: &str, load: &Given, sql: &Given) -> Result<Plan, Vec<Fault>> {
    let (mut spec, mut played) = (LoadSpec::default(), SqlSpec::default());
    load.iter().for_each(|(field, text)| spec.write(*field, text));
    sql.iter().for_each(|(field, text)| played.write(*field, text));
    let (url, load, sql) = (DATABASE.to_owned(), spec, played);
    Draft { url, load, sql, played: vec![ScriptSource::Workload(workload.to_owned())], ..Draft::default() }
        .check()
}

fn transactions_from_file(workload: &str, load: &Given, sql: &Given) -> Result<Plan, FileErrors> {
    let sql = if sql.is_empty() { String::new() } else { format!("sql:\n{}", lines(sql)) };
    let start = format!("scenario: [ workload: {workload} ]\nurl: {DATABASE}\n");
    read(&format!("{start}{sql}load:\n{}", lines(load)))
}

/// All of a plan except its title.
fn content(plan: &Plan) -> String {
    let mut json = plan.to_json();
    json["title"] = serde_json::Value::Null;
    let numbers = (&plan.load, &plan.stop, plan.connections(), plan.keep_alive(), plan.endpoint().peer());
    format!("{json:#}\n{numbers:#?}\n{:#?}", plan.scenarios)
}

/// Whether a text has a word that looks like a flag.
fn has_flag(text: &str) -> bool {
    let is_flag = |word: &str| word.starts_with('-') && word.len() > 1;
    text.split([' ', '(', '`', ',']).any(is_flag)
}

/// Fields that errors are about, by their plan keys.
fn error_keys(errors: &[Fault], given: &[(Field, &str)]) -> BTreeSet<&'static str> {
    let of_flag = |flag: &str| given.iter().find(|(field, _)| field.flag == flag).map(|(field, _)| field.key);
    errors.iter().filter_map(|error| of_flag(error.place.split(" and ").next()?)).collect()
}

/// Fields that errors of a file are about, by their plan keys. The given values begin at the line `first`.
fn file_error_keys(errors: &FileErrors, given: &[(Field, &str)], first: usize) -> BTreeSet<&'static str> {
    let lines = errors.list().iter().filter_map(|error| error.place.as_ref()?.line.checked_sub(first));
    lines.filter_map(|line| Some(given.get(line)?.0.key)).collect()
}

fn assert_own_spelling(flags: &[Fault], file: &FileErrors) {
    for error in file.list() {
        assert!(!has_flag(&format!("{} {}", error.what, error.help)), "{error:?}");
    }
    for error in flags {
        assert!(!error.to_string().contains('`'), "{error}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(2_000) })]

    #[test]
    fn requests_as_flags_and_as_file_agree(given in load()) {
        match (from_flags(&given), from_file(&given)) {
            (Ok(flags), Ok(file)) => prop_assert_eq!(content(&flags), content(&file)),
            (Err(flags), Err(file)) => {
                prop_assert_eq!(error_keys(&flags, &given), file_error_keys(&file, &given, 4), "{:?}\n{}", flags, file);
                assert_own_spelling(&flags, &file);
            }
            (flags, file) => prop_assert!(false, "{:?}\n{:?}", flags, file),
        }
    }

    #[test]
    fn transactions_as_flags_and_as_file_agree(
        load in load(), of_a_database in random_subset(OF_A_DATABASE), sql in random_subset(OF_TRANSACTIONS),
        workload in select(&["select-only", "oltp-read-write", "postcodes-insert"][..]),
    ) {
        let load = [load, of_a_database].concat();
        let (flags, file) = (transactions_from_flags(workload, &load, &sql), transactions_from_file(workload, &load, &sql));
        match (flags, file) {
            (Ok(flags), Ok(file)) => prop_assert_eq!(content(&flags), content(&file)),
            (Err(flags), Err(file)) => {
                let all = [&sql[..], &load].concat();
                let (of_flags, first) = (error_keys(&flags, &all), if sql.is_empty() { 3 } else { 4 });
                let of_sql = file_error_keys(&file, &sql, first);
                let of_load = file_error_keys(&file, &load, first + sql.len() + 1);
                // Values of transactions are checked only if every value of the file can be read.
                let of_file: BTreeSet<_> = of_sql.union(&of_load).copied().collect();
                prop_assert!(!of_file.is_empty() && of_file.is_subset(&of_flags), "{:?}\n{}", flags, file);
                assert_own_spelling(&flags, &file);
            }
            (flags, file) => prop_assert!(false, "{:?}\n{:?}", flags, file),
        }
    }
}
