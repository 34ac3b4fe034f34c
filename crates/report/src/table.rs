//! Table of short texts, for terminals, Markdown, and the page.

use std::io::{self, Write};

use crate::text::{self, pad_left, pad_right};

/// Rows below two-line heads. The first columns name a row, the others have its figures.
pub(crate) struct Table {
    pub(crate) heads: Vec<Head>,
    pub(crate) rows: Vec<Vec<Cell>>,
    /// Number of columns that name a row. They are repeated where a table is split.
    pub(crate) names: usize,
    /// Indexes of columns with drawings, which need a fixed-width font.
    drawn: Vec<usize>,
}

pub(crate) struct Head {
    pub(crate) lines: [String; 2],
    pub(crate) is_left: bool,
}

/// Cell of a table.
pub(crate) struct Cell {
    pub(crate) text: String,
    /// Sort key. `None` for words and missing figures.
    pub(crate) value: Option<f64>,
}

impl From<String> for Cell {
    fn from(text: String) -> Self {
        Self { text, value: None }
    }
}

impl Cell {
    /// A formatted figure, or a dash if there is none.
    pub(crate) fn figure(figure: Option<f64>, write: impl Fn(f64) -> String) -> Self {
        Self { text: figure.map_or_else(|| "–".to_owned(), write), value: figure }
    }

    /// A formatted figure, or `n/a` if there is none.
    pub(crate) fn figure_or_na(figure: Option<f64>, write: impl Fn(f64) -> String) -> Self {
        Self { text: figure.map_or_else(|| "n/a".to_owned(), write), value: figure }
    }

    /// Integer count.
    pub(crate) fn count(count: u64) -> Self {
        Self { text: crate::units::count(count), value: Some(count as f64) }
    }
}

const GAP: &str = "  ";

impl Table {
    /// Creates a table with one column of names.
    pub(crate) fn of_names(head: &str, names: impl IntoIterator<Item = String>) -> Self {
        let rows = names.into_iter().map(|name| vec![name.into()]).collect();
        let head = Head { lines: [head.to_owned(), String::new()], is_left: true };
        Self { heads: vec![head], rows, names: 1, drawn: Vec::new() }
    }

    /// Adds a column that names rows, after the others that do. Numbers are aligned right, other names left.
    pub(crate) fn name(&mut self, head: &str, cells: impl IntoIterator<Item = String>) {
        let cells: Vec<String> = cells.into_iter().collect();
        let is_number = |cell: &String| cell == "–" || cell.parse::<f64>().is_ok();
        let is_left = !cells.iter().all(is_number);
        let cell =
            |text: String| Cell { value: text.parse().ok().filter(|value: &f64| value.is_finite()), text };
        self.add([head, ""], is_left, cells.into_iter().map(cell));
        self.names = self.heads.len();
    }

    /// Adds a column of figures: a head of two lines, and one cell for each row.
    pub(crate) fn column<C: Into<Cell>>(
        &mut self,
        head: &str,
        below: &str,
        cells: impl IntoIterator<Item = C>,
    ) {
        self.add([head, below], false, cells.into_iter().map(Into::into));
    }

    /// Adds a column of words, aligned left.
    pub(crate) fn words(&mut self, head: &str, cells: impl IntoIterator<Item = String>) {
        self.add([head, ""], true, cells.into_iter().map(Into::into));
    }

    /// Adds a column of drawings made of characters.
    pub(crate) fn drawings(&mut self, head: &str, below: &str, cells: impl IntoIterator<Item = String>) {
        self.drawn.push(self.heads.len());
        self.add([head, below], true, cells.into_iter().map(Into::into));
    }

    fn add(&mut self, head: [&str; 2], is_left: bool, cells: impl IntoIterator<Item = Cell>) {
        self.heads.push(Head { lines: head.map(str::to_owned), is_left });
        for (row, cell) in self.rows.iter_mut().zip(cells) {
            row.push(cell);
        }
    }

    /// Writes aligned columns, with `indent` before each line. Columns beyond `width` follow below, with the names repeated.
    pub(crate) fn write_terminal(&self, indent: &str, width: usize, out: &mut dyn Write) -> io::Result<()> {
        let widths: Vec<usize> = (0..self.heads.len()).map(|column| self.width(column)).collect();
        let of_names: usize = widths[..self.names].iter().map(|width| width + GAP.len()).sum();
        let mut from = self.names;
        loop {
            let mut used = indent.len() + of_names - GAP.len();
            let fits = |column: &usize| {
                used += GAP.len() + widths[*column];
                used <= width
            };
            let fitting = (from..widths.len()).take_while(fits).count().max(1);
            let until = (from + fitting).min(widths.len());
            self.write_block(indent, &widths, from..until, out)?;
            if until >= widths.len() {
                return Ok(());
            }
            writeln!(out)?;
            from = until;
        }
    }

