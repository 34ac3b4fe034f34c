//! Queries the request counters of the built-in target.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::os::unix::net::UnixStream;
use std::time::Duration;

use engine::Endpoint;

/// Timeout of connecting, and of each read and write.
const TIMEOUT: Duration = Duration::from_millis(500);
/// Maximum length of an answer, and maximum number of reads. Answers are far shorter, and arrive in one or two pieces.
const ANSWER_MAX: usize = 4_096;
const READS_MAX: usize = 8;

/// Counters of the target.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Counts {
    /// Complete requests received.
    pub(crate) requests: u64,
    /// Identifies the start of the target. `None` if the target reports none.
    instance: Option<u64>,
}

impl Counts {
    /// Requests since an earlier answer. `None` if the target was restarted in between, which resets the counter.
    pub(crate) fn since(self, before: Self) -> Option<u64> {
        (self.instance == before.instance).then(|| self.requests.saturating_sub(before.requests))
    }
}

/// Queries the counters. `None` if the server does not answer like the target.
pub(crate) fn ask(endpoint: &Endpoint) -> Option<Counts> {
    let answer = match endpoint {
        Endpoint::Tcp(address) => {
            let stream = TcpStream::connect_timeout(address, TIMEOUT).ok()?;
            stream.set_read_timeout(Some(TIMEOUT)).ok()?;
            stream.set_write_timeout(Some(TIMEOUT)).ok()?;
            exchange(stream)?
        }
        Endpoint::Unix(path) => {
            let stream = UnixStream::connect(path).ok()?;
            stream.set_read_timeout(Some(TIMEOUT)).ok()?;
            stream.set_write_timeout(Some(TIMEOUT)).ok()?;
            exchange(stream)?
        }
    };
    parse(&answer)
}

fn exchange(mut stream: impl Read + Write) -> Option<String> {
    stream.write_all(b"GET /counters HTTP/1.1\r\nHost: target\r\nConnection: close\r\n\r\n").ok()?;
    let (mut answer, mut length) = ([0; ANSWER_MAX], 0);
    // Each read has its own timeout. The number of reads limits a peer that sends single bytes.
    for _ in 0..READS_MAX {
        match stream.read(&mut answer[length..]).ok()? {
            0 => break,
            more => length += more,
        }
    }
    String::from_utf8(answer[..length].to_vec()).ok()
}

fn parse(answer: &str) -> Option<Counts> {
    let (head, body) = answer.split_once("\r\n\r\n")?;
    if head.split_ascii_whitespace().nth(1)? != "200" {
        return None;
    }
    let counts: serde_json::Value = serde_json::from_str(body).ok()?;
    Some(Counts { requests: counts["requests"].as_u64()?, instance: counts["instance"].as_u64() })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Stream that yields one byte at a time, forever.
    struct Drips(usize);

    impl Read for Drips {
        fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
            self.0 += 1;
            assert!(self.0 <= 100, "it is waited for over and over");
            buffer[0] = b'x';
            Ok(1)
        }
    }

    impl Write for Drips {
        fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
            Ok(bytes.len())
        }

        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn number_of_reads_limits_a_slow_peer() {
        assert_eq!(exchange(Drips(0)).and_then(|answer| parse(&answer)), None);
    }

    #[test]
    fn restarted_target_has_no_difference_of_counts() {
        let counts = |requests, instance| Counts { requests, instance: Some(instance) };
        assert_eq!(counts(9, 1).since(counts(7, 1)), Some(2));
        assert_eq!(counts(9, 2).since(counts(7, 1)), None);
    }

    #[test]
    fn parses_only_answers_of_a_target() {
        let good = "HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\n{\"requests\":7}\n";
        assert_eq!(parse(good), Some(Counts { requests: 7, instance: None }));
        for bad in [
            "",
            "HTTP/1.1 200 OK\r\n\r\n",
            "HTTP/1.1 404 Not Found\r\n\r\n{\"requests\":7}",
            "x\r\n\r\n{\"requests\":-1}",
        ] {
            assert_eq!(parse(bad), None, "{bad:?}");
        }
    }
}
