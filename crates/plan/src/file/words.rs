//! Splits a command into words as a shell does, without expansions.

/// Error in a command: message, help, and the wrong bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct WrongWord {
    pub(crate) start: usize,
    pub(crate) end: usize,
    pub(crate) what: String,
    pub(crate) help: String,
}

/// Splits a command at spaces that are not within quotes. A backslash escapes the next character.
pub(crate) fn split(text: &str) -> Result<Vec<String>, WrongWord> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut rest = text.char_indices();
    while let Some((at, character)) = rest.next() {
        match character {
            ' ' | '\t' | '\n' | '\r' => words.extend(word.take()),
            '\'' | '"' => read_quoted(&mut rest, at, character, word.get_or_insert_default(), text.len())?,
            '\\' => match rest.next() {
                // A backslash at the end of a line continues the line.
                Some((_, '\n')) => {}
                Some((_, escaped)) => word.get_or_insert_default().push(escaped),
                None => return Err(wrong(at, at + 1, "nothing follows the backslash", "remove it")),
            },
            '$' | '|' | '>' | '<' | ';' | '&' | '`' => {
                let what = format!("commands run without a shell, and `{character}` requires one");
                let help = "use sh -c '…', or quote the character";
                return Err(wrong(at, at + 1, &what, help));
            }
            plain => word.get_or_insert_default().push(plain),
        }
    }
    words.extend(word);
    match words.first() {
        None => Err(wrong(0, text.len(), "there is no command", "write a program and its arguments")),
        Some(first) if is_assignment(first) => {
            let what = format!("commands run without a shell, and {first:?} requires one");
            Err(wrong(0, first.len(), &what, "set the variable under `env`"))
        }
        Some(first) if first.is_empty() => {
            Err(wrong(0, text.len(), "the program has no name", "write a program and its arguments"))
        }
        Some(_) => Ok(words),
    }
}

/// Reads up to the closing quote. In double quotes, a backslash escapes only a quote and itself.
fn read_quoted(
    rest: &mut std::str::CharIndices<'_>,
    start: usize,
    quote: char,
    word: &mut String,
    end: usize,
) -> Result<(), WrongWord> {
    while let Some((_, character)) = rest.next() {
        match character {
            character if character == quote => return Ok(()),
            '\\' if quote == '"' => match rest.next() {
                Some((_, escaped @ ('"' | '\\'))) => word.push(escaped),
                Some((_, other)) => word.extend(['\\', other]),
                None => break,
            },
            character => word.push(character),
        }
    }
    Err(wrong(start, end, "unclosed quote", "close it, or write \\ before it"))
}

/// Whether a word is `NAME=value` before a command.
fn is_assignment(word: &str) -> bool {
    word.split_once('=').is_some_and(|(name, _)| {
        !name.is_empty()
            && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
            && !name.as_bytes()[0].is_ascii_digit()
    })
}

fn wrong(start: usize, end: usize, what: &str, help: &str) -> WrongWord {
    WrongWord { start, end, what: what.to_owned(), help: help.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn splits_words_as_a_shell_does() {
        let split = |text| split(text).unwrap();
        assert_eq!(split("puma -b tcp://127.0.0.1:{port}"), ["puma", "-b", "tcp://127.0.0.1:{port}"]);
        assert_eq!(split("sh -c 'a | b > $c; d'"), ["sh", "-c", "a | b > $c; d"]);
        assert_eq!(split(r#"a "b \"c\" \n" d\ e '' x"y"'z'"#), ["a", "b \"c\" \\n", "d e", "", "xyz"]);
        assert_eq!(split("a \\\n  b\n"), ["a", "b"]);
        assert_eq!(split("find . -name *.rb"), ["find", ".", "-name", "*.rb"]);
    }

    #[test]
    fn rejects_shell_syntax_at_its_place() {
        for (text, start) in
            [("a $B", 2), ("a|b", 1), ("a > f", 2), ("a; b", 1), ("a && b", 2), ("a `b`", 2), ("a < f", 2)]
        {
            let wrong = split(text).unwrap_err();
            assert_eq!((wrong.start, wrong.end), (start, start + 1), "{text}");
            assert!(wrong.help.contains("sh -c"), "{text}");
        }
        assert!(split("A=1 b").unwrap_err().help.contains("env"));
        assert!(split("a 'b").unwrap_err().what.contains("unclosed"));
        assert!(split("  ").is_err() && split("").is_err() && split("a \\").is_err() && split("''").is_err());
        assert!(split("a=b/c=d").is_err() && split("./x=1").is_ok());
    }
}
