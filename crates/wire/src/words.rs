//! Splitting of command lines into words, with the rules of redis-cli.

use alloc::string::String;
use alloc::vec::Vec;

/// Splits a line into words. Quotes keep a word together: `"…"` with the escapes `\n`, `\r`, `\t`, `\b`, `\a`, `\xHH`, and `\`
/// before any other character, and `'…'` with `\'`. Names in braces are not special, because they contain no spaces and no quotes.
///
/// # Errors
///
/// The error, and the advice.
pub(crate) fn split(line: &[u8]) -> Result<Vec<Vec<u8>>, (String, String)> {
    let (mut words, mut rest) = (Vec::new(), line.trim_ascii_start());
    while !rest.is_empty() {
        let mut word = Vec::new();
        rest = take_word(rest, &mut word)?.trim_ascii_start();
        words.push(word);
    }
    if words.is_empty() {
        return Err(("the command is empty".into(), "write a command such as GET user:1".into()));
    }
    Ok(words)
}

/// Appends one word to `word`. Returns the rest of the line.
fn take_word<'a>(mut rest: &'a [u8], word: &mut Vec<u8>) -> Result<&'a [u8], (String, String)> {
    while let Some((first, later)) = rest.split_first() {
        match first {
            b'"' => return after_quote(take_quoted(later, word)?),
            b'\'' => return after_quote(take_single_quoted(later, word)?),
            byte if byte.is_ascii_whitespace() => return Ok(rest),
            byte => word.push(*byte),
        }
        rest = later;
    }
    Ok(rest)
}

fn after_quote(rest: &[u8]) -> Result<&[u8], (String, String)> {
    match rest.first() {
        Some(byte) if !byte.is_ascii_whitespace() => Err((
            "a closing quote is followed by a character".into(),
            "add a space after the quote, or write the command as a list of words".into(),
        )),
        _ => Ok(rest),
    }
}

fn take_quoted<'a>(mut rest: &'a [u8], word: &mut Vec<u8>) -> Result<&'a [u8], (String, String)> {
    loop {
        match rest {
            [b'"', later @ ..] => return Ok(later),
            [b'\\', b'x', high, low, later @ ..] if high.is_ascii_hexdigit() && low.is_ascii_hexdigit() => {
                word.push(hex(*high) << 4 | hex(*low));
                rest = later;
            }
            [b'\\', escaped, later @ ..] => {
                word.push(match escaped {
                    b'n' => b'\n',
                    b'r' => b'\r',
                    b't' => b'\t',
                    b'b' => 8,
                    b'a' => 7,
                    other => *other,
                });
                rest = later;
            }
            [byte, later @ ..] => {
                word.push(*byte);
                rest = later;
            }
            [] => return Err(unclosed("\"")),
        }
    }
}

fn take_single_quoted<'a>(mut rest: &'a [u8], word: &mut Vec<u8>) -> Result<&'a [u8], (String, String)> {
    loop {
        match rest {
            [b'\\', b'\'', later @ ..] => {
                word.push(b'\'');
                rest = later;
            }
            [b'\'', later @ ..] => return Ok(later),
            [byte, later @ ..] => {
                word.push(*byte);
                rest = later;
            }
            [] => return Err(unclosed("'")),
        }
    }
}

fn unclosed(quote: &str) -> (String, String) {
    let what = alloc::format!("the quote {quote} is not closed");
    (what, "close it, or write the command as a list of words".into())
}

fn hex(digit: u8) -> u8 {
    (digit as char).to_digit(16).unwrap_or_default() as u8
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(line: &str) -> Vec<String> {
        let words = split(line.as_bytes()).expect("words");
        words.iter().map(|word| String::from_utf8_lossy(word).into_owned()).collect()
    }

    #[test]
    fn splits_line_like_redis_cli() {
        assert_eq!(words("SET user:{id} {value}"), ["SET", "user:{id}", "{value}"]);
        assert_eq!(words("  set  k\t\"a b\\n\\x41\\\"\" "), ["set", "k", "a b\nA\""]);
        assert_eq!(words(r"SET k 'it\'s \n'"), ["SET", "k", r"it's \n"]);
        assert_eq!(words("SET k \"\""), ["SET", "k", ""]);
        assert_eq!(words("SET k pre\"fix\""), ["SET", "k", "prefix"]);
    }

    #[test]
    fn rejects_unclosed_and_glued_quotes() {
        for line in ["SET k \"a", "SET k 'a", "SET k \"a\"b", "SET k 'a'b", "", "   "] {
            assert!(split(line.as_bytes()).is_err(), "{line}");
        }
    }
}
