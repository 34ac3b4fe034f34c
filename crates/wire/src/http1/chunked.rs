//! Parser of the chunked transfer coding (RFC 9112 §7.1): sizes, data, trailers.

use super::fault::Fault;
use crate::blame::PeerFault;

const SIZE_LINE_BYTES_MAX: u32 = 4 * 1024;
const TRAILER_BYTES_MAX: u32 = 64 * 1024;

/// Position in a chunked body.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Chunked {
    /// Digits of a chunk size, after `digits` of them.
    Size { size: u64, digits: u8 },
    /// Chunk extension, which is ignored.
    Extension { size: u64, line: u32 },
    /// After the CR of a size line, before its LF.
    SizeEnd { size: u64 },
    /// Data of a chunk.
    Data { left: u64 },
    /// After the data, before CR LF.
    DataCr,
    /// Between CR and LF.
    DataLf,
    /// Trailers, after `line` bytes of the current line, and `total` bytes of all trailers.
    Trailer { line: u32, total: u32 },
    /// After the last byte.
    Done,
}

impl Chunked {
    pub(super) const START: Self = Self::Size { size: 0, digits: 0 };

    /// Processes bytes up to the end of the body, and passes its data to `data`. Returns the number of bytes that belong to the
    /// body.
    pub(super) fn take(&mut self, bytes: &[u8], mut data: impl FnMut(&[u8])) -> Result<usize, PeerFault> {
        let mut used = 0;
        while used < bytes.len() && *self != Self::Done {
            if let Self::Data { left } = *self {
                let here = usize::try_from(left).unwrap_or(usize::MAX).min(bytes.len() - used);
                data(&bytes[used..used + here]);
                used += here;
                *self = match left - here as u64 {
                    0 => Self::DataCr,
                    left => Self::Data { left },
                };
            } else {
                *self = self.step(bytes[used]).map_err(|fault| fault.with_first_bytes(&bytes[used..]))?;
                used += 1;
            }
        }
        Ok(used)
    }

    fn step(self, byte: u8) -> Result<Self, Fault> {
        match (self, byte) {
            (Self::Size { size, digits }, _) if byte.is_ascii_hexdigit() => {
                let digit = u64::from((byte as char).to_digit(16).unwrap_or(0));
                if size >> 59 != 0 || digits == 64 {
                    return Err(Fault::ChunkTooLarge);
                }
                Ok(Self::Size { size: size << 4 | digit, digits: digits + 1 })
            }
            (Self::Size { digits: 0, .. }, _) => Err(Fault::BadChunkSize),
            (Self::Size { size, .. } | Self::Extension { size, .. }, b'\r') => Ok(Self::SizeEnd { size }),
            (Self::Size { size, .. }, b';' | b' ' | b'\t') => Ok(Self::Extension { size, line: 1 }),
            (Self::Size { .. }, _) => Err(Fault::BadChunkSize),
            // Other parsers may end the line at a bare LF, and read a second size after it.
            (Self::Extension { .. }, b'\n') => Err(Fault::BadChunkSize),
            (Self::Extension { line: SIZE_LINE_BYTES_MAX, .. }, _) => Err(Fault::ChunkExtension),
            (Self::Extension { size, line }, _) => Ok(Self::Extension { size, line: line + 1 }),
            (Self::SizeEnd { size: 0 }, b'\n') => Ok(Self::Trailer { line: 0, total: 0 }),
            (Self::SizeEnd { size }, b'\n') => Ok(Self::Data { left: size }),
            (Self::SizeEnd { .. }, _) => Err(Fault::BadChunkSize),
            (Self::DataCr, b'\r') => Ok(Self::DataLf),
            (Self::DataLf, b'\n') => Ok(Self::START),
            (Self::DataCr | Self::DataLf, _) => Err(Fault::ChunkOverrun),
            (Self::Trailer { total: TRAILER_BYTES_MAX, .. }, _) => Err(Fault::TrailerTooLong),
            (Self::Trailer { line: 0, .. }, b'\n') => Ok(Self::Done),
            (Self::Trailer { total, .. }, b'\n') => Ok(Self::Trailer { line: 0, total: total + 1 }),
            (Self::Trailer { line, total }, b'\r') => Ok(Self::Trailer { line, total: total + 1 }),
            (Self::Trailer { line, total }, _) => Ok(Self::Trailer { line: line + 1, total: total + 1 }),
            (Self::Data { .. } | Self::Done, _) => Ok(self),
        }
    }
}
