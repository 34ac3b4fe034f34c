//! Human-readable texts: paragraphs of documents, doc comments, and string literals.

use crate::files::Text;
use crate::tokens;

/// Human-readable text, joined into one line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Passage {
    /// The text in lower case, with single spaces.
    pub text: String,
    /// Line on which the text begins, from 1.
    pub line: usize,
}

/// Returns the passages of a file. Excludes literals without a space, such as JSON keys, because they are names.
///
/// # Panics
///
/// If a Rust file is not valid Rust.
pub fn passages(file: &Text) -> Vec<Passage> {
    if file.path.ends_with(".rs") { rust_passages(&file.text) } else { document_passages(&file.text) }
}

/// Returns true if a passage contains a phrase as whole words.
pub fn has(passage: &Passage, phrase: &str) -> bool {
    let is_word = |byte: Option<&u8>| byte.is_some_and(|byte| byte.is_ascii_alphanumeric() || *byte == b'_');
    let bytes = passage.text.as_bytes();
    passage.text.match_indices(phrase).any(|(at, _)| {
        let before = at.checked_sub(1).and_then(|before| bytes.get(before));
        !is_word(before) && !is_word(bytes.get(at + phrase.len()))
    })
}

fn rust_passages(text: &str) -> Vec<Passage> {
    let tokens = tokens::of(text);
    let mut found: Vec<Passage> = Vec::new();
    let mut last_doc_line = None;
    for (number, token) in tokens.iter().enumerate().filter(|(_, token)| token.text.contains('"')) {
        let is_doc = number >= 2 && tokens[number - 2].text == "doc" && tokens[number - 1].text == "=";
        let text = plain(token.text.replace("\\\n", "\n").trim_matches('"'));
        // Sentences of a doc comment may continue on the next line.
        match found.last_mut().filter(|_| is_doc && last_doc_line == Some(token.line.saturating_sub(1))) {
            Some(comment) => comment.text = format!("{} {text}", comment.text),
            None if text.contains(' ') => found.push(Passage { text, line: token.line }),
            None => {}
        }
        last_doc_line = is_doc.then_some(token.line);
    }
    found
}

/// Returns the paragraphs of a document. Excludes single words in backticks, because they are names.
fn document_passages(text: &str) -> Vec<Passage> {
    let mut found = Vec::new();
    let (mut paragraph, mut begun) = (String::new(), 1);
    for (number, line) in text.lines().chain([""]).enumerate() {
        if line.trim().is_empty() {
            let pieces = paragraph.split('`').enumerate();
            let pieces = pieces.filter(|(number, piece)| number % 2 == 0 || piece.contains(' '));
            let text = plain(&pieces.map(|(_, piece)| piece).collect::<Vec<_>>().join("`"));
            found.push(Passage { text, line: begun });
            (paragraph, begun) = (String::new(), number + 2);
        } else {
            paragraph = format!("{paragraph} {line}");
        }
    }
    found
}

/// Converts a text to lower case with single spaces. Removes placeholders such as `{name}`, because they are names.
fn plain(text: &str) -> String {
    let mut kept = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('{') {
        kept += before;
        kept.push('{');
        rest = after
            .split_once('}')
            .filter(|(name, _)| !name.contains([' ', '{']))
            .map_or(after, |(_, rest)| rest);
    }
    kept += rest;
    kept.split_whitespace().collect::<Vec<_>>().join(" ").to_lowercase()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn passages(path: &str, text: &str) -> Vec<(usize, String)> {
        let file = Text { path: path.to_owned(), text: text.to_owned() };
        super::passages(&file).into_iter().map(|passage| (passage.line, passage.text)).collect()
    }

    #[test]
    fn sentences_are_read_over_line_breaks_and_names_are_not() {
        let rust = "/// One way\n/// out.\nfn way_out() -> &'static str {\n    // The way out.\n    \"a way \\\n     out\";\n    \"knobs\"\n}\n";
        let found = passages("a.rs", rust);
        assert_eq!(found.len(), 2, "{found:?}");
        assert!(found[0] == (1, "one way out.".to_owned()), "{found:?}");
        assert_eq!(found[1], (5, "a way out".to_owned()));
        assert_eq!(
            passages("a.rs", "fn f() { g(\"{knob:?} of {a {knob}\") }"),
            [(1, "{ of {a {".to_owned())]
        );
        let found = passages("a.md", "One\n\nA Way\nout of `knobs`, `a b`.\n");
        assert_eq!(found, [(1, "one".to_owned()), (3, "a way out of `, `a b`.".to_owned())]);
    }

    #[test]
    fn phrases_are_whole_words() {
        let passage = Passage { text: "the lateness_us of a way out".to_owned(), line: 1 };
        assert!(has(&passage, "way out") && !has(&passage, "lateness") && !has(&passage, "ay out"));
    }
}
