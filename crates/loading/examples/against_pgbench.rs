//! Compares the time to fill pgbench's tables, and the server's CPU time for it, with `pgbench -i`, in turns: `cargo run --release
//! -p loading --example against_pgbench -- [scale] [rounds] [connections] [0, if commits need not wait for the disk]`.

use std::fs;
use std::io::{self, Write};
use std::net::SocketAddr;
use std::process::{Command, Stdio};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use engine::{Endpoint, Peer};
use loading::{Database, DatabaseLocation, Observer, Options, Plan, run};
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
    let is_durable = next(1)? != 0;
    let rounds = rounds.max(1);
    let server = Postgres::start(&PostgresSettings { is_durable, ..PostgresSettings::default() })?;
    let mut out = io::stdout();
    let (mut theirs, mut ours) = ([Vec::new(), Vec::new()], [Vec::new(), Vec::new()]);
    // The first round warms up files and memory of the server, and does not count.
    for round in 0..=rounds {
        for is_ours in [round % 2 == 0, round % 2 != 0] {
            server.sql(
                "DROP TABLE IF EXISTS pgbench_accounts, pgbench_tellers, pgbench_branches, pgbench_history",
            )?;
            server.sql("CHECKPOINT")?;
            let (began, before) = (Instant::now(), work_s(server.pid()));
            let (who, words) = if is_ours {
                ("tenbin", tenbin(&server, scale, jobs)?)
            } else {
                ("pgbench -i", pgbench(server.client("pgbench", "postgresql-contrib")?, scale)?)
            };
            let took = began.elapsed().as_secs_f64();
            // The last session may still be ending.
            thread::sleep(Duration::from_millis(200));
            let work = work_s(server.pid()) - before;
            if round > 0 {
                let [times, works] = if is_ours { &mut ours } else { &mut theirs };
                times.push(took);
                works.push(work);
            }
            writeln!(out, "{who:>10} {took:6.2} s, work of the server {work:5.2} s  {words}")?;
        }
    }
    for ((what, mut ours), mut theirs) in ["time", "work of the server"].into_iter().zip(ours).zip(theirs) {
        ours.sort_by(f64::total_cmp);
        theirs.sort_by(f64::total_cmp);
        let [least, median] = [0, ours.len() / 2].map(|at| ours[at] / theirs[at]);
        writeln!(out, "{what} over that of pgbench: {median:.2} by medians, {least:.2} by the least")?;
    }
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
    let place = DatabaseLocation::Server { peer, login: Arc::new(login) };
    let database = Database { engine: Engine::PostgreSql, place };
    run(&plan, &database, &stages)?;
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

/// CPU time of the processes of a server in seconds, including ended ones.
fn work_s(server: u32) -> f64 {
    const TICKS_OF_SECOND: f64 = 100.0;
    let numbers = fs::read_dir("/proc").into_iter().flatten().flatten();
    let numbers = numbers.filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok());
    let ticks = numbers.filter_map(|number| {
        let line = fs::read_to_string(format!("/proc/{number}/stat")).ok()?;
        let fields: Vec<u64> =
            line.rsplit_once(')')?.1.split_whitespace().map(|field| field.parse().unwrap_or(0)).collect();
        let is_server = number == server;
        let own = fields.get(11)? + fields.get(12)?;
        let of_those_gone = if is_server { fields.get(13)? + fields.get(14)? } else { 0 };
        (is_server || *fields.get(1)? == u64::from(server)).then_some(own + of_those_gone)
    });
    ticks.sum::<u64>() as f64 / TICKS_OF_SECOND
}
