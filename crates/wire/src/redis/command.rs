//! Encoding of commands: compiled once, and encoded for each exchange as an array of bulk strings. A value is never split into several
//! words.

use alloc::boxed::Box;
use alloc::string::String;
use alloc::vec::Vec;

use super::delivery::Published;
use super::rules::Rules;
use super::step::RedisStep;
use crate::secrets::Secrets;
use crate::step::Template;
use crate::words;

/// Max length of `*N` or `$N` with its CR LF.
const HEADER_BYTES_MAX: u64 = 23;

/// A compiled command of a load.
#[derive(Debug)]
pub(super) struct Command {
    pieces: Box<[Piece]>,
    /// Checks of the reply, and values to save from it.
    pub(super) rules: Rules,
    /// Channel and message of the awaited delivery. `None` for other commands.
    pub(super) published: Option<Published>,
}

#[derive(Debug)]
enum Piece {
    /// Encoded words without variables.
    Fixed(Vec<u8>),
    /// A word with variables.
    Word(Template),
}

impl Command {
    /// Compiles the command of a step.
    ///
    /// # Errors
    ///
    /// The message for an unknown variable.
    pub(super) fn compile(step: &RedisStep, variables: &[String], secrets: &Secrets) -> Result<Self, String> {
        let mut fixed = Vec::new();
        put_count(step.words.len(), &mut fixed);
        let mut pieces = Vec::new();
        for word in &step.words {
            let template = Template::compile(word, variables, secrets)?;
            match template.constant() {
                Some(constant) => put_word(constant, &mut fixed),
                None => {
                    pieces.push(Piece::Fixed(core::mem::take(&mut fixed)));
                    pieces.push(Piece::Word(template));
                }
            }
        }
        pieces.push(Piece::Fixed(fixed));
        let published = step.awaits_delivery.then(|| Published::compile(&step.words, variables, secrets));
        let rules = Rules::compile(step, variables, secrets)?;
        Ok(Self { pieces: pieces.into(), rules, published: published.transpose()? })
    }

    /// Appends the command. `value` returns the value of a variable, empty if it has none.
    #[inline]
    pub(super) fn encode<'v>(&self, value: &impl Fn(u16) -> &'v [u8], out: &mut Vec<u8>) {
        for piece in &self.pieces {
            match piece {
                Piece::Fixed(bytes) => out.extend_from_slice(bytes),
                Piece::Word(word) => {
                    put_header(b'$', word.bytes_max(&|number| value(number).len() as u64), out);
                    word.fill(value, out);
                    out.extend_from_slice(b"\r\n");
                }
            }
        }
    }

    /// Whether the command or its checks need a variable.
    pub(super) fn needs(&self, variable: u16) -> bool {
        self.words().flat_map(Template::variables).any(|needed| needed == variable)
            || self.rules.needs(variable)
    }

    /// Max length of the encoded command in bytes.
    pub(super) fn bytes_max(&self, longest_bytes: &dyn Fn(u16) -> u64) -> u64 {
        let bytes = |piece: &Piece| match piece {
            Piece::Fixed(bytes) => bytes.len() as u64,
            Piece::Word(word) => word.bytes_max(longest_bytes).saturating_add(HEADER_BYTES_MAX + 2),
        };
        let further = self.published.as_ref().map_or(0, |published| published.bytes_max(longest_bytes));
        self.pieces.iter().map(bytes).fold(further, u64::saturating_add)
    }

    /// Whether the content of replies or of pushes is needed.
    #[inline]
    pub(super) fn inspects_replies(&self) -> bool {
        self.rules.need_content() || self.published.is_some()
    }

    fn words(&self) -> impl Iterator<Item = &Template> {
        self.pieces.iter().filter_map(|piece| match piece {
            Piece::Word(word) => Some(word),
            Piece::Fixed(_) => None,
        })
    }
}

/// Words of a command in the format of MONITOR, each in quotes. `None` if a quote is not closed, or if there is no word.
pub fn recorded_words(line: &[u8]) -> Option<Vec<Vec<u8>>> {
    words::split(line).ok()
}

/// Appends a command of constant words.
pub(super) fn put_words(words: &[&[u8]], out: &mut Vec<u8>) {
    put_count(words.len(), out);
    words.iter().for_each(|word| put_word(word, out));
}

/// Appends the number of words of a command.
pub(super) fn put_count(words: usize, out: &mut Vec<u8>) {
    put_header(b'*', words as u64, out);
}

/// Appends a word with its length.
pub(super) fn put_word(word: &[u8], out: &mut Vec<u8>) {
    put_header(b'$', word.len() as u64, out);
    out.extend_from_slice(word);
    out.extend_from_slice(b"\r\n");
}

fn put_header(kind: u8, mut number: u64, out: &mut Vec<u8>) {
    let mut header = [0; HEADER_BYTES_MAX as usize];
    let mut at = header.len() - 2;
    header[at..].copy_from_slice(b"\r\n");
    loop {
        at -= 1;
        header[at] = b'0' + (number % 10) as u8;
        number /= 10;
        if number == 0 {
            break;
        }
    }
    at -= 1;
    header[at] = kind;
    out.extend_from_slice(&header[at..]);
}
