//! Scenario over HTTP/1.1, PostgreSQL, MySQL, and SQLite, in which each request uses a value from the previous protocol's reply.

use std::collections::BTreeSet;
use std::fs::File;
use std::io::{self, Read as _, Write as _};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

use crate::support::scenario::{VARIABLES, get, in_turn, script, visit, with_capture, with_scenarios};
use crate::support::{Done, closed, count, run, tcp};
use engine::Peer;
use servers::fake_postgres::{FakePostgres, complete, message, ready, row};
use sql::script::{Allow, Language, ScriptSet};
use sql::{Engine, Settings, Sql, TransactionStep};
use sqlite::Database;
use wire::http1::CaptureSource;
use wire::sql::Login;
use wire::{Channels, InProcess, Mix, PeerStep};

/// Number of the variable that HTTP's replies set. The other variables follow in the order of the scenario.
const OF_HTTP: u16 = 0;
const OF_POSTGRES: u16 = 1;
const OF_MYSQL: u16 = 2;
const OF_SQLITE: u16 = 3;
const USERS: u32 = 3;
/// Time that servers take. A reply that comes while its connection is still being set up would find it too young to be renewed: the
/// worker reads its clock once for all that happens at a time.
const REPLY_AFTER: Duration = Duration::from_millis(1);
const ITERATIONS: u64 = 12;

#[test]
fn value_passes_through_four_protocols() {
    let done = through_four_protocols(None);
    let opened: Vec<u64> = done.steps.iter().map(|tally| tally.connections).collect();
    assert_eq!(opened, [3, 3, 3, 3, 0], "each user has a link to each peer");
}

#[test]
fn connections_of_all_protocols_on_sockets_are_renewed_between_requests() {
    let done = through_four_protocols(Some(1));
    let opened: Vec<u64> = done.steps.iter().map(|tally| tally.connections).collect();
    // Connections opened before the load serve their first request.
    for step in [0, 1, 2, 4] {
        assert!(opened[step] >= ITERATIONS - u64::from(USERS), "{opened:?}");
    }
    assert_eq!(opened[3], 3, "a database in this process has no socket");
}

fn through_four_protocols(lifetime_ns: Option<u64>) -> Done {
    let http = Http::start();
    let postgres = FakePostgres::start(|peer| {
        peer.accept_login()?;
        loop {
            let (_, query) = peer.read_request()?;
            thread::sleep(REPLY_AFTER);
            let answer = (number_in(&query) + 1).to_string();
            peer.say(&[column("b"), row(&[&answer]), complete("SELECT 1"), ready(b'I')].concat())?;
        }
    });
    let postgres = postgres.expect("a port");
    let mysql = mysql();
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("four.db");
    // An empty file is a SQLite database without tables.
    File::create(&path).expect("a file");
    let file = Database::new(path);

    let token = CaptureSource::Header("X-Token".to_owned());
    let scripts: Vec<Box<dyn Channels>> = vec![
        Box::new(script(vec![with_capture(get("/begin"), OF_HTTP, token), get("/end-{d}")])),
        Box::new(on_server(Engine::PostgreSql, "SELECT :a + 1 AS b", OF_POSTGRES)),
        Box::new(on_server(Engine::MySql, "SELECT :b * 10 AS c", OF_MYSQL)),
        Box::new(InProcess(in_process("SELECT :c + 3 AS d", OF_SQLITE, file))),
    ];
    let places = [(0, 0), (1, 0), (2, 0), (3, 0), (0, 1)].map(|(peer, step)| PeerStep { peer, step });
    let mut job = closed(tcp(http.address), USERS, count(ITERATIONS * places.len() as u64));
    job.peers.extend([tcp(postgres.address()), tcp(mysql), nowhere()]);
    job.peers.iter_mut().for_each(|peer| peer.lifetime_ns = lifetime_ns);
    job = with_scenarios(job, in_turn((0..places.len() as u16).map(|step| visit(step, 0)).collect()));
    // `run` asserts that every account adds up.
    let done = run(job, Mix::new(scripts, &places));

    done.assert_all_ok(ITERATIONS * places.len() as u64);
    assert_eq!(done.steps.iter().map(|tally| tally.counts.ok).sum::<u64>(), done.tally.counts.sent);
    let ends = http.ends.lock().expect("nobody panicked").clone();
    assert_eq!(ends.len() as u64, done.steps[4].counts.ok);
    assert!(ends.len() as u64 >= ITERATIONS - u64::from(USERS), "{ends:?}");
    let tokens = 1..=ITERATIONS + u64::from(USERS);
    let computed: BTreeSet<u64> = tokens.map(|token| (token + 1) * 10 + 3).collect();
    assert!(
        ends.iter().all(|end| computed.contains(end)),
        "each computes with the value before it: {ends:?}"
    );
    done
}

/// Returns PostgreSQL's description of one text column.
fn column(name: &str) -> Vec<u8> {
    let rest = [0, 0, 0, 0, 0, 0, 0, 0, 0, 25, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0, 0];
    message(b'T', &[&[0, 1], name.as_bytes(), b"\0", &rest].concat())
}

/// Returns the first number in a request.
fn number_in(request: &[u8]) -> u64 {
    let digits = request.iter().skip_while(|byte| !byte.is_ascii_digit());
    let digits: Vec<u8> = digits.take_while(|byte| byte.is_ascii_digit()).copied().collect();
    String::from_utf8(digits).ok().and_then(|digits| digits.parse().ok()).unwrap_or(u64::MAX / 100)
}

