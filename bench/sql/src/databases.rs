//! Temporary database servers of a comparison. pgbench and sysbench load their tables.

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

/// pgbench scale factor for transactions: one million accounts, which stay in memory.
const SCALE: u32 = 10;
const TIMEOUT: Duration = Duration::from_secs(300);
/// PostgreSQL's `shared_buffers`. Holds the tables of every case.
const MEMORY: &str = "512MB";

/// Database servers that the selected cases need.
pub(crate) struct Databases {
    /// PostgreSQL pinned to one core, for transactions. `None` if no case needs it.
    postgres: Option<Postgres>,
    /// PostgreSQL on all cores, for table loading. `None` if no case needs it.
    loaded: Option<Postgres>,
    maria: Option<MariaDb>,
}

impl Databases {
    /// Starts the servers that `cases` need, and loads their tables.
    ///
    /// # Errors
    ///
    /// If a server is not installed or does not start, or if tables cannot be loaded.
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

    /// Returns the port of the server for a load. 0 if that server was not started.
    pub(crate) fn port(&self, load: Load) -> u16 {
        let of_postgres = if load.work == Work::Loading { &self.loaded } else { &self.postgres };
        let port = match load.engine {
            Engine::Postgres => of_postgres.as_ref().map(Postgres::port),
            Engine::MariaDb => self.maria.as_ref().map(MariaDb::port),
        };
        port.unwrap_or_default()
    }

    /// Describes cores and server versions in one line.
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
            // Work left over from loading, such as autovacuum, must not disturb the measurement.
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
