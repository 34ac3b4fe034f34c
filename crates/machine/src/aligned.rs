//! Buffer aligned to 4,096 bytes, as required for reads with `O_DIRECT`.

const ALIGNMENT_BYTES: usize = 4096;

/// Bytes at an aligned address.
#[derive(Debug)]
pub(crate) struct AlignedBuffer {
    bytes: Vec<u8>,
    start: usize,
    length: usize,
}

impl AlignedBuffer {
    pub(crate) fn new(length: usize) -> Self {
        let bytes = vec![0; length + ALIGNMENT_BYTES];
        let start = bytes.as_ptr().align_offset(ALIGNMENT_BYTES).min(ALIGNMENT_BYTES);
        Self { bytes, start, length }
    }

    pub(crate) fn bytes_mut(&mut self) -> &mut [u8] {
        &mut self.bytes[self.start..self.start + self.length]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn buffer_is_aligned() {
        for length in [1, 4_096, 1 << 20] {
            let mut buffer = AlignedBuffer::new(length);
            assert_eq!(buffer.bytes_mut().as_ptr() as usize % ALIGNMENT_BYTES, 0);
            assert_eq!(buffer.bytes_mut().len(), length);
        }
    }
}
