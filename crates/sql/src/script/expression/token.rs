//! Tokens of expressions.

use crate::script::script_set::{Language, is_name_byte};
use crate::script::value::double;

/// A token.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Token<'a> {
    Int(i64),
    /// 9223372036854775808, which is a valid integer only after a minus.
    IntBelow,
    Double(f64),
    Boolean(bool),
    Null,
    Text(String),
    Variable(&'a [u8]),
    Name(&'a [u8]),
    Keyword(Keyword),
    /// Operator, parenthesis, or comma.
    Symbol(&'static str),
    /// End of the expression.
    End,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Keyword {
    And,
    Or,
    Not,
    Is,
    Isnull,
    Notnull,
    Case,
    When,
    Then,
    Else,
    End,
}

/// Operators, longer ones first.
const SYMBOLS: [&str; 21] = [
    "<>", "!=", "<=", ">=", "<<", ">>", "+", "-", "*", "/", "%", "=", "<", ">", "|", "&", "#", "~", "(", ")",
    ",",
];

const KEYWORDS: [(&str, Keyword); 11] = [
    ("and", Keyword::And),
    ("or", Keyword::Or),
    ("not", Keyword::Not),
    ("is", Keyword::Is),
    ("isnull", Keyword::Isnull),
    ("notnull", Keyword::Notnull),
    ("case", Keyword::Case),
    ("when", Keyword::When),
    ("then", Keyword::Then),
    ("else", Keyword::Else),
    ("end", Keyword::End),
];

/// Tokenizer of the text of a command, which may have several lines.
#[derive(Clone, Debug)]
pub(super) struct Tokens<'a> {
    text: &'a [u8],
    at: usize,
    language: Language,
}

impl<'a> Tokens<'a> {
    pub(super) fn new(text: &'a [u8], language: Language) -> Self {
        Self { text, at: 0, language }
    }

    /// Returns the next token and its position.
    ///
    /// # Errors
    ///
    /// Message and position of an invalid token.
    pub(super) fn next(&mut self) -> Result<(Token<'a>, usize), (String, usize)> {
        self.skip_space();
        let from = self.at;
        let rest = &self.text[from..];
        let Some(first) = rest.first() else { return Ok((Token::End, from)) };
        let token = match first {
            b'0'..=b'9' => self.number(),
            b'.' if rest.get(1).is_some_and(u8::is_ascii_digit) => self.number(),
            b':' if rest.get(1).is_some_and(|byte| is_name_byte(*byte)) => {
                self.at += 1;
                Ok(Token::Variable(self.name()))
            }
            b'\'' if self.language == Language::Extended => self.text(),
            byte if is_name_byte(*byte) => Ok(word(self.name())),
            _ => self.sign(),
        };
        token.map(|token| (token, from)).map_err(|message| (message, from))
    }

    /// Skips white space, line continuations, and the line end of the command.
    fn skip_space(&mut self) {
        loop {
            match &self.text[self.at..] {
                [b' ' | b'\t' | b'\r' | b'\n' | 0x0b | 0x0c, ..] => self.at += 1,
                [b'\\', b'\n', ..] => self.at += 2,
                [b'\\', b'\r', b'\n', ..] => self.at += 3,
                _ => return,
            }
        }
    }

    fn name(&mut self) -> &'a [u8] {
        let rest = &self.text[self.at..];
        let name = &rest[..rest.iter().take_while(|byte| is_name_byte(**byte)).count()];
        self.at += name.len();
        name
    }

    fn digits(&mut self) -> usize {
        let digits = self.text[self.at..].iter().take_while(|byte| byte.is_ascii_digit()).count();
        self.at += digits;
        digits
    }

    fn number(&mut self) -> Result<Token<'a>, String> {
        let from = self.at;
        let mut is_double = false;
        self.digits();
        if self.text.get(self.at) == Some(&b'.') {
            is_double = true;
            self.at += 1;
            self.digits();
        }
        if let [b'e' | b'E', rest @ ..] = &self.text[self.at..] {
            let sign = usize::from(matches!(rest.first(), Some(b'+' | b'-')));
            if rest.get(sign).is_some_and(u8::is_ascii_digit) {
                is_double = true;
                self.at += 1 + sign;
                self.digits();
            }
        }
        let text = std::str::from_utf8(&self.text[from..self.at]).unwrap_or_default();
        if is_double {
            return double(text).map(Token::Double).ok_or(format!("double constant overflow ({text})"));
        }
        if text == "9223372036854775808" {
            return Ok(Token::IntBelow);
        }
        text.parse().map(Token::Int).map_err(|_| format!("bigint constant overflow ({text})"))
    }

    /// Reads a quoted text, in which two quotes stand for one.
    fn text(&mut self) -> Result<Token<'a>, String> {
        let mut text = Vec::new();
        loop {
            let rest = &self.text[self.at + 1..];
            let Some(length) = rest.iter().position(|byte| *byte == b'\'') else {
                return Err("text without its closing quote".to_owned());
            };
            text.extend_from_slice(&rest[..length]);
            self.at += length + 2;
            if self.text.get(self.at) != Some(&b'\'') {
                return Ok(Token::Text(String::from_utf8_lossy(&text).into_owned()));
            }
            text.push(b'\'');
        }
    }

    fn sign(&mut self) -> Result<Token<'a>, String> {
        let rest = &self.text[self.at..];
        if let Some(sign) = SYMBOLS.iter().find(|sign| rest.starts_with(sign.as_bytes())) {
            self.at += sign.len();
            return Ok(Token::Symbol(sign));
        }
        Err(format!("unexpected character ({})", char::from(rest[0])))
    }
}

fn word(name: &[u8]) -> Token<'_> {
    let is = |word: &str| name.eq_ignore_ascii_case(word.as_bytes());
    if is("null") {
        Token::Null
    } else if is("true") || is("false") {
        Token::Boolean(is("true"))
    } else if let Some((_, keyword)) = KEYWORDS.iter().find(|(word, _)| is(word)) {
        Token::Keyword(*keyword)
    } else {
        Token::Name(name)
    }
}
