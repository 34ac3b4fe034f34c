//! Samples of the commands of a saturated server by key. A key stays on one thread and on one node, so a hot key limits both.
//!
//! MONITOR prints every command, which slows the server down. So a sample ends after 200 commands, at most one a second and ten a run
//! are taken, only while the main thread is saturated, and only in instrumented runs, whose cost is measured.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Read, Write};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use engine::{BlockingConnection, Peer};
use judge::SATURATED_MIN_SHARE;
use loading::{Answer, Error};
use wire::Script as _;
use wire::Serial;
use wire::redis::{Redis, key};

use super::watch::field;
use crate::database_watch::{SampledKeys, text};

/// Question for a sample. Each row of the answer has the key of a command, or no field for a command without a key.
pub(super) const QUESTION: &str = "MONITOR";
/// Max number of commands in a sample, of bytes, time for the whole sample, and time to wait for each command.
const COMMANDS_MAX: usize = 200;
const BYTES_MAX: u64 = 4 << 20;
const SAMPLE_TIMEOUT: Duration = Duration::from_secs(1);
const COMMAND_TIMEOUT: Duration = Duration::from_millis(200);
/// Max number of samples in a run.
const SAMPLES_MAX: u32 = 10;
/// Number of keys of a sample that are named. Others are counted together.
const KEYS_MAX: usize = 4;

/// Decides when samples are taken.
#[derive(Debug, Default)]
pub(super) struct HotKeys {
    /// CPU time of the main thread, and time of the server, in seconds at the last look. `None` before the first one.
    before: Option<[f64; 2]>,
    is_saturated: bool,
    samples: u32,
}

impl HotKeys {
    /// Reads from INFO whether the main thread was saturated since the last look.
    pub(super) fn note(&mut self, info: &Answer) {
        let used = field(info, "used_cpu_user_main_thread").zip(field(info, "used_cpu_sys_main_thread"));
        let at = field(info, "server_time_usec").map(|at_us| at_us * 1e-6);
        let now = used.zip(at).map(|((user_s, system_s), at_s)| [user_s + system_s, at_s]);
        let before = std::mem::replace(&mut self.before, now);
        self.is_saturated = before.zip(now).is_some_and(|([used, from], [used_now, to])| {
            to > from && (used_now - used) / (to - from) >= SATURATED_MIN_SHARE
        });
    }

    /// Counts a sample as taken, if one is due.
    pub(super) fn take_turn(&mut self) -> bool {
        let is_due = self.is_saturated && self.samples < SAMPLES_MAX;
        self.samples += u32::from(is_due);
        is_due
    }

    /// Takes no more samples.
    pub(super) fn stop(&mut self) {
        self.samples = SAMPLES_MAX;
    }
}

/// Commands of a sample by key. `None` if the server ran none meanwhile.
pub(super) fn by_key(answer: &Answer) -> Option<SampledKeys> {
    let mut counts: BTreeMap<&str, u32> = BTreeMap::new();
    for row in answer.iter().filter(|row| !row.is_empty()) {
        *counts.entry(text(row, 0)).or_default() += 1;
    }
    let mut counts: Vec<(&str, u32)> = counts.into_iter().collect();
    counts.sort_by(|(_, one), (_, other)| other.cmp(one));
    let keys = counts.iter().take(KEYS_MAX).map(|(key, count)| ((*key).to_owned(), f64::from(*count)));
    (!answer.is_empty()).then(|| SampledKeys { commands: answer.len() as f64, keys: keys.collect() })
}