/// Serves each connection with `behave` until it ends, for as long as the test runs.
fn serve(behave: impl Fn(TcpStream) -> io::Result<()> + Send + Sync + 'static) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = listener.local_addr().expect("an address");
    let behave = Arc::new(behave);
    thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let behave = Arc::clone(&behave);
            thread::spawn(move || behave(stream));
        }
    });
    address
}

/// HTTP server that gives each `/begin` the next number as its token, and records the number of each `/end-`.
struct Http {
    address: SocketAddr,
    ends: Arc<Mutex<Vec<u64>>>,
}

impl Http {
    fn start() -> Self {
        let ends = Arc::<Mutex<Vec<u64>>>::default();
        let (kept, tokens) = (Arc::clone(&ends), Mutex::new(0));
        let address = serve(move |mut stream| {
            loop {
                let request = head(&mut stream)?;
                let mut token = 0;
                if request.starts_with(b"GET /end-") {
                    kept.lock().expect("nobody panicked").push(number_in(&request));
                } else {
                    let mut last = tokens.lock().expect("nobody panicked");
                    *last += 1;
                    token = *last;
                }
                thread::sleep(REPLY_AFTER);
                write!(stream, "HTTP/1.1 200 OK\r\nX-Token: {token}\r\nContent-Length: 0\r\n\r\n")?;
            }
        });
        Self { address, ends }
    }
}

/// Reads a request without a body.
fn head(stream: &mut TcpStream) -> io::Result<Vec<u8>> {
    let (mut request, mut byte) = (Vec::new(), [0]);
    while !request.ends_with(b"\r\n\r\n") {
        stream.read_exact(&mut byte)?;
        request.push(byte[0]);
    }
    Ok(request)
}

/// Starts a MySQL server that accepts every log-in, and answers a query with ten times its first number, in a column named `c`.
fn mysql() -> SocketAddr {
    const GREETING: &[u8] =
        b"\x0a8.0.36\0\x07\0\0\x0012345678\0\xff\xf7\x2d\x02\0\xff\x01\x15\0\0\0\0\0\0\0\0\0\0\
        901234567890\0mysql_native_password\0";
    const SUCCESS: &[u8] = &[0, 0, 0, 2, 0, 0, 0];
    const END: &[u8] = &[0xfe, 0, 0, 2, 0, 0, 0];
    const COLUMN: &[u8] = b"\x03def\0\0\0\x01c\0\x0c\x3f\0\x14\0\0\0\x08\x81\0\0\0\0";
    serve(|mut stream| {
        stream.write_all(&packets(0, &[GREETING]))?;
        packet(&mut stream)?;
        stream.write_all(&packets(2, &[SUCCESS]))?;
        loop {
            let query = packet(&mut stream)?;
            if query.first() != Some(&3) {
                return Ok(());
            }
            thread::sleep(REPLY_AFTER);
            let value = (number_in(&query) * 10).to_string();
            let row = [&[value.len() as u8], value.as_bytes()].concat();
            stream.write_all(&packets(1, &[&[1], COLUMN, &row, END]))?;
        }
    })
}

/// Builds packets with these payloads, numbered from `first`.
fn packets(first: u8, payloads: &[&[u8]]) -> Vec<u8> {
    let packet = |(number, payload): (u8, &&[u8])| [&[payload.len() as u8, 0, 0, number], *payload].concat();
    (first..).zip(payloads).flat_map(packet).collect()
}

/// Reads a packet and returns its payload.
fn packet(stream: &mut TcpStream) -> io::Result<Vec<u8>> {
    let mut head = [0; 4];
    stream.read_exact(&mut head)?;
    let mut payload = vec![0; u32::from_le_bytes([head[0], head[1], head[2], 0]) as usize];
    stream.read_exact(&mut payload)?;
    Ok(payload)
}

/// Returns a script of one statement, whose row sets the variable `saves`, with its settings.
fn one_statement(statement: &str, saves: u16) -> (ScriptSet, [TransactionStep; 1], Settings) {
    let mut all_scripts = ScriptSet::new();
    let text = format!("{statement} \\gset\n");
    let script =
        all_scripts.add("one", text.as_bytes(), Language::Pgbench, Allow::default()).expect("a script");
    // Registers the variables that only rows set: no statement names them.
    VARIABLES.iter().for_each(|name| assert!(all_scripts.variable(name).is_some(), "{name}"));
    let bindings = VARIABLES.map(str::to_owned).to_vec();
    let settings = Settings { clients: USERS, bindings, saves: vec![saves], ..Settings::default() };
    (all_scripts, [TransactionStep { name: "one".to_owned(), script, expects: None }], settings)
}

fn on_server(engine: Engine, statement: &str, saves: u16) -> Sql {
    let (all_scripts, steps, settings) = one_statement(statement, saves);
    let login = Arc::new(Login { user: "me".to_owned(), ..Login::default() });
    sql::on_server(engine, all_scripts, &steps, settings, login, false, [5; 18]).expect("a program")
}

fn in_process(statement: &str, saves: u16, database: Database) -> Sql {
    let (all_scripts, steps, settings) = one_statement(statement, saves);
    sqlite::sqlite(all_scripts, &steps, settings, database).expect("a program")
}

/// Returns a placeholder for a peer in this process, which has no address.
fn nowhere() -> Peer {
    Peer { endpoints: Vec::new(), ..tcp(SocketAddr::from(([127, 0, 0, 1], 0))) }
}
