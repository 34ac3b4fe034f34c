//! Tables of figures as text.

use std::fmt::Write as _;

use units::shown::decimal;

use crate::spread::Spread;

/// What stands where there is no figure.
const NONE: &str = "–";

/// The least, the middle and the most of a figure; a dash where there is none.
pub fn cell(spread: Option<Spread>, decimals: usize) -> String {
    let Some(Spread { min, median, max }) = spread else { return NONE.to_owned() };
    [min, median, max].map(|value| decimal(value, decimals)).join(" – ")
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
