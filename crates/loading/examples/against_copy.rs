//! Time to generate and load rows of a plan, next to a COPY of the same rows from a file of the server.
//!
//! `cargo run --release -p loading --example against_copy -- [ROWS] [ROUNDS]`

use std::io::{self, Write};
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

use engine::{Endpoint, Peer};
use load::values::Source;
use loading::{
    Database, DatabaseLocation, DrawnColumn, Observer, OwnData, OwnRows, OwnTable, SqlText, load_own_data,
};
use servers::{Postgres, PostgresSettings};
use sql::Engine;
use wire::sql::{Login, Secret};

const CREATE: &str = "CREATE TABLE items (id bigint, owner int, amount int, word text, code text)";

/// Times at which stages began.
#[derive(Debug, Default)]
struct Stages(Mutex<Vec<(String, Instant)>>);

impl Observer for Stages {
    fn stage(&self, words: &str) {
        let mut stages = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        stages.push((words.to_owned(), Instant::now()));
    }
}

impl Stages {
    /// Time of a stage, in seconds.
    fn took_s(&self, stage: &str) -> Option<f64> {
        let all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let at = all.iter().position(|(words, _)| words == stage)?;
        Some((all.get(at + 1)?.1 - all[at].1).as_secs_f64())
    }
}

fn rows(count: u64) -> OwnRows {
    let column = |source, seed| DrawnColumn { source, null_share: 0.0, seed };
    let columns = vec![
        column(Source::Sequence { from: 1, until: None, by: 1 }, 1),
        column(Source::Uniform { min: 1, max: 5_000 }, 2),
        column(Source::Zipf { min: 1, max: 1_000, exponent: 1.0, is_scattered: false }, 3),
        column(Source::Text { length: 12, alphabet: "0123456789abcdefghijklmnopqrstuvwxyz" }, 4),
        column(Source::Uuid, 5),
    ];
    OwnRows::drawn(count, columns)
}

fn database(server: &Postgres) -> Database {
    let login = Login {
        user: Postgres::USER.into(),
        password: Some(Secret(Postgres::PASSWORD.into())),
        database: Some("postgres".into()),
        ..Login::default()
    };
    let peer = Peer::of(Endpoint::Tcp(SocketAddr::from(([127, 0, 0, 1], server.port()))), None);
    let place = DatabaseLocation::Server { peer, login: Arc::new(login) };
    Database { engine: Engine::PostgreSql, place }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut numbers = std::env::args().skip(1).map(|word| word.parse::<u64>());
    let (count, rounds) = (numbers.next().unwrap_or(Ok(10_000_000))?, numbers.next().unwrap_or(Ok(3))?);
    let settings = PostgresSettings::default().with("max_wal_size", "8GB").with("autovacuum", "off");
    let server = Postgres::start(&settings)?;
    let database = database(&server);
    let names = ["id", "owner", "amount", "word", "code"].map(str::to_owned).to_vec();
    let data = OwnData {
        sql: vec![SqlText { file: None, text: CREATE.to_owned() }],
        tables: vec![OwnTable { name: "items".to_owned(), columns: names, rows: Arc::new(rows(count)) }],
        jobs: 1,
        fresh: true,
    };
    let file = std::env::temp_dir().join(format!("rows-{}.copy", std::process::id()));
    let file = file.display();
    load_own_data(&data, &database, &())?;
    server.sql(&format!("COPY items TO '{file}'"))?;
    let mut out = io::stdout();
    for round in 0..rounds {
        let (mut own_s, mut whole_s, mut copy_s) = (0.0, 0.0, 0.0);
        for is_own in [round % 2 == 0, round % 2 != 0] {
            server.sql("DROP TABLE IF EXISTS items; CHECKPOINT")?;
            let begun = Instant::now();
            if is_own {
                let stages = Stages::default();
                load_own_data(&data, &database, &stages)?;
                (own_s, whole_s) =
                    (stages.took_s("rows of items").unwrap_or(0.0), begun.elapsed().as_secs_f64());
            } else {
                server.sql(&format!("{CREATE}; COPY items FROM '{file}'"))?;
                copy_s = begun.elapsed().as_secs_f64();
            }
        }
        let ratio = own_s / copy_s;
        writeln!(
            out,
            "{count} rows: generated and loaded {own_s:.2} s, with VACUUM ANALYZE {whole_s:.2} s; COPY from a file {copy_s:.2} s; {ratio:.2}"
        )?;
    }
    server.sql(&format!("COPY (SELECT 1) TO PROGRAM 'rm {file}'"))?;
    Ok(())
}
