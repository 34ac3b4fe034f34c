//! Random values of each type are stored and read back unchanged, in every query mode.

use std::sync::Arc;

use crate::line::TestClient;
use load::xoroshiro::Xoroshiro;
use servers::{MariaDb, MariaDbSettings, Postgres, PostgresSettings};
use sql::script::{Allow, Language, ScriptSet};
use sql::{Engine, Mode, Settings, TransactionStep};
use wire::Conversation as _;
use wire::Script as _;
use wire::sql::{Login, Secret};

/// Values of each type and mode.
const VALUES: usize = 1_000;
const SEED: u64 = 38;

/// A type of values.
struct Kind {
    /// Name of its column.
    column: &'static str,
    /// Type of the column in PostgreSQL and in MySQL.
    types: [&'static str; 2],
    /// Expressions that read the column in PostgreSQL and in MySQL.
    reads: [&'static str; 2],
    /// Whether a plan passes the value as a number.
    is_number: bool,
    draw: fn(&mut Xoroshiro) -> String,
}

/// Type of texts in MySQL.
const MYSQL_TEXT: &str = "TEXT CHARACTER SET utf8mb4";

/// Draws a number from 0 to `below` - 1.
fn below(random: &mut Xoroshiro, below: u64) -> u64 {
    random.draw() % below
}

fn integer(random: &mut Xoroshiro) -> String {
    match below(random, 20) {
        0 => i32::MIN.to_string(),
        1 => i32::MAX.to_string(),
        2 => "0".to_owned(),
        _ => (random.draw() as i32).to_string(),
    }
}

fn big_integer(random: &mut Xoroshiro) -> String {
    match below(random, 20) {
        0 => i64::MIN.to_string(),
        1 => i64::MAX.to_string(),
        // The first integer that a double cannot hold.
        2 => "9007199254740993".to_owned(),
        _ => (random.draw() as i64 >> below(random, 64)).to_string(),
    }
}

fn decimal(random: &mut Xoroshiro) -> String {
    let sign = if below(random, 2) == 0 { "" } else { "-" };
    let whole = random.draw() >> below(random, 64);
    let text = format!("{sign}{whole}.{:06}", below(random, 1_000_000));
    if text == "-0.000000" { "0.000000".to_owned() } else { text }
}

fn double(random: &mut Xoroshiro) -> String {
    let mantissa = (random.unit() - 0.5) * 2.0;
    let exponent = below(random, 600) as i32 - 300;
    format!("{:e}", mantissa * 10.0_f64.powi(exponent))
}

/// Characters that mean something to a database, a protocol, or a shell, and some of two to four bytes.
fn text(random: &mut Xoroshiro) -> String {
    const SIGNS: [char; 24] = [
        '\'', '"', '\\', '`', '$', ';', ':', '?', '{', '}', '-', '/', '*', '%', '\n', '\t', ' ', '0', 'N',
        'é', '天', '😀', '\u{1}', '=',
    ];
    let length = below(random, 30);
    (0..length).map(|_| SIGNS[below(random, SIGNS.len() as u64) as usize]).collect()
}

fn date(random: &mut Xoroshiro) -> String {
    format!("{:04}-{:02}-{:02}", 1000 + below(random, 9000), 1 + below(random, 12), 1 + below(random, 28))
}

fn moment(random: &mut Xoroshiro) -> String {
    let [hour, minute, second] = [24, 60, 60].map(|most| below(random, most));
    let micros = below(random, 999_999) + 1;
    // PostgreSQL omits trailing zeros of the fraction, and MySQL does not.
    let micros = if micros.is_multiple_of(10) { micros + 1 } else { micros };
    format!("{} {hour:02}:{minute:02}:{second:02}.{micros:06}", date(random))
}

fn time(random: &mut Xoroshiro) -> String {
    let whole = moment(random);
    whole.split_once(' ').map(|(_, time)| time.to_owned()).unwrap()
}

/// A moment that exists once in every time zone, which no change to or from summer time omits or repeats.
fn zoned_moment(random: &mut Xoroshiro) -> String {
    let [year, month, day] = [(1971, 66), (1, 12), (1, 28)].map(|(from, count)| from + below(random, count));
    let [hour, minute, second] = [(5, 17), (0, 60), (0, 60)].map(|(from, count)| from + below(random, count));
    let micros = below(random, 99_999) * 10 + 1;
    format!("{year}-{month:02}-{day:02} {hour:02}:{minute:02}:{second:02}.{micros:06}")
}

fn flag(random: &mut Xoroshiro) -> String {
    below(random, 2).to_string()
}

fn hexadecimal(random: &mut Xoroshiro, bytes: u64) -> String {
    (0..bytes).map(|_| format!("{:02x}", below(random, 256))).collect()
}

fn bytes(random: &mut Xoroshiro) -> String {
    let count = below(random, 200);
    hexadecimal(random, count)
}

fn uuid(random: &mut Xoroshiro) -> String {
    [4, 2, 2, 2, 6].map(|bytes| hexadecimal(random, bytes)).join("-")
}

/// An object in the form in which the servers write it.
fn json(random: &mut Xoroshiro) -> String {
    let text = serde_json::to_string(&text(random)).unwrap();
    format!("{{\"a\": [{}, true, null], \"b\": {{\"c\": {text}}}}}", random.draw() as i32)
}

fn digits(random: &mut Xoroshiro, count: u64) -> String {
    (0..count).map(|_| char::from(b'0' + below(random, 10) as u8)).collect()
}

/// A number of the largest precision and scale that MySQL has.
fn wide_decimal(random: &mut Xoroshiro) -> String {
    let sign = if below(random, 2) == 0 { "" } else { "-" };
    let count = below(random, 34);
    let (first, more, fraction) = (1 + below(random, 9), digits(random, count), digits(random, 30));
    format!("{sign}{first}{more}.{fraction}")
}

/// A number with more digits than any type of fixed width, on both sides of the point.
fn long_decimal(random: &mut Xoroshiro) -> String {
    let counts = [below(random, 600), 1 + below(random, 600)];
    let [whole, fraction] = counts.map(|count| digits(random, count));
    format!("-7{whole}.{fraction}")
}

const fn kind(
    column: &'static str,
    types: [&'static str; 2],
    is_number: bool,
    draw: fn(&mut Xoroshiro) -> String,
) -> Kind {
    Kind { column, types, reads: [column; 2], is_number, draw }
}

const KINDS: [Kind; 16] = [
    kind("i", ["int", "INT"], true, integer),
    kind("b", ["bigint", "BIGINT"], true, big_integer),
    kind("n", ["numeric(30,6)", "DECIMAL(30,6)"], true, decimal),
    kind("w", ["numeric(65,30)", "DECIMAL(65,30)"], true, wide_decimal),
    kind("l", ["numeric", "TEXT"], false, long_decimal),
    kind("f", ["double precision", "DOUBLE"], true, double),
    kind("s", ["text", MYSQL_TEXT], false, text),
    kind("d", ["date", "DATE"], false, date),
    kind("t", ["timestamp", "DATETIME(6)"], false, moment),
    kind("c", ["time", "TIME(6)"], false, time),
    Kind { reads: ["z::timestamp", "z"], ..kind("z", ["timestamptz", "TIMESTAMP(6)"], false, zoned_moment) },
    Kind { reads: ["o::int", "o"], ..kind("o", ["boolean", "BOOLEAN"], false, flag) },
    Kind { reads: ["encode(x, 'hex')", "LOWER(HEX(x))"], ..kind("x", ["bytea", "BLOB"], false, bytes) },
    kind("u", ["uuid", "CHAR(36)"], false, uuid),
    kind("j", ["json", "JSON"], false, json),
    kind("k", ["jsonb", "JSON"], false, json),
];

/// Definition of the table, whose rows are numbered within each mode.
fn table(of: usize) -> String {
    let columns: Vec<String> =
        KINDS.iter().map(|kind| format!("{} {}", kind.column, kind.types[of])).collect();
    format!(
        "CREATE TABLE drawn (mode int, row_number_ int, {}, PRIMARY KEY (mode, row_number_))",
        columns.join(", ")
    )
}

/// Stores a row of values and reads it back into variables.
fn script(of: usize) -> String {
    let joined = |separator: &str, write: &dyn Fn(&Kind) -> String| {
        KINDS.iter().map(write).collect::<Vec<_>>().join(separator)
    };
    format!(
        "INSERT INTO drawn (mode, row_number_, {}) VALUES (:mode, :row, {});\n\
         SELECT {} FROM drawn WHERE mode = :mode AND row_number_ = :row \\gset\n",
        joined(", ", &|kind| kind.column.to_owned()),
        joined(", ", &|kind| match (kind.column, of) {
            ("x", 0) => "decode(:x, 'hex')".to_owned(),
            ("x", _) => "UNHEX(:x)".to_owned(),
            (column, _) => format!(":{column}"),
        }),
        joined(", ", &|kind| format!("{} AS back_{}", kind.reads[of], kind.column)),
    )
}

/// Whether a value that was read back equals the stored one. Doubles may be formatted differently.
fn is_same(kind: &Kind, stored: &str, back: &str) -> bool {
    match kind.column {
        "f" => stored.parse::<f64>().unwrap() == back.parse::<f64>().unwrap_or(f64::NAN),
        _ => stored == back,
    }
}

#[track_caller]
fn assert_round_trips(engine: Engine, login: &Login, port: u16) {
    let of = usize::from(engine == Engine::MySql);
    for (number, (mode_name, mode)) in Mode::NAMES.iter().enumerate() {
        let mut scripts = ScriptSet::new();
        scripts.add("values", script(of).as_bytes(), Language::Extended, Allow::Nothing).unwrap();
        let names = ["mode", "row"].into_iter().chain(KINDS.iter().map(|kind| kind.column));
        let back = KINDS.iter().map(|kind| format!("back_{}", kind.column));
        let bindings: Vec<String> = names.map(str::to_owned).chain(back).collect();
        bindings.iter().for_each(|name| _ = scripts.variable(name));
        let place = |kind: usize| (2 + kind) as u16;
        let numeric = (0..KINDS.len()).filter(|kind| KINDS[*kind].is_number).map(place);
        let settings = Settings {
            mode: *mode,
            bindings,
            numbers: [0, 1].into_iter().chain(numeric).collect(),
            saves: (0..KINDS.len()).map(|kind| (2 + KINDS.len() + kind) as u16).collect(),
            ..Settings::default()
        };
        let step = TransactionStep { name: "step".to_owned(), script: 0, expects: None };
        let login = Arc::new(login.clone());
        let program = sql::on_server(engine, scripts, &[step], settings, login, false, [5; 18]).unwrap();
        let mut line = TestClient::open(program.open(0), port);
        let mut random = Xoroshiro::seed(SEED);
        for row in 0..VALUES {
            let stored: Vec<String> = KINDS.iter().map(|kind| (kind.draw)(&mut random)).collect();
            line.conversation.set(0, number.to_string().as_bytes());
            line.conversation.set(1, row.to_string().as_bytes());
            for (kind, value) in stored.iter().enumerate() {
                line.conversation.set(place(kind), value.as_bytes());
            }
            let reply = line.transact();
            let why = reply.rejection.map(|rejection| line.conversation.explain(rejection));
            assert_eq!(why, None, "{mode_name}, row {row}: {stored:?}");
            let mut back = vec![String::new(); KINDS.len()];
            line.conversation.saved(&mut |variable, value| {
                back[usize::from(variable) - 2 - KINDS.len()] = String::from_utf8_lossy(value).into_owned();
            });
            for ((kind, stored), back) in KINDS.iter().zip(&stored).zip(&back) {
                assert!(
                    is_same(kind, stored, back),
                    "{mode_name}, {}: {stored:?} was read back as {back:?}",
                    kind.types[of]
                );
            }
        }
    }
}

fn login(user: &str, password: &str, database: &str) -> Login {
    Login {
        user: user.to_owned(),
        password: Some(Secret(password.to_owned())),
        database: Some(database.to_owned()),
        ..Login::default()
    }
}

#[test]
fn random_values_are_read_back_from_postgresql() {
    let server = Postgres::start(&PostgresSettings::default()).unwrap();
    server.sql(&table(0)).unwrap();
    let login = login(Postgres::USER, Postgres::PASSWORD, Postgres::DATABASE);
    assert_round_trips(Engine::PostgreSql, &login, server.port());
}

#[test]
fn random_values_are_read_back_from_mariadb() {
    let server = MariaDb::start(&MariaDbSettings::default()).unwrap();
    server.sql(&table(1)).unwrap();
    let login = login(MariaDb::USER, MariaDb::PASSWORD, MariaDb::DATABASE);
    assert_round_trips(Engine::MySql, &login, server.port());
}
