//! Formats tables of figures as text.

use std::fmt::Write as _;

use units::shown::decimal;

use crate::spread::Spread;

/// Placeholder for a missing figure.
const NONE: &str = "–";

/// Formats minimum, median, and maximum of a figure, or a dash for `None`.
pub fn cell(spread: Option<Spread>, decimals: usize) -> String {
    let Some(Spread { min, median, max }) = spread else { return NONE.to_owned() };
    [min, median, max].map(|value| decimal(value, decimals)).join(" – ")
}

/// Formats lines with the first column left-aligned and the others right-aligned.
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
