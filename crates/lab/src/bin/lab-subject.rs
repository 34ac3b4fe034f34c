//! Small systems that the tests of this crate start and stop, and a process that simulates a killed Tenbin. Each ends on its own after a
//! minute.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::os::unix::net::UnixListener;
use std::path::Path;
use std::process::ExitCode;
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

use lab::hosts::Network;
use lab::limits::Limits;
use lab::{Command, Process, Ready, Recipe, Signal, StopHow, When};

const LIFE: Duration = Duration::from_secs(60);

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    thread::spawn(|| {
        thread::sleep(LIFE);
        std::process::exit(9);
    });
    let done = match words.as_slice() {
        ["http", port] => serve_http(&format!("127.0.0.1:{port}")),
        ["http-at", address] => serve_http(address),
        ["unix", path] => serve_unix(Path::new(path)),
        ["threads", what] => run_threads(what),
        ["owner", keeper, dir, script] => {
            start_system(keeper, Path::new(dir), script, Restrictions::default())
        }
        ["hosted-owner", keeper, dir, script] => {
            let network = lab::hosts::free_network().map_err(std::io::Error::other);
            let confines = |network| Restrictions { network: Some(network), ..Restrictions::default() };
            network.and_then(|network| start_system(keeper, Path::new(dir), script, confines(network)))
        }
        ["limited-owner", keeper, dir, script] => {
            let limits = Limits { cpu_cores: Some(0.5), memory_bytes: Some(64 << 20), ..Limits::default() };
            start_system(keeper, Path::new(dir), script, Restrictions { limits, ..Restrictions::default() })
        }
        ["disk-owner", keeper, dir, script] => {
            let confines = Restrictions { disk_bytes: Some(16 << 20), ..Restrictions::default() };
            start_system(keeper, Path::new(dir), script, confines)
        }
        _ => return ExitCode::FAILURE,
    };
    if done.is_ok() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// Answers 200 on `/ok`, and 503 on any other path.
fn serve_http(address: &str) -> std::io::Result<()> {
    let listener = TcpListener::bind(address)?;
    for stream in listener.incoming() {
        // A disconnected client must not end the server.
        let _ = stream.and_then(answer);
    }
    Ok(())
}

fn answer(mut stream: TcpStream) -> std::io::Result<()> {
    stream.set_read_timeout(Some(LIFE))?;
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") && head.len() < 4096 {
        let mut byte = [0];
        stream.read_exact(&mut byte)?;
        head.push(byte[0]);
    }
    let status = if head.starts_with(b"GET /ok ") { "200 OK" } else { "503 Service Unavailable" };
    stream.write_all(format!("HTTP/1.1 {status}\r\nContent-Length: 2\r\n\r\nok").as_bytes())
}

fn serve_unix(path: &Path) -> std::io::Result<()> {
    let listener = UnixListener::bind(path)?;
    for stream in listener.incoming() {
        drop(stream?);
    }
    Ok(())
}

