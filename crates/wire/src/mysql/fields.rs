//! Parser of the fields in packets, for untrusted bytes: methods return `None` if the packet ends too soon, or if the field is
//! malformed.

/// The fields of a packet that have not been parsed yet.
#[derive(Clone, Copy, Debug)]
pub(super) struct Fields<'a> {
    rest: &'a [u8],
}

/// First byte of a NULL value.
pub(super) const NULL: u8 = 0xfb;

impl<'a> Fields<'a> {
    pub(super) fn of(payload: &'a [u8]) -> Self {
        Self { rest: payload }
    }

    pub(super) fn rest(&self) -> &'a [u8] {
        self.rest
    }

    pub(super) fn is_at_end(&self) -> bool {
        self.rest.is_empty()
    }

    #[inline]
    pub(super) fn bytes(&mut self, count: usize) -> Option<&'a [u8]> {
        let (bytes, rest) = self.rest.split_at_checked(count)?;
        self.rest = rest;
        Some(bytes)
    }

    #[inline]
    pub(super) fn array<const N: usize>(&mut self) -> Option<[u8; N]> {
        let (bytes, rest) = self.rest.split_first_chunk()?;
        self.rest = rest;
        Some(*bytes)
    }

    #[inline]
    pub(super) fn byte(&mut self) -> Option<u8> {
        self.array::<1>().map(|[byte]| byte)
    }

    pub(super) fn u16_le(&mut self) -> Option<u16> {
        self.array().map(u16::from_le_bytes)
    }

    pub(super) fn u32_le(&mut self) -> Option<u32> {
        self.array().map(u32::from_le_bytes)
    }

    pub(super) fn u64_le(&mut self) -> Option<u64> {
        self.array().map(u64::from_le_bytes)
    }

    /// Parses a length-encoded integer.
    #[inline]
    pub(super) fn number(&mut self) -> Option<u64> {
        match self.byte()? {
            short @ 0..=0xfa => Some(u64::from(short)),
            0xfc => self.u16_le().map(u64::from),
            0xfd => self.array().map(|[a, b, c]| u64::from(u32::from_le_bytes([a, b, c, 0]))),
            0xfe => self.u64_le(),
            _ => None,
        }
    }

    /// Parses length-prefixed bytes.
    #[inline]
    pub(super) fn length_prefixed(&mut self) -> Option<&'a [u8]> {
        let count = usize::try_from(self.number()?).ok()?;
        self.bytes(count)
    }

    /// Parses length-prefixed bytes or NULL.
    #[inline]
    pub(super) fn value(&mut self) -> Option<Option<&'a [u8]>> {
        if let [NULL, rest @ ..] = self.rest {
            self.rest = rest;
            return Some(None);
        }
        self.length_prefixed().map(Some)
    }

    /// Parses bytes up to a zero, which is consumed.
    pub(super) fn null_terminated(&mut self) -> Option<&'a [u8]> {
        let end = memchr::memchr(0, self.rest)?;
        let bytes = &self.rest[..end];
        self.rest = &self.rest[end + 1..];
        Some(bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::Fields;

    #[test]
    fn parses_length_encoded_integers() {
        for (bytes, number) in [
            (&[0u8][..], Some(0)),
            (&[0xfa], Some(0xfa)),
            (&[0xfb], None),
            (&[0xfc, 0xfb, 0x00], Some(0xfb)),
            (&[0xfc, 0xfb], None),
            (&[0xfd, 1, 2, 3], Some(0x03_0201)),
            (&[0xfd, 1, 2], None),
            (&[0xfe, 1, 2, 3, 4, 5, 6, 7, 8], Some(0x0807_0605_0403_0201)),
            (&[0xfe, 1, 2, 3, 4, 5, 6, 7], None),
            (&[0xff], None),
            (&[], None),
        ] {
            assert_eq!(Fields::of(bytes).number(), number, "{bytes:?}");
        }
    }

    #[test]
    fn rejects_length_past_end_of_packet() {
        assert_eq!(Fields::of(&[3, b'a', b'b']).length_prefixed(), None);
        assert_eq!(Fields::of(&[0xfe, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1]).value(), None);
        assert_eq!(Fields::of(&[0xfb]).value(), Some(None));
        assert_eq!(Fields::of(&[0]).value(), Some(Some(&[][..])));
        assert_eq!(Fields::of(b"no end").null_terminated(), None);
    }
}
