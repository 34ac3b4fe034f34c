//! Real servers start, respond, recover from a crash, and leave nothing behind.

use std::io::{BufRead, BufReader, Write};
use std::process::{Command, Stdio};
use std::time::Duration;

use servers::{Auth, MariaDb, MariaDbSettings, PgBouncer, Postgres, PostgresSettings};

#[test]
fn postgres_responds_restarts_and_leaves_nothing() {
    let settings = PostgresSettings { auth: Auth::Scram, ..PostgresSettings::default() };
    let settings = settings.with("max_connections", "7").with("log_statement", "all");
    let mut postgres = Postgres::start(&settings).unwrap();
    assert_eq!(postgres.sql("SHOW max_connections").unwrap().trim(), "7");
    assert!(postgres.log().contains("SHOW max_connections"), "{}", postgres.log());
    assert!(postgres.socket().exists());
    assert!(postgres.admin_url().starts_with("postgres://postgres:only%20for%20tests@127.0.0.1:"));

    postgres.sql("CREATE TABLE kept (n int); INSERT INTO kept VALUES (1)").unwrap();
    let first = postgres.pid();
    postgres.restart_immediate().unwrap();
    assert_ne!(postgres.pid(), first);
    assert_eq!(postgres.sql("SELECT n FROM kept").unwrap().trim(), "1");
    let refused = postgres.sql("SELECT nothing").unwrap_err().to_string();
    assert!(refused.contains("nothing") && !refused.contains(Postgres::PASSWORD), "{refused}");

    let (folder, pid) = (postgres.folder().to_owned(), postgres.pid());
    drop(postgres);
    assert!(!folder.exists() && !is_running(pid));
}

#[test]
fn pgbouncer_passes_on_to_its_server_and_leaves_nothing() {
    let postgres = Postgres::start(&PostgresSettings::default()).unwrap();
    let pooler = PgBouncer::start(&postgres, &[("pool_mode", "transaction")]).unwrap();
    let mut psql = postgres.client("psql", "postgresql-client").unwrap();
    psql.env("PGPORT", pooler.port().to_string()).args(["-XAtqc", "SHOW port"]);
    let output = psql.output().unwrap();
    assert_eq!(
        String::from_utf8_lossy(&output.stdout).trim(),
        postgres.port().to_string(),
        "{}",
        pooler.log()
    );
    let url = pooler.url();
    drop(pooler);
    assert!(std::net::TcpStream::connect(url.split(['@', '/']).nth(3).unwrap()).is_err());
}

#[test]
fn mariadb_answers_restarts_and_leaves_nothing() {
    let settings = MariaDbSettings::default().with("max-connections", "11");
    let mut mariadb = MariaDb::start(&settings).unwrap();
    assert_eq!(mariadb.sql("SELECT @@max_connections").unwrap().trim(), "11");
    mariadb.sql("CREATE TABLE kept (n int) ENGINE=InnoDB; INSERT INTO kept VALUES (1)").unwrap();
    let first = mariadb.pid();
    mariadb.restart_immediate().unwrap();
    assert_ne!(mariadb.pid(), first);
    assert_eq!(mariadb.sql("SELECT n FROM kept").unwrap().trim(), "1");
    assert!(mariadb.log().contains("ready for connections") && mariadb.socket().exists());

    let (folder, pid) = (mariadb.folder().to_owned(), mariadb.pid());
    mariadb.stop();
    assert!(!folder.exists() && !is_running(pid));
}

#[test]
fn server_outlives_its_starting_thread_and_stays_on_its_core() {
    let settings = PostgresSettings { core: Some(0), ..PostgresSettings::default() };
    let postgres = std::thread::spawn(move || Postgres::start(&settings).unwrap()).join().unwrap();
    assert_eq!(postgres.sql("SELECT 1").unwrap().trim(), "1");
    let status = std::fs::read_to_string(format!("/proc/{}/status", postgres.pid())).unwrap();
    assert!(
        status.lines().any(|line| line.starts_with("Cpus_allowed_list") && line.ends_with("\t0")),
        "{status}"
    );
}

#[test]
fn failed_start_has_a_reason() {
    let settings = PostgresSettings::default().with("no_such_setting", "on");
    let said = Postgres::start(&settings).unwrap_err().to_string();
    assert!(said.contains("no_such_setting"), "{said}");
    let settings = MariaDbSettings::default().with("no-such-setting", "on");
    let said = MariaDb::start(&settings).unwrap_err().to_string();
    assert!(said.contains("no-such-setting"), "{said}");
}

#[test]
fn servers_do_not_outlive_a_process_that_is_killed() {
    const MARK: &str = "PIDS_OF_SERVERS";
    if std::env::var_os(MARK).is_some() {
        let postgres = Postgres::start(&PostgresSettings::default()).unwrap();
        let mariadb = MariaDb::start(&MariaDbSettings::default()).unwrap();
        let folders = [postgres.folder(), mariadb.folder()].map(|folder| folder.display().to_string());
        let line = format!("\n{MARK} {} {} {}\n", postgres.pid(), mariadb.pid(), folders.join(" "));
        std::io::stdout().write_all(line.as_bytes()).unwrap();
        std::thread::sleep(Duration::from_secs(60));
        return;
    }
    let mut this = Command::new(std::env::current_exe().unwrap());
    this.args(["--exact", "servers_do_not_outlive_a_process_that_is_killed", "--nocapture"]).env(MARK, "1");
    let mut child = this.stdout(Stdio::piped()).spawn().unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines().map_while(Result::ok);
    let line = lines.find_map(|line| Some(line.strip_prefix(MARK)?.to_owned())).unwrap();
    let words: Vec<_> = line.split_whitespace().collect();
    let pids = [words[0], words[1]].map(|pid| pid.parse::<u32>().unwrap());
    assert!(pids.iter().all(|pid| is_running(*pid)));
    child.kill().unwrap();
    child.wait().unwrap();
    for _ in 0..1000 {
        if !pids.iter().any(|pid| is_running(*pid)) {
            break;
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    assert!(!pids.iter().any(|pid| is_running(*pid)));
    // The process that started the servers was killed before it could remove their folders.
    for folder in &words[2..] {
        std::fs::remove_dir_all(folder).unwrap();
    }
}

fn is_running(pid: u32) -> bool {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
    // A dead process may remain listed until its parent reaps it.
    status.lines().any(|line| line.starts_with("State:") && !line.contains('Z'))
}
