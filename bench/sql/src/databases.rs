//! The servers: made for the occasion, filled by their own tools, gone afterwards.

use std::path::Path;
use std::process::Command;
use std::time::Duration;

use anyhow::{Context as _, bail};
use harness::child;
use harness::cores::Cores;
use harness::interrupt::Interrupt;
use harness::timed::last_words;
use servers::{MariaDb, MariaDbSettings, Postgres, PostgresSettings};

use crate::cases::{Case, Engine, Load, Work};
use crate::installed::Installed;
use crate::tools::{self, Order, TABLE_SIZE};

/// What transactions of pgbench work on: a million accounts, which stay in memory.
const SCALE: u32 = 10;
const TIMEOUT: Duration = Duration::from_secs(300);
/// Enough for the tables of every case.
const MEMORY: &str = "512MB";

/// The servers that the chosen cases need.
pub(crate) struct Databases {
    /// On one core, for transactions.
    postgres: Option<Postgres>,
    /// Anywhere, for the loading of tables.
    loaded: Option<Postgres>,
    maria: Option<MariaDb>,
}

impl Databases {
    /// Starts and fills them.
    ///
    /// # Errors
    ///
    /// A server that is not installed or does not start, or tables that cannot be made.
    pub(crate) fn start(
        cases: &[Case],
        installed: &Installed,
        core: usize,
        interrupt: &Interrupt,
    ) -> anyhow::Result<Self> {
        let core = u32::try_from(core).context("a core of this machine has an odd number")?;
        let needs = |is_needed: fn(&Load) -> bool| cases.iter().any(|case| is_needed(&case.load));
        let transacts = |load: &Load| load.engine == Engine::Postgres && load.work != Work::Loading;
        let postgres = |core| {
            let settings = PostgresSettings { core, ..PostgresSettings::default() };
            Postgres::start(&settings.with("shared_buffers", MEMORY).with("max_connections", "100"))
        };
        let databases = Self {
            postgres: needs(transacts).then(|| postgres(Some(core))).transpose()?,
            loaded: needs(|load| load.work == Work::Loading).then(|| postgres(None)).transpose()?,
            maria: needs(|load| load.engine == Engine::MariaDb)
                .then(|| {
                    let settings = MariaDbSettings { core: Some(core), ..MariaDbSettings::default() };
                    MariaDb::start(
                        &settings.with("innodb_buffer_pool_size", "512M").with("max_connections", "200"),
                    )
                })
                .transpose()?,
        };
        databases.fill(cases, installed, interrupt)?;
        Ok(databases)
    }

    /// The port of the server that a load is for.
    pub(crate) fn port(&self, load: Load) -> u16 {
        let of_postgres = if load.work == Work::Loading { &self.loaded } else { &self.postgres };
        let port = match load.engine {
            Engine::Postgres => of_postgres.as_ref().map(Postgres::port),
            Engine::MariaDb => self.maria.as_ref().map(MariaDb::port),
        };
        port.unwrap_or_default()
    }

    /// Where everything runs and what it is.
    pub(crate) fn sentence(&self, cores: Cores) -> String {
        let postgres = self.postgres.as_ref().or(self.loaded.as_ref());
        let version = |answer: Option<String>| answer.map(|text| text.trim().to_owned());
        let postgres = version(postgres.and_then(|server| server.sql("SHOW server_version").ok()));
        let maria = version(self.maria.as_ref().and_then(|server| server.sql("SELECT version()").ok()));
        let versions =
            [postgres.map(|text| format!("PostgreSQL {text}")), maria.map(|text| format!("MariaDB {text}"))];
        let versions: Vec<String> = versions.into_iter().flatten().collect();
        format!(
            "{} cores · servers on core {}, clients in turn on core {}; loading on all · {}; commits do not wait for the disk",
            cores.count,
            cores.server,
            cores.client,
            versions.join(", ")
        )
    }

    fn fill(&self, cases: &[Case], installed: &Installed, interrupt: &Interrupt) -> anyhow::Result<()> {
        let has = |works: &[Work], engine| {
            cases.iter().any(|case| works.contains(&case.load.work) && case.load.engine == engine)
        };
        if let Some(postgres) = &self.postgres {
            let mut command = Command::new(installed.program("pgbench").map_err(anyhow::Error::msg)?);
            command.args([
                "-h",
                "127.0.0.1",
                "-U",
                tools::USER_OF_POSTGRES,
                "-i",
                "-q",
                "-s",
                &SCALE.to_string(),
            ]);
            command.args(["-p", &postgres.port().to_string(), tools::DATABASE_OF_POSTGRES]);
            run(&mut command, interrupt)?;
        }
        for engine in [Engine::Postgres, Engine::MariaDb] {
            if has(&[Work::PointSelect, Work::ReadWrite], engine) {
                let load = Load { engine, work: Work::PointSelect, clients: 1 };
                let order = Order { load, port: self.port(load), seconds: 1, store: "" };
                let program: &Path = installed.program("sysbench").map_err(anyhow::Error::msg)?;
                run(Command::new(program).args(tools::sysbench::flags(&order, 1, "prepare")), interrupt)?;
            }
        }
        if let Some(postgres) = &self.postgres {
            // Nothing of the filling may go on while clients are measured.
            postgres.sql("VACUUM ANALYZE").context("the tables cannot be tidied")?;
            postgres.sql("CHECKPOINT").context("the tables cannot be written")?;
        }
        Ok(())
    }
}

fn run(command: &mut Command, interrupt: &Interrupt) -> anyhow::Result<()> {
    let output = child::run(command, TIMEOUT, interrupt).map_err(anyhow::Error::msg)?;
    if !output.status.success() {
        bail!(
            "tables of {TABLE_SIZE} rows or scale {SCALE} cannot be made: {}",
            last_words(&output.stderr, &output.stdout)
        );
    }
    Ok(())
}
