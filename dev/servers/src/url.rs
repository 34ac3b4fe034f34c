//! Encodes names and passwords in URLs.

use std::fmt::Write;

/// Percent-encodes a text for a URL component.
pub(crate) fn encoded(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for byte in text.bytes() {
        if byte.is_ascii_alphanumeric() || b"-._~".contains(&byte) {
            out.push(char::from(byte));
        } else {
            // Writing to a string cannot fail.
            let _ = write!(out, "%{byte:02X}");
        }
    }
    out
}

/// Formats `user:password`, or the user alone.
pub(crate) fn credentials(user: &str, password: Option<&str>) -> String {
    match password {
        Some(password) => format!("{}:{}", encoded(user), encoded(password)),
        None => encoded(user),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn special_characters_in_a_password_are_encoded() {
        assert_eq!(credentials("ann", Some("a:b@c/ü")), "ann:a%3Ab%40c%2F%C3%BC");
        assert_eq!(credentials("ann", None), "ann");
    }
}
