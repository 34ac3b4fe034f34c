//! Fast decimal formatting, two digits at a time.

const PAIRS: [[u8; 2]; 100] = pairs();

const fn pairs() -> [[u8; 2]; 100] {
    let mut pairs = [[0; 2]; 100];
    let mut number = 0;
    while number < 100 {
        pairs[number] = [b'0' + (number / 10) as u8, b'0' + (number % 10) as u8];
        number += 1;
    }
    pairs
}

/// Appends a number in decimal.
pub(crate) fn push_decimal(out: &mut Vec<u8>, value: i64) {
    let mut digits = [0; 20];
    let mut from = digits.len();
    let mut rest = value.unsigned_abs();
    while rest >= 10 {
        from -= 2;
        digits[from..from + 2].copy_from_slice(&PAIRS[(rest % 100) as usize]);
        rest /= 100;
    }
    if rest > 0 || from == digits.len() {
        from -= 1;
        digits[from] = b'0' + rest as u8;
    }
    if value < 0 {
        out.push(b'-');
    }
    out.extend_from_slice(&digits[from..]);
}

/// Fills a slice with the last digits of a number, zero-padded.
pub(super) fn fill(place: &mut [u8], number: u64) {
    let mut rest = number;
    for pair in place.rchunks_mut(2) {
        let two = PAIRS[(rest % 100) as usize];
        pair.copy_from_slice(&two[2 - pair.len()..]);
        rest /= 100;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_match_standard_formatting() {
        let mut number: i64 = 1;
        let mut cases = vec![0, 5, 9, 10, 99, 100, 101, 12345, -1, -10, i64::MAX, i64::MIN];
        for _ in 0..200 {
            number = number.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            cases.push(number >> (number & 63));
        }
        for case in cases {
            let mut out = Vec::new();
            push_decimal(&mut out, case);
            assert_eq!(String::from_utf8(out).unwrap(), case.to_string());
        }
    }

    #[test]
    fn fill_writes_as_many_digits_as_the_slice_has() {
        let mut place = *b"xxxxx";
        fill(&mut place, 42);
        assert_eq!(&place, b"00042");
        fill(&mut place, 1_234_567);
        assert_eq!(&place, b"34567");
    }
}