    fn write_block(
        &self,
        indent: &str,
        widths: &[usize],
        columns: std::ops::Range<usize>,
        out: &mut dyn Write,
    ) -> io::Result<()> {
        let heads =
            [0, 1].map(|line| self.heads.iter().map(|head| head.lines[line].as_str()).collect::<Vec<_>>());
        let rows = self.rows.iter().map(|row| row.iter().map(|cell| cell.text.as_str()).collect::<Vec<_>>());
        for (is_head, cells) in
            heads.into_iter().map(|cells| (true, cells)).chain(rows.map(|cells| (false, cells)))
        {
            let mut line = indent.to_owned();
            for column in (0..self.names).chain(columns.clone()) {
                // Heads of the names are printed only once.
                let is_repeated = is_head && column < self.names && columns.start > self.names;
                let cell = if is_repeated { "" } else { cells[column] };
                let gap = if column == 0 { "" } else { GAP };
                line.push_str(&match self.heads[column].is_left {
                    true => format!("{gap}{}", pad_right(cell, widths[column])),
                    false => format!("{gap}{}", pad_left(cell, widths[column])),
                });
            }
            if !(is_head && line.trim().is_empty()) {
                writeln!(out, "{}", line.trim_end())?;
            }
        }
        Ok(())
    }

    /// Writes a Markdown table. Cells must be Markdown already.
    pub(crate) fn write_markdown(&self, out: &mut dyn Write) -> io::Result<()> {
        let heads: Vec<String> =
            self.heads.iter().map(|Head { lines, .. }| lines.join(" ").trim().to_owned()).collect();
        writeln!(out, "| {} |", heads.join(" | "))?;
        let sides: Vec<&str> =
            self.heads.iter().map(|head| if head.is_left { ":--" } else { "--:" }).collect();
        writeln!(out, "|{}|", sides.join("|"))?;
        self.rows.iter().try_for_each(|row| {
            let cell = |(column, cell): (usize, &Cell)| match self.drawn.contains(&column) {
                true if !cell.text.is_empty() => format!("`{}`", cell.text),
                _ => cell.text.clone(),
            };
            let cells: Vec<String> = row.iter().enumerate().map(cell).collect();
            writeln!(out, "| {} |", cells.join(" | "))
        })
    }

    fn width(&self, column: usize) -> usize {
        let heads = self.heads[column].lines.iter();
        heads
            .chain(self.rows.iter().map(|row| &row[column].text))
            .map(|cell| text::columns(cell))
            .max()
            .unwrap_or(0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table() -> Table {
        let mut table = Table::of_names("run", ["a".to_owned(), "long".to_owned()]);
        table.column("mean", "ms", ["1.0".to_owned(), "10.0".to_owned()]);
        table.column("max", "ms", ["2.0".to_owned(), "n/a".to_owned()]);
        table
    }

    #[test]
    fn columns_beyond_the_width_follow_below() {
        let written = |width| {
            let mut out = Vec::new();
            table().write_terminal(" ", width, &mut out).unwrap();
            String::from_utf8(out).unwrap()
        };
        assert_eq!(written(80), " run   mean  max\n         ms   ms\n a      1.0  2.0\n long  10.0  n/a\n");
        let split = " run   mean\n         ms\n a      1.0\n long  10.0\n\n       max\n        ms\n a     2.0\n long  n/a\n";
        assert_eq!(written(12), split);
        assert_eq!(written(0), split);
    }

    #[test]
    fn names_of_rows_are_repeated_and_words_are_aligned_left() {
        let mut table = Table::of_names("system", ["puma".to_owned(), "unicorn".to_owned()]);
        table.name("workers", ["8".to_owned(), "–".to_owned()]);
        table.column("mean", "ms", ["1.0".to_owned(), "10.0".to_owned()]);
        table.words("note", ["best".to_owned(), "failed".to_owned()]);
        let mut out = Vec::new();
        table.write_terminal("", 22, &mut out).unwrap();
        let text = String::from_utf8(out).unwrap();
        let expected = "system   workers  mean\n                    ms\npuma           8   1.0\nunicorn        –  10.0\n\n                  note\npuma           8  best\nunicorn        –  failed\n";
        assert_eq!(text, expected);
        let mut out = Vec::new();
        table.write_markdown(&mut out).unwrap();
        assert!(String::from_utf8(out).unwrap().contains("|:--|--:|--:|:--|"));
    }

    #[test]
    fn markdown_joins_head_lines() {
        let mut out = Vec::new();
        table().write_markdown(&mut out).unwrap();
        let text = String::from_utf8(out).unwrap();
        assert_eq!(
            text,
            "| run | mean ms | max ms |\n|:--|--:|--:|\n| a | 1.0 | 2.0 |\n| long | 10.0 | n/a |\n"
        );
    }
}
