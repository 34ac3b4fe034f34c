//! Waits until a process is ready.

pub(crate) mod get;

use std::path::Path;
use std::time::Duration;

use rustix::io::Errno;
use rustix::net::{AddressFamily, SocketAddrUnix, SocketFlags, SocketType, connect, socket_with};

use crate::deadline::Deadline;
use crate::kept_process::{Ended, KeeperOptions, KeptProcess};
use crate::{Command, Ready, When, commands, in_words};

/// Pause between two attempts.
const PAUSE: Duration = Duration::from_millis(25);
/// Min time of an attempt before the deadline. Errors of shorter attempts are not informative.
const ATTEMPT_MIN: Duration = Duration::from_millis(500);
/// Pause between two attempts by command, which costs more than a connection.
const COMMAND_PAUSE: Duration = Duration::from_millis(100);

/// Reason why a process is not ready, and remedy.
#[derive(Debug)]
pub(crate) struct NotReady {
    /// End of a sentence: "not ready after 30 s (GET / was refused)".
    pub(crate) what: String,
    pub(crate) way_out: String,
}

/// Waits until the process is ready.
///
/// Calls `interrupted` repeatedly, and stops waiting if it returns true.
pub(crate) fn wait(
    setting: &KeeperOptions,
    ready: &Ready,
    kept: &KeptProcess,
    interrupted: &dyn Fn() -> bool,
) -> Result<(), NotReady> {
    let deadline = Deadline::after(ready.within);
    let stop_waiting = || kept.state().ended().is_some() || interrupted();
    let from_bytes = kept.state().life_from_bytes;
    let mut looker = ReadinessCheck { setting, kept, from_bytes, seen_bytes: None };
    let mut why_before = None;
    loop {
        let cut_short = Deadline::after(ATTEMPT_MIN);
        let attempt = looker.attempt(&ready.when, deadline, &stop_waiting);
        if let Some(ended) = kept.state().ended() {
            return Err(ended_early(ended));
        }
        if interrupted() {
            let what = "the start was given up before it was ready".to_owned();
            return Err(NotReady { what, way_out: "start it again".to_owned() });
        }
        let Err(why) = attempt else { return Ok(()) };
        if deadline.is_over() {
            // The error of the previous attempt is more useful than the one of an attempt cut short by the deadline.
            let why = why_before.filter(|_| !cut_short.is_over()).unwrap_or(why);
            let what = format!("not ready after {} ({why})", in_words::duration(ready.within));
            let way_out = "look at its output; give it longer with ready: { within: 60s }".to_owned();
            return Err(NotReady { what, way_out });
        }
        why_before = Some(why);
        let pause = if let When::Command(_) = ready.when { COMMAND_PAUSE } else { PAUSE };
        kept.wait(deadline.min(Deadline::after(pause)), |state| state.ended().is_some());
    }
}

fn ended_early(ended: Ended) -> NotReady {
    let (what, way_out) = match ended {
        Ended::Exit(exit) => (format!("{exit} before it was ready"), exit.hint()),
        Ended::KeeperLost => ("its keeper was killed before it was ready".to_owned(), "start it again"),
    };
    NotReady { what, way_out: way_out.to_owned() }
}

struct ReadinessCheck<'a> {
    setting: &'a KeeperOptions,
    kept: &'a KeptProcess,
    /// Bytes of output before the process was started.
    from_bytes: u64,
    /// Bytes of output that have been searched. `None` before the first search.
    seen_bytes: Option<u64>,
}

impl ReadinessCheck<'_> {
    /// Makes one attempt. The error states the actual response.
    fn attempt(&mut self, when: &When, deadline: Deadline, stop: &dyn Fn() -> bool) -> Result<(), String> {
        match when {
            When::Now => Ok(()),
            When::Tcp(address) => get::connect(*address, deadline)
                .map(drop)
                .map_err(|why| format!("a connection to {address} {why}")),
            When::Get { address, path } => get::attempt(*address, path, deadline, stop)
                .map_err(|why| format!("GET http://{address}{path} {why}")),
            When::Unix(path) => connect_unix(path),
            When::Log(text) => self.find(text),
            When::Command(command) => self.run(command, deadline, stop),
        }
    }

    fn find(&mut self, text: &str) -> Result<(), String> {
        let state = self.kept.state();
        let seen_bytes = Some(state.capture.seen_bytes());
        let is_new = self.seen_bytes != seen_bytes;
        self.seen_bytes = seen_bytes;
        if is_new && state.capture.contains_since(text.as_bytes(), self.from_bytes) {
            return Ok(());
        }
        Err(format!("its output does not hold {text:?}"))
    }

    fn run(&self, command: &Command, deadline: Deadline, stop: &dyn Fn() -> bool) -> Result<(), String> {
        let within = command.within.min(deadline.left());
        match commands::run(self.setting, command, within, stop) {
            Ok(done) => {
                done.end();
                Ok(())
            }
            Err(fault) => Err(format!("the command `{}` {}", in_words::command(command), fault.what)),
        }
    }
}

/// Connects without blocking, because a full listen queue would block forever.
fn connect_unix(path: &Path) -> Result<(), String> {
    let name = path.display();
    let address = SocketAddrUnix::new(path).map_err(|_| format!("{name} is too long for a socket"))?;
    let flags = SocketFlags::CLOEXEC | SocketFlags::NONBLOCK;
    let socket = socket_with(AddressFamily::UNIX, SocketType::STREAM, flags, None);
    match socket.and_then(|socket| connect(&socket, &address)) {
        Ok(()) => Ok(()),
        Err(Errno::NOENT) => Err(format!("{name} is not there")),
        Err(Errno::CONNREFUSED) => Err(format!("a connection to {name} was refused")),
        Err(Errno::AGAIN) => Err(format!("a connection to {name} was not accepted")),
        Err(error) => Err(format!("a connection to {name} failed: {error}")),
    }
}
