//! Tables of figures as text.

use std::fmt::Write as _;

use crate::spread::Spread;

/// What stands where there is no figure.
const NONE: &str = "–";

/// The least, the middle and the most of a figure; a dash where there is none.
pub fn cell(spread: Option<Spread>, decimals: usize) -> String {
    let Some(Spread { min, median, max }) = spread else { return NONE.to_owned() };
    [min, median, max].map(|value| number(value, decimals)).join(" – ")
}

/// With a comma between thousands.
fn number(value: f64, decimals: usize) -> String {
    let text = format!("{value:.decimals$}");
    let (whole, rest) = text.split_at(text.find('.').unwrap_or(text.len()));
    let (sign, digits) = whole.split_at(usize::from(whole.starts_with('-')));
    let mut grouped = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            grouped.push(',');
        }
        grouped.push(digit);
    }
    format!("{sign}{grouped}{rest}")
}

/// The first column to the left, the others to the right.
pub fn aligned(lines: &[Vec<String>]) -> String {
    let columns = lines.iter().map(Vec::len).max().unwrap_or_default();
    let width = |column: usize| {
        lines.iter().filter_map(|line| line.get(column)).map(|cell| cell.chars().count()).max()
    };
    let widths: Vec<usize> = (0..columns).map(|column| width(column).unwrap_or_default()).collect();
    let mut text = String::new();
    for line in lines {
        let mut cells = line.iter().zip(&widths);
        if let Some((name, width)) = cells.next() {
            let _ = write!(text, "  {name:<width$}");
        }
        for (cell, width) in cells {
            let _ = write!(text, "   {cell:>width$}");
        }
        text.push('\n');
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_grouped() {
        assert_eq!(number(1_234_567.0, 0), "1,234,567");
        assert_eq!(number(-1_234.5, 1), "-1,234.5");
        assert_eq!(number(999.994, 2), "999.99");
        assert_eq!(number(0.0, 0), "0");
    }
}