/// Runs eight threads with identical work, including its locks or sockets. Each thread runs about ten times a second.
fn run_threads(what: &str) -> std::io::Result<()> {
    let short = || thread::sleep(Duration::from_millis(5));
    let eight = |what: &dyn Fn() -> Box<dyn FnMut() + Send>| {
        for _ in 0..8 {
            let mut what = what();
            thread::spawn(move || {
                loop {
                    what()
                }
            });
        }
    };
    let lock = Arc::new(Mutex::new(()));
    match what {
        "lock" => eight(&|| {
            let lock = Arc::clone(&lock);
            Box::new(move || {
                let _held = lock.lock();
                short();
            })
        }),
        "sleep" => eight(&|| Box::new(|| thread::sleep(Duration::from_millis(20)))),
        "spin" => eight(&|| {
            Box::new(|| {
                std::hint::black_box(0);
            })
        }),
        "pipe" => {
            let (reader, writer) = std::io::pipe()?;
            let reader = Arc::new(reader);
            eight(&|| {
                let reader = Arc::clone(&reader);
                Box::new(move || drop((&*reader).read(&mut [0])))
            });
            return write_periodically(short, writer);
        }
        "socket" => {
            let listener = TcpListener::bind("127.0.0.1:0")?;
            let stream = TcpStream::connect(listener.local_addr()?)?;
            writeln!(std::io::stdout(), "{}", listener.local_addr()?.port())?;
            let stream = Arc::new(stream);
            eight(&|| {
                let stream = Arc::clone(&stream);
                Box::new(move || drop((&*stream).read(&mut [0])))
            });
            return write_periodically(short, listener.accept()?.0);
        }
        "call" => return call_slowly(),
        "accept" => {
            let listener = TcpListener::bind("127.0.0.1:0")?;
            let address = listener.local_addr()?;
            thread::spawn(move || {
                loop {
                    drop(listener.accept())
                }
            });
            loop {
                short();
                drop(TcpStream::connect(address)?);
            }
        }
        _ => return Err(std::io::ErrorKind::InvalidInput.into()),
    }
    thread::sleep(LIFE);
    Ok(())
}

/// Repeatedly sends a byte over a new connection and waits for the reply, which takes 40 ms. Prints the port first.
fn call_slowly() -> std::io::Result<()> {
    // The listening socket stays open, so that its port counts as a listening port.
    let listener = TcpListener::bind("127.0.0.1:0")?;
    let mut caller = TcpStream::connect(listener.local_addr()?)?;
    writeln!(std::io::stdout(), "{}", listener.local_addr()?.port())?;
    let (mut callee, _) = listener.accept()?;
    thread::spawn(move || {
        while callee.read_exact(&mut [0]).is_ok() {
            thread::sleep(Duration::from_millis(40));
            let _ = callee.write_all(&[0]);
        }
    });
    loop {
        caller.write_all(&[0])?;
        caller.read_exact(&mut [0])?;
        thread::sleep(Duration::from_millis(8));
    }
}

/// Writes a byte after each pause, forever.
fn write_periodically(pause: impl Fn(), mut to: impl Write) -> std::io::Result<()> {
    loop {
        pause();
        to.write_all(&[1])?;
    }
}

/// Limits, network, and disk of a system.
#[derive(Default)]
struct Restrictions {
    limits: Limits,
    network: Option<Network>,
    disk_bytes: Option<u64>,
}

/// Starts a system like Tenbin, prints the PID of its keeper, and waits to be killed.
fn start_system(keeper: &str, dir: &Path, script: &str, confines: Restrictions) -> std::io::Result<()> {
    let Restrictions { limits, network, disk_bytes } = confines;
    let argv = ["sh", "-c", script].map(str::to_owned).to_vec();
    let command = Command { argv, env: Vec::new(), dir: "/".into(), within: LIFE };
    let process = Process {
        name: "owned".to_owned(),
        command,
        ready: Ready { when: When::Log("ready".to_owned()), within: LIFE },
        stop: StopHow { signal: Signal::TERM, command: None, within: LIFE },
        is_aside: false,
        is_started_by_event: false,
    };
    let recipe = Recipe {
        name: "owned".to_owned(),
        dir: dir.to_owned(),
        files: Vec::new(),
        contents: None,
        copy_to: None,
        before: Vec::new(),
        after: Vec::new(),
        processes: vec![process],
        ports: Vec::new(),
        cores: Vec::new(),
        limits,
        limits_to_come: Vec::new(),
        network,
        disk_bytes,
        steady_within: None,
        keeper: vec![keeper.into()],
    };
    let system = lab::start(recipe, &|| false).map_err(std::io::Error::other)?;
    let keeper_pid = system.roots().first().map_or(0, |root| root.keeper_pid);
    let mut out = std::io::stdout();
    writeln!(out, "{keeper_pid}")?;
    out.flush()?;
    thread::sleep(LIFE);
    Ok(())
}
