//! How long it takes to fill pgbench's tables, in turns with `pgbench -i`, on a server with default settings:
//! `cargo run --release -p loading --example against_pgbench -- [scale] [rounds] [connections]`.

use std::io::{self, Write};
use std::net::SocketAddr;
use std::process::{Command, Stdio};
use std::sync::{Arc, Mutex};
use std::time::Instant;

use engine::{Endpoint, Peer};
use loading::{Database, Observer, Options, Plan, run};
use servers::{Postgres, PostgresSettings};
use sql::{Engine, workload};
use wire::sql::{Login, Secret};

struct Stages(Mutex<Vec<(String, Instant)>>);

impl Observer for Stages {
    fn stage(&self, words: &str) {
        let mut stages = self.0.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        stages.push((words.to_owned(), Instant::now()));
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut numbers = std::env::args().skip(1).map(|word| word.parse::<u32>());
    let mut next = |default| numbers.next().unwrap_or(Ok(default));
    let (scale, rounds, jobs) = (next(50)?, next(5)?, next(Options::default().jobs)?);
    let server = Postgres::start(&PostgresSettings { is_durable: true, ..PostgresSettings::default() })?;
    let mut out = io::stdout();
    let (mut theirs, mut ours) = (Vec::new(), Vec::new());
    for round in 0..rounds {
        for is_ours in [round % 2 == 0, round % 2 != 0] {
            server.sql(
                "DROP TABLE IF EXISTS pgbench_accounts, pgbench_tellers, pgbench_branches, pgbench_history",
            )?;
            server.sql("CHECKPOINT")?;
            let began = Instant::now();
            let (who, words) = if is_ours {
                ("tenbin", tenbin(&server, scale, jobs)?)
            } else {
                ("pgbench -i", pgbench(server.client("pgbench", "postgresql-contrib")?, scale)?)
            };
            let took = began.elapsed().as_secs_f64();
            if is_ours { &mut ours } else { &mut theirs }.push(took);
            writeln!(out, "{who:>10} {took:6.2} s  {words}")?;
        }
    }
    for times in [&mut theirs, &mut ours] {
        times.sort_by(f64::total_cmp);
    }
    let [least, median] = [0, ours.len() / 2].map(|at| ours[at] / theirs[at]);
    writeln!(out, "time over that of pgbench: {median:.2} by medians, {least:.2} by the least")?;
    Ok(())
}

fn tenbin(server: &Postgres, scale: u32, jobs: u32) -> Result<String, Box<dyn std::error::Error>> {
    let password = Some(Secret(Postgres::PASSWORD.into()));
    let database = Some(Postgres::DATABASE.into());
    let login = Login { user: Postgres::USER.into(), password, database, ..Login::default() };
    let address = SocketAddr::from(([127, 0, 0, 1], server.port()));
    let peer = Peer::of(Endpoint::Tcp(address), None);
    let workload = workload::find("tpcb-like").ok_or("no such workload")?;
    let plan = Plan::new(workload, Engine::PostgreSql, &Options { scale, jobs, ..Options::default() })?;
    let stages = Stages(Mutex::new(Vec::new()));
    run(&plan, &Database::PostgreSql { peer, login: Arc::new(login) }, &stages)?;
    stages.stage("end");
    let stages = stages.0.into_inner()?;
    let parts =
        stages.windows(2).map(|pair| format!("{} {:.2}", pair[0].0, (pair[1].1 - pair[0].1).as_secs_f64()));
    Ok(parts.collect::<Vec<_>>().join(", "))
}

fn pgbench(mut pgbench: Command, scale: u32) -> Result<String, Box<dyn std::error::Error>> {
    let output = pgbench.args(["-i", "-q", "-s", &scale.to_string()]).stdin(Stdio::null()).output()?;
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    if output.status.success() {
        Ok(said.lines().last().unwrap_or_default().to_owned())
    } else {
        Err(said.into())
    }
}
