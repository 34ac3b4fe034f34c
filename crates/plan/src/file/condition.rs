//! Reads `if` of a step: `{status} == 200`, `{token} != none`, `{token} is present`, `{token} is absent`.

use load::{Condition, Subject, Test};
use wire::braces::{Piece, pieces};

use super::reading::Reading;
use super::tree::Node;
use super::variables::Variables;

/// Name of the latest reply's status in a condition.
pub(crate) const STATUS: &str = "status";

/// Help for a condition that cannot be parsed.
const HELP: &str =
    "write a condition such as \"{status} == 200\", \"{token} != none\", or \"{token} is present\"";

/// Reads a condition.
pub(crate) fn read(node: &Node, variables: &mut Variables, reading: &mut Reading<'_>) -> Option<Condition> {
    let text = node.text()?;
    let mut wrong = |start: usize, end: usize, what: &str, help: &str| {
        reading.at(node.part(reading.source, start, end), what, help);
        None
    };
    let (name, name_end) = match pieces(text.as_bytes()).next() {
        Some(Piece::Name(name)) => (name, name.len() + 2),
        _ => return wrong(0, text.len(), "a condition begins with a value in braces", HELP),
    };
    let rest = text[name_end..].trim_start();
    let at = text.len() - rest.len();
    let (test, operand_at) = if let Some(operand) = rest.strip_prefix("==") {
        (Test::Is(unquote(operand).into()), Some(at + 2))
    } else if let Some(operand) = rest.strip_prefix("!=") {
        (Test::IsNot(unquote(operand).into()), Some(at + 2))
    } else {
        match rest.trim_end() {
            "is present" => (Test::Present, None),
            "is absent" => (Test::Absent, None),
            "" => return wrong(0, text.len(), "the condition compares nothing", HELP),
            _ => {
                let what = "unknown comparison; known are ==, !=, is present, and is absent";
                return wrong(at, text.len(), what, HELP);
            }
        }
    };
    if let Some(operand_at) = operand_at {
        let operand = &text[operand_at..];
        let is_constant = pieces(operand.as_bytes()).all(|piece| matches!(piece, Piece::Text(_)));
        if operand.trim().is_empty() {
            return wrong(at, text.len(), "the comparison has no constant", HELP);
        }
        if !is_constant {
            let help = "write a text behind the comparison; {{…}} for literal braces";
            return wrong(operand_at, text.len(), "a condition compares with a constant", help);
        }
    }
    if name == STATUS {
        return status(test, operand_at.unwrap_or(at), text.len(), wrong);
    }
    variables.resolve_names(node, &text[..name_end], reading);
    let variable = variables.names().iter().position(|known| known == name)?;
    Some(Condition { subject: Subject::Variable(variable as u16), test })
}

/// Reads a condition on the status, which is always present.
fn status(
    test: Test,
    at: usize,
    end: usize,
    mut wrong: impl FnMut(usize, usize, &str, &str) -> Option<Condition>,
) -> Option<Condition> {
    let is_status = |text: &[u8]| {
        let number = std::str::from_utf8(text).ok().and_then(|text| text.parse::<u16>().ok());
        text.len() == 3 && number.is_some_and(|status| (100..600).contains(&status))
    };
    match &test {
        Test::Is(text) | Test::IsNot(text) if is_status(text) => {
            Some(Condition { subject: Subject::Status, test })
        }
        Test::Is(_) | Test::IsNot(_) => {
            wrong(at, end, "this is not a status between 100 and 599", "write a number such as 200")
        }
        Test::Present | Test::Absent => {
            wrong(at, end, "{status} is always present", "compare it, as in \"{status} == 200\"")
        }
    }
}

/// Constant with its quotes removed.
fn unquote(text: &str) -> Vec<u8> {
    let text = text.trim();
    let quoted = ['\'', '"'].iter().find_map(|quote| text.strip_prefix(*quote)?.strip_suffix(*quote));
    let literal = pieces(quoted.unwrap_or(text).as_bytes()).filter_map(|piece| match piece {
        Piece::Text(bytes) => Some(bytes),
        Piece::Name(_) | Piece::Raw(_) => None,
    });
    literal.flatten().copied().collect()
}
