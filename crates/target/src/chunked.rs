//! The chunked body framing, decoded as it arrives and bounded everywhere a peer could go on for ever.

/// Longest chunk-size line.
const LINE_BYTES: usize = 256;
/// All trailer lines together.
const TRAILER_BYTES: usize = 16 * 1024;

/// Where in the framing the next byte falls.
#[derive(Debug, Default)]
pub(crate) struct Chunked {
    place: Place,
    /// Bytes of the chunk still to come, or its size while that is read.
    size: u64,
    /// Length of the current line; all trailer lines count as one.
    line_bytes: usize,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Place {
    #[default]
    Size,
    Extension,
    SizeLf,
    Data,
    DataCr,
    DataLf,
    TrailerStart,
    Trailer,
    TrailerLf,
    EndLf,
}

/// Why a body is refused.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Fault {
    Malformed,
    TooLong,
}

impl Chunked {
    /// Takes bytes and hands data to `keep`, which answers false when it has had enough.
    /// Returns how many bytes were taken and whether the body is whole.
    pub(crate) fn take(
        &mut self,
        input: &[u8],
        mut keep: impl FnMut(&[u8]) -> bool,
    ) -> Result<(usize, bool), Fault> {
        let mut at = 0;
        while at < input.len() {
            if self.place == Place::Data {
                let piece = (input.len() - at).min(usize::try_from(self.size).unwrap_or(usize::MAX));
                if !keep(&input[at..at + piece]) {
                    return Err(Fault::TooLong);
                }
                at += piece;
                self.size -= piece as u64;
                if self.size == 0 {
                    self.place = Place::DataCr;
                }
                continue;
            }
            let whole = self.byte(input[at])?;
            at += 1;
            if whole {
                return Ok((at, true));
            }
        }
        Ok((at, false))
    }

    /// One byte of framing; true when it was the last of the body.
    fn byte(&mut self, byte: u8) -> Result<bool, Fault> {
        self.line_bytes += 1;
        self.place = match (self.place, byte) {
            (Place::Size, b'0'..=b'9' | b'a'..=b'f' | b'A'..=b'F') => self.digit(byte)?,
            (Place::Size, b';' | b'\r') if self.line_bytes == 1 => return Err(Fault::Malformed),
            (Place::Size, b';') => Place::Extension,
            (Place::Size | Place::Extension, b'\r') => Place::SizeLf,
            (Place::Extension, b'\n') => return Err(Fault::Malformed),
            (Place::Extension, _) if self.line_bytes <= LINE_BYTES => Place::Extension,
            (Place::SizeLf, b'\n') => self.size_known()?,
            (Place::DataCr, b'\r') => Place::DataLf,
            (Place::DataLf, b'\n') => {
                self.line_bytes = 0;
                Place::Size
            }
            (Place::TrailerStart, b'\r') => Place::EndLf,
            (Place::Trailer, b'\r') => Place::TrailerLf,
            (Place::TrailerStart | Place::Trailer, b'\n') => return Err(Fault::Malformed),
            (Place::TrailerStart | Place::Trailer, _) if self.line_bytes <= TRAILER_BYTES => Place::Trailer,
            (Place::TrailerLf, b'\n') => Place::TrailerStart,
            (Place::EndLf, b'\n') => return Ok(true),
            _ => return Err(Fault::Malformed),
        };
        Ok(false)
    }

    fn digit(&mut self, byte: u8) -> Result<Place, Fault> {
        let digit = (byte as char).to_digit(16).ok_or(Fault::Malformed)?;
        // Fifteen digits cannot overflow; nobody needs more.
        if self.line_bytes > 15 {
            return Err(Fault::Malformed);
        }
        self.size = self.size * 16 + u64::from(digit);
        Ok(Place::Size)
    }

    fn size_known(&mut self) -> Result<Place, Fault> {
        self.line_bytes = 0;
        match self.size {
            0 => Ok(Place::TrailerStart),
            n if n > crate::request::BODY_BYTES as u64 => Err(Fault::TooLong),
            _ => Ok(Place::Data),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn decode(input: &[u8]) -> Result<(usize, bool), Fault> {
        Chunked::default().take(input, |_| true)
    }

    #[test]
    fn it_stops_exactly_at_the_end() {
        assert_eq!(decode(b"1\r\nx\r\n0\r\n\r\nGET"), Ok((11, true)));
        assert_eq!(decode(b"1\r\nx\r\n0\r\n\r"), Ok((10, false)));
    }

    #[test]
    fn endless_lines_are_refused() {
        let extension = [b"1;".as_slice(), &[b'x'; LINE_BYTES]].concat();
        assert_eq!(decode(&extension), Err(Fault::Malformed));
        let trailer = [b"0\r\n".as_slice(), &b"a: b\r\n".repeat(TRAILER_BYTES / 6 + 2)].concat();
        assert_eq!(decode(&trailer), Err(Fault::Malformed));
    }

    #[test]
    fn an_empty_or_bare_size_is_malformed() {
        for input in [b"\r\n".as_slice(), b";\r\n", b"-1\r\n", b"1\n", b" 1\r\n"] {
            assert_eq!(decode(input), Err(Fault::Malformed), "{input:?}");
        }
    }
}
