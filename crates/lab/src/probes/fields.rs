//! Parses kernel files with one named value per line.

/// Number after `name` and an optional colon. `None` if the name is missing or the value is not a number.
pub(crate) fn number(text: &str, name: &str) -> Option<u64> {
    text.lines().find_map(|line| {
        let rest = line.strip_prefix(name)?;
        let rest = rest.strip_prefix(':').unwrap_or(rest);
        // `pswpin` must not match `pswpin_zero`.
        let value = rest.strip_prefix([' ', '\t'])?.split_ascii_whitespace().next()?;
        value.parse().ok()
    })
}

/// Bytes of a value in kB, such as `Name:    12 kB`.
pub(crate) fn bytes_of_kib(text: &str, name: &str) -> Option<u64> {
    number(text, name)?.checked_mul(1024)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_found_by_their_whole_name() {
        let text = "pswpin_zero 1\npswpin 2\nVmSwap:\t     3 kB\nempty\nodd x\nSigQ:\t0/5\n";
        assert_eq!(number(text, "pswpin"), Some(2));
        assert_eq!(bytes_of_kib(text, "VmSwap"), Some(3072));
        for name in ["pswp", "empty", "odd", "SigQ", "absent", "Vm"] {
            assert_eq!(number(text, name), None, "{name}");
        }
        assert_eq!(bytes_of_kib("VmSwap: 18446744073709551615 kB", "VmSwap"), None);
        assert_eq!(number("VmSwap: 18446744073709551616 kB", "VmSwap"), None);
        assert_eq!(number("", "a"), None);
    }
}
