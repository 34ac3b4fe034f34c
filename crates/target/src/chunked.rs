//! Incremental decoder of the chunked transfer coding, with limits on everything that a peer could send without end.

/// Maximum length of a chunk-size line, in bytes.
const LINE_BYTES_MAX: usize = 256;
/// Maximum length of all trailer lines together, in bytes.
const TRAILER_BYTES_MAX: usize = 16 * 1024;

/// State of the decoder.
#[derive(Debug, Default)]
pub(crate) struct Chunked {
    place: ChunkState,
    /// Remaining bytes of the chunk, or its size while the size is being read.
    size: u64,
    /// Length of the current line. All trailer lines count as one.
    line_bytes: usize,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum ChunkState {
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

/// Reason why a body is rejected.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Fault {
    Malformed,
    TooLong,
}

impl Chunked {
    /// Decodes `input`, and passes data to `keep`, which returns false once it has enough. Returns the number of consumed bytes,
    /// and true if the body is complete.
    pub(crate) fn take(
        &mut self,
        input: &[u8],
        mut keep: impl FnMut(&[u8]) -> bool,
    ) -> Result<(usize, bool), Fault> {
        let mut at = 0;
        while at < input.len() {
            if self.place == ChunkState::Data {
                let piece = (input.len() - at).min(usize::try_from(self.size).unwrap_or(usize::MAX));
                if !keep(&input[at..at + piece]) {
                    return Err(Fault::TooLong);
                }
                at += piece;
                self.size -= piece as u64;
                if self.size == 0 {
                    self.place = ChunkState::DataCr;
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

    /// Processes a framing byte. Returns true if it was the last of the body.
    fn byte(&mut self, byte: u8) -> Result<bool, Fault> {
        self.line_bytes += 1;
        self.place = match (self.place, byte) {
            (ChunkState::Size, b'0'..=b'9' | b'a'..=b'f' | b'A'..=b'F') => self.digit(byte)?,
            (ChunkState::Size, b';' | b'\r') if self.line_bytes == 1 => return Err(Fault::Malformed),
            (ChunkState::Size, b';') => ChunkState::Extension,
            (ChunkState::Size | ChunkState::Extension, b'\r') => ChunkState::SizeLf,
            (ChunkState::Extension, b'\n') => return Err(Fault::Malformed),
            (ChunkState::Extension, _) if self.line_bytes <= LINE_BYTES_MAX => ChunkState::Extension,
            (ChunkState::SizeLf, b'\n') => self.size_known()?,
            (ChunkState::DataCr, b'\r') => ChunkState::DataLf,
            (ChunkState::DataLf, b'\n') => {
                self.line_bytes = 0;
                ChunkState::Size
            }
            (ChunkState::TrailerStart, b'\r') => ChunkState::EndLf,
            (ChunkState::Trailer, b'\r') => ChunkState::TrailerLf,
            (ChunkState::TrailerStart | ChunkState::Trailer, b'\n') => return Err(Fault::Malformed),
            (ChunkState::TrailerStart | ChunkState::Trailer, _) if self.line_bytes <= TRAILER_BYTES_MAX => {
                ChunkState::Trailer
            }
            (ChunkState::TrailerLf, b'\n') => ChunkState::TrailerStart,
            (ChunkState::EndLf, b'\n') => return Ok(true),
            _ => return Err(Fault::Malformed),
        };
        Ok(false)
    }

    fn digit(&mut self, byte: u8) -> Result<ChunkState, Fault> {
        let digit = (byte as char).to_digit(16).ok_or(Fault::Malformed)?;
        // Fifteen hexadecimal digits cannot overflow, and no real size is longer.
        if self.line_bytes > 15 {
            return Err(Fault::Malformed);
        }
        self.size = self.size * 16 + u64::from(digit);
        Ok(ChunkState::Size)
    }

    fn size_known(&mut self) -> Result<ChunkState, Fault> {
        self.line_bytes = 0;
        match self.size {
            0 => Ok(ChunkState::TrailerStart),
            n if n > crate::request::BODY_BYTES as u64 => Err(Fault::TooLong),
            _ => Ok(ChunkState::Data),
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
    fn decoder_stops_exactly_at_the_end() {
        assert_eq!(decode(b"1\r\nx\r\n0\r\n\r\nGET"), Ok((11, true)));
        assert_eq!(decode(b"1\r\nx\r\n0\r\n\r"), Ok((10, false)));
    }

    #[test]
    fn endless_lines_are_rejected() {
        let extension = [b"1;".as_slice(), &[b'x'; LINE_BYTES_MAX]].concat();
        assert_eq!(decode(&extension), Err(Fault::Malformed));
        let trailer = [b"0\r\n".as_slice(), &b"a: b\r\n".repeat(TRAILER_BYTES_MAX / 6 + 2)].concat();
        assert_eq!(decode(&trailer), Err(Fault::Malformed));
    }

    #[test]
    fn empty_or_bare_size_is_malformed() {
        for input in [b"\r\n".as_slice(), b";\r\n", b"-1\r\n", b"1\n", b" 1\r\n"] {
            assert_eq!(decode(input), Err(Fault::Malformed), "{input:?}");
        }
    }
}
