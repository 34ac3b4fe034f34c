//! Asks the built-in target what it counted.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::os::unix::net::UnixStream;
use std::time::Duration;

use engine::Endpoint;

/// A target that stands still is not waited for.
const PATIENCE: Duration = Duration::from_millis(500);
/// The answer is far shorter.
const ANSWER_MAX: u64 = 4_096;

/// What it said.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Counts {
    /// Whole requests received.
    pub(crate) requests: u64,
}

/// `None` if it does not answer as the target does.
pub(crate) fn ask(endpoint: &Endpoint) -> Option<Counts> {
    let answer = match endpoint {
        Endpoint::Tcp(address) => {
            let stream = TcpStream::connect_timeout(address, PATIENCE).ok()?;
            stream.set_read_timeout(Some(PATIENCE)).ok()?;
            stream.set_write_timeout(Some(PATIENCE)).ok()?;
            talk(stream)?
        }
        Endpoint::Unix(path) => {
            let stream = UnixStream::connect(path).ok()?;
            stream.set_read_timeout(Some(PATIENCE)).ok()?;
            stream.set_write_timeout(Some(PATIENCE)).ok()?;
            talk(stream)?
        }
    };
    parse(&answer)
}

fn talk(mut stream: impl Read + Write) -> Option<String> {
    stream.write_all(b"GET /counters HTTP/1.1\r\nHost: target\r\nConnection: close\r\n\r\n").ok()?;
    let mut answer = Vec::new();
    // Each read has its own time; a peer that drips bytes is cut off by their number.
    stream.take(ANSWER_MAX).read_to_end(&mut answer).ok()?;
    String::from_utf8(answer).ok()
}

fn parse(answer: &str) -> Option<Counts> {
    let (head, body) = answer.split_once("\r\n\r\n")?;
    if head.split_ascii_whitespace().nth(1)? != "200" {
        return None;
    }
    let counts: serde_json::Value = serde_json::from_str(body).ok()?;
    Some(Counts { requests: counts["requests"].as_u64()? })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_answer_of_a_target_is_taken() {
        let good = "HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\n{\"requests\":7}\n";
        assert_eq!(parse(good), Some(Counts { requests: 7 }));
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
