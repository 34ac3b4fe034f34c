//! Classifies a statement by its words, according to its effect on the transaction.

use crate::script::scan::{Quote, Quoted};
use crate::script::statement::StatementKind;

/// Classifies a statement by its first words; a SELECT also by words that turn it into more than a read. Ignores quoted text and comments.
pub(crate) fn of(text: &[u8], quoted: &[Quoted]) -> StatementKind {
    let mut words = Words { text, quoted, at: 0, has_several: false };
    let first = words.next().unwrap_or_default();
    let kind = match first.as_str() {
        "begin" => StatementKind::Begin,
        "start" if words.next().as_deref() == Some("transaction") => StatementKind::Begin,
        "end" => StatementKind::Commit,
        "commit" if words.next().as_deref() != Some("prepared") => StatementKind::Commit,
        "abort" => StatementKind::Rollback,
        "rollback" if !words.by_ref().any(|word| matches!(word.as_str(), "to" | "prepared")) => {
            StatementKind::Rollback
        }
        "select" if !locks_or_stores(&mut words) => StatementKind::Read,
        "show" | "values" | "table" => StatementKind::Read,
        _ => return StatementKind::Other,
    };
    words.by_ref().for_each(drop);
    // Several statements in one text may do anything.
    if words.has_several { StatementKind::Other } else { kind }
}

/// Finds `FOR UPDATE`, `FOR SHARE` and similar, `LOCK IN SHARE MODE`, and `INTO`.
fn locks_or_stores(words: &mut Words<'_>) -> bool {
    let mut before = String::new();
    for word in words {
        let follows = before.as_str();
        let locks = follows == "for" && matches!(word.as_str(), "update" | "share" | "no" | "key");
        if locks || (follows == "lock" && word == "in") || word == "into" {
            return true;
        }
        before = word;
    }
    false
}

/// Words of a text in lower case.
struct Words<'a> {
    text: &'a [u8],
    quoted: &'a [Quoted],
    at: usize,
    /// True if there is text after a `;`.
    has_several: bool,
}

impl Iterator for Words<'_> {
    type Item = String;

    fn next(&mut self) -> Option<String> {
        let mut ended = false;
        while let Some(byte) = self.text.get(self.at) {
            while let [first, rest @ ..] = self.quoted
                && first.range.end <= self.at
            {
                self.quoted = rest;
            }
            // A character protected by a backslash does not begin a quotation.
            let is_here =
                |quoted: &&Quoted| quoted.range.contains(&self.at) && quoted.quote != Quote::Protected;
            if let Some(quoted) = self.quoted.first().filter(is_here) {
                self.at = quoted.range.end;
                continue;
            }
            ended |= *byte == b';';
            let rest = &self.text[self.at..];
            let length =
                rest.iter().take_while(|byte| byte.is_ascii_alphanumeric() || **byte == b'_').count();
            if length == 0 {
                self.at += 1;
                continue;
            }
            self.at += length;
            self.has_several |= ended;
            return Some(String::from_utf8_lossy(&rest[..length]).to_ascii_lowercase());
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::script::scan::Scanner;
    use crate::script::script_set::Language;

    #[test]
    fn kind_follows_from_the_words() {
        use StatementKind::{Begin, Commit, Other, Read, Rollback};
        for (text, kind) in [
            ("BEGIN;", Begin),
            ("begin isolation level serializable", Begin),
            ("START TRANSACTION READ ONLY;", Begin),
            ("START REPLICA;", Other),
            ("END;", Commit),
            ("/* ; */ commit and chain;", Commit),
            ("COMMIT PREPARED 'x';", Other),
            ("ROLLBACK;", Rollback),
            ("ROLLBACK WORK AND NO CHAIN;", Rollback),
            ("ABORT", Rollback),
            ("ROLLBACK TO SAVEPOINT a;", Other),
            ("ROLLBACK PREPARED 'x';", Other),
            ("SELECT 1;", Read),
            ("SELECT a FROM t WHERE b = 'for update; into' -- into\n;", Read),
            ("SELECT a FROM t FOR UPDATE;", Other),
            ("SELECT a FROM t FOR NO KEY UPDATE SKIP LOCKED;", Other),
            ("SELECT a FROM t LOCK IN SHARE MODE;", Other),
            ("SELECT a INTO b FROM t", Other),
            (r"SELECT 1\; SELECT 2;", Other),
            (r"BEGIN\; UPDATE t SET a = 1\; END;", Other),
            ("SHOW search_path;", Read),
            ("VALUES (1);", Read),
            ("WITH a AS (DELETE FROM t RETURNING b) SELECT b FROM a;", Other),
            ("UPDATE t SET a = 1;", Other),
            (";", Other),
            ("", Other),
        ] {
            let (collected, _) = Scanner::new(text.as_bytes(), Language::Pgbench).scan();
            assert_eq!(of(&collected.text, &collected.quoted), kind, "{text}");
        }
    }
}