/// Reads the next commands of a server over a connection of its own, for at most a second, or until it is given up. Closing it
/// ends the output.
///
/// # Errors
///
/// If the server rejects MONITOR, or cannot be reached.
pub(super) fn sample(peer: &Peer, redis: &Redis, is_given_up: &AtomicBool) -> Result<Answer, Error> {
    let begun = Instant::now();
    let doing = || "sampling its commands".to_owned();
    let broken = |reason: String| Error::Broken { doing: doing(), reason };
    let mut line =
        BlockingConnection::open(peer, SAMPLE_TIMEOUT).map_err(|error| broken(error.to_string()))?;
    line.greet(&mut Serial::new(redis.open(0))).map_err(|error| broken(error.to_string()))?;
    line.write_all(b"MONITOR\r\n").map_err(|error| broken(error.to_string()))?;
    let mut lines = BufReader::new(line).take(BYTES_MAX);
    let mut text = Vec::new();
    lines.read_until(b'\n', &mut text).map_err(|error| broken(error.to_string()))?;
    if text.first() != Some(&b'+') {
        return Err(Error::Refused {
            doing: doing(),
            said: String::from_utf8_lossy(&text).trim().to_owned(),
        });
    }
    let timeout = lines.get_mut().get_mut().set_timeout(Some(COMMAND_TIMEOUT));
    timeout.map_err(|error| broken(error.to_string()))?;
    let mut answer = Answer::new();
    let is_over = || is_given_up.load(Ordering::Relaxed) || begun.elapsed() >= SAMPLE_TIMEOUT;
    // A server without commands in time ends the sample, too.
    while answer.len() < COMMANDS_MAX && !is_over() {
        text.clear();
        match lines.read_until(b'\n', &mut text) {
            Ok(count) if count > 0 && text.ends_with(b"\n") => {}
            _ => break,
        }
        let line = text.strip_prefix(b"+").unwrap_or(&text).trim_ascii_end();
        let Some(words) = replay::monitored_words(line) else { continue };
        let key = key(&words).map(|key| Some(String::from_utf8_lossy(key).into_owned()));
        answer.push(key.into_iter().collect());
    }
    Ok(answer)
}

#[cfg(test)]
mod tests {
    use std::net::{SocketAddr, TcpListener};
    use std::thread;

    use engine::Endpoint;
    use wire::redis::Part;
    use wire::step::Access;

    use super::*;

    /// Starts a server that prints a command every 50 ms; returns its address.
    fn monitored() -> SocketAddr {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        thread::spawn(move || {
            let (mut client, _) = listener.accept().unwrap();
            let mut lines = BufReader::new(client.try_clone().unwrap()).lines().map_while(Result::ok);
            assert!(lines.any(|line| line.contains("HELLO")));
            client.write_all(b"-ERR unknown command\r\n").unwrap();
            assert!(lines.any(|line| line == "MONITOR"));
            client.write_all(b"+OK\r\n").unwrap();
            while client.write_all(b"+1700000000.000001 [0 127.0.0.1:9] \"GET\" \"hot\"\r\n").is_ok() {
                thread::sleep(Duration::from_millis(50));
            }
        });
        address
    }

    #[test]
    fn sample_ends_after_a_second_or_when_it_is_given_up() {
        let redis = Redis::with_saved_replies(&[("PING", Part::Items)], &Access::default()).unwrap();
        let sampled = |is_given_up| {
            let peer = Peer::of(Endpoint::Tcp(monitored()), None);
            sample(&peer, &redis, &AtomicBool::new(is_given_up)).unwrap()
        };
        let commands = sampled(false);
        assert!(
            (1..COMMANDS_MAX / 2).contains(&commands.len()),
            "{} of 200 commands in 10 s",
            commands.len()
        );
        assert_eq!(sampled(true), Answer::new());
    }

    fn info(used_s: f64, at_us: f64) -> Answer {
        let fields = [
            ("used_cpu_user_main_thread", used_s),
            ("used_cpu_sys_main_thread", 1.0),
            ("server_time_usec", at_us),
        ];
        fields.map(|(name, value)| vec![Some(name.to_owned()), Some(value.to_string())]).to_vec()
    }

    #[test]
    fn samples_are_due_only_while_the_main_thread_is_saturated() {
        let mut keys = HotKeys::default();
        let mut is_due = |info: &Answer| {
            keys.note(info);
            keys.take_turn()
        };
        assert!(!is_due(&info(1.0, 1e6)), "the first look only sets the baseline");
        assert!(is_due(&info(1.95, 2e6)));
        assert!(!is_due(&info(2.45, 3e6)), "half of a core");
        assert!(!is_due(&info(3.4, 3e6)), "no time has passed");
        assert!(!is_due(&vec![]), "a version without these fields");
        for number in 0..SAMPLES_MAX + 2 {
            is_due(&info(f64::from(number), f64::from(number) * 1e6));
        }
        assert!(!keys.take_turn(), "the run has had its samples");
    }

    #[test]
    fn keys_are_counted_largest_first() {
        let row = |key: &str| vec![Some(key.to_owned())];
        let mut answer: Answer = vec![row("a"), row("hot"), row("hot"), vec![]];
        let counted = by_key(&answer).unwrap();
        assert_eq!(counted.commands, 4.0);
        assert_eq!(counted.keys, [("hot".to_owned(), 2.0), ("a".to_owned(), 1.0)]);
        answer.extend((0..100).map(|number| row(&number.to_string())));
        assert_eq!(by_key(&answer).unwrap().keys.len(), KEYS_MAX);
        assert!(by_key(&Answer::new()).is_none());
    }
}
