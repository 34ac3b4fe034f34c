//! Heads that a server repeats. Most replies to a request differ from the previous one only in the date of their head, so comparing a head
//! with parsed ones replaces parsing it.

use alloc::boxed::Box;
use core::array;

use once_cell::race::OnceBox;

use super::framing::Head;

/// Max number of heads per step, such as the ones of a cache hit and a cache miss.
const KNOWN_MAX: usize = 2;
/// Max bytes of a head that is kept.
const BYTES_MAX: usize = 2 * 1024;
/// Bytes of a date (RFC 9110, 5.6.7): `Sun, 06 Nov 1994 08:49:37 GMT`.
const DATE_BYTES: usize = 29;

/// First heads of the replies to a step, for steps with results that depend on nothing else. Shared by all connections.
#[derive(Debug)]
pub(super) struct KnownHeads([OnceBox<Known>; KNOWN_MAX]);

/// A parsed head.
#[derive(Debug)]
struct Known {
    /// Bytes before the value of `Date`, or the whole head if it has none.
    front: Box<[u8]>,
    /// Bytes after the date. `None` without one.
    back: Option<Box<[u8]>>,
    head: Head,
}

impl KnownHeads {
    pub(super) fn new() -> Self {
        Self(array::from_fn(|_| OnceBox::new()))
    }

    /// Head at the front of `bytes`, and its length in bytes. `None` if it is not known or incomplete.
    #[inline]
    pub(super) fn find(&self, bytes: &[u8]) -> Option<(usize, Head)> {
        let known = self.0.iter().map_while(OnceBox::get);
        known.filter_map(|known| Some((known.length_in(bytes)?, known.head))).next()
    }

    /// Whether another head can be kept.
    #[inline]
    pub(super) fn has_room(&self) -> bool {
        self.0[KNOWN_MAX - 1].get().is_none()
    }

    /// Keeps a parsed head if there is room.
    #[cold]
    pub(super) fn keep(&self, bytes: &[u8], head: Head) {
        if bytes.len() > BYTES_MAX {
            return;
        }
        let mut known = Box::new(Known::new(bytes, head));
        for slot in &self.0 {
            match slot.set(known) {
                Ok(()) => return,
                Err(rest) => known = rest,
            }
        }
    }
}

impl Known {
    fn new(bytes: &[u8], head: Head) -> Self {
        let at = date_in(bytes);
        let (front, back) = at.map_or((bytes, None), |at| (&bytes[..at], Some(&bytes[at + DATE_BYTES..])));
        Self { front: front.into(), back: back.map(Into::into), head }
    }

    /// Length of this head in bytes, if `bytes` begin with it.
    #[inline]
    fn length_in(&self, bytes: &[u8]) -> Option<usize> {
        let rest = bytes.strip_prefix(&*self.front)?;
        let Some(back) = &self.back else { return Some(self.front.len()) };
        let (date, rest) = rest.split_first_chunk::<DATE_BYTES>()?;
        // Without a branch for each byte, the compiler can compare them all at once.
        let is_text = date.iter().fold(true, |is_text, byte| is_text & (b' '..=b'~').contains(byte));
        (is_text && rest.starts_with(back)).then_some(self.front.len() + DATE_BYTES + back.len())
    }
}

/// Position of a date of the usual length in a head without errors.
fn date_in(head: &[u8]) -> Option<usize> {
    const NAME: &[u8] = b"\ndate: ";
    let at = head.windows(NAME.len()).position(|bytes| bytes.eq_ignore_ascii_case(NAME))? + NAME.len();
    let is_whole =
        head.get(at + DATE_BYTES..)?.starts_with(b"\r\n") && !head[at..][..DATE_BYTES].contains(&b'\n');
    is_whole.then_some(at)
}

#[cfg(test)]
mod tests {
    use alloc::format;
    use alloc::vec::Vec;

    use super::super::capture::Values;
    use super::super::checks::Checks;
    use super::super::framing::{self, HeadRead};
    use super::super::request::Request;
    use super::super::step::{CompiledStep, Step};
    use super::super::template::Template;
    use super::*;

    const HEAD: &str = "HTTP/1.1 200 OK\r\nServer: s\r\nDate: Sat, 21 Nov 2026 03:21:00 GMT\r\nAge: 7\r\nContent-Length: 5\r\n\r\n";

    fn prepared() -> CompiledStep {
        let request = Template::literal(&Request::get("localhost", "/")).expect("it is a plain request");
        CompiledStep::new(Step { request, checks: Checks::default(), captures: Vec::new() })
    }

    fn read(bytes: &[u8], step: &CompiledStep) -> HeadRead {
        framing::read(bytes, step, &mut Values::new(0))
    }

    /// Asserts that a head is read after others as it would be read first.
    #[track_caller]
    fn assert_read_as_first(bytes: &[u8], step: &CompiledStep) {
        assert_eq!(read(bytes, step), read(bytes, &prepared()), "{}", bytes.escape_ascii());
    }

    #[test]
    fn only_the_date_of_a_known_head_changes() {
        let step = prepared();
        assert_eq!(step.known_heads.find(HEAD.as_bytes()), None);
        let first = read(HEAD.as_bytes(), &step).expect("a head");
        let later = format!("{}hello", HEAD.replace("03:21:00", "04:00:59"));
        assert_eq!(step.known_heads.find(later.as_bytes()), first);
        for other in [
            HEAD.replace("200", "503"),
            HEAD.replace(": 5", ": 6"),
            HEAD.replace("Age", "Agx"),
            HEAD.replace(" GMT", " GM\n"),
            HEAD.replace(" GMT", ""),
        ] {
            assert_eq!(step.known_heads.find(other.as_bytes()), None, "{other}");
        }
    }

    #[test]
    fn head_with_changed_byte_or_length_is_parsed_again() {
        let step = prepared();
        read(HEAD.as_bytes(), &step).expect("a head");
        for at in 0..HEAD.len() {
            for byte in 0..=u8::MAX {
                let mut bytes = HEAD.as_bytes().to_vec();
                bytes[at] = byte;
                assert_read_as_first(&bytes, &step);
            }
            assert_read_as_first(&HEAD.as_bytes()[..at], &step);
        }
    }

    #[test]
    fn parses_further_heads_when_the_cache_is_full() {
        let step = prepared();
        for length in 0..2 * KNOWN_MAX {
            let head = HEAD.replace(": 5", &format!(": {length}"));
            for _ in 0..2 {
                assert_read_as_first(head.as_bytes(), &step);
            }
            assert_eq!(step.known_heads.find(head.as_bytes()).is_some(), length < KNOWN_MAX);
        }
    }

    #[test]
    fn date_of_unusual_length_or_position_is_compared_with_the_head() {
        assert_eq!(date_in(HEAD.as_bytes()), HEAD.find("Sat"));
        for head in [
            HEAD.replace("Sat, 21", "Saturday, 21"),
            HEAD.replace("Date", "X-Date"),
            HEAD.replace("\r\nAge: 7", ""),
        ] {
            let at = date_in(head.as_bytes());
            assert_eq!(at, head.find("\nDate: Sat, ").map(|at| at + 7), "{head}");
        }
    }
}
