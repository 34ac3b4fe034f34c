//! A table of short texts, for terminals and for Markdown.

use std::io::{self, Write};

/// Rows under heads of two lines. The first column is a name and stands left, the others stand right.
#[derive(Default)]
pub(crate) struct Table {
    heads: Vec<[String; 2]>,
    rows: Vec<Vec<String>>,
}

const GAP: &str = "  ";

impl Table {
    /// A table with one column for the names.
    pub(crate) fn of_names(head: &str, names: impl IntoIterator<Item = String>) -> Self {
        let rows = names.into_iter().map(|name| vec![name]).collect();
        Self { heads: vec![[head.to_owned(), String::new()]], rows }
    }

    /// Adds a column: its head in two lines, and a cell for every row.
    pub(crate) fn column(&mut self, head: &str, below: &str, cells: impl IntoIterator<Item = String>) {
        self.heads.push([head.to_owned(), below.to_owned()]);
        for (row, cell) in self.rows.iter_mut().zip(cells) {
            row.push(cell);
        }
    }

    /// Writes aligned columns, each line begun by `indent`. What does not fit in the width follows below, with the names
    /// again.
    pub(crate) fn write_terminal(&self, indent: &str, width: usize, out: &mut dyn Write) -> io::Result<()> {
        let widths: Vec<usize> = (0..self.heads.len()).map(|column| self.width(column)).collect();
        let mut from = 1;
        loop {
            let mut used = indent.len() + widths[0];
            let fits = |column: &usize| {
                used += GAP.len() + widths[*column];
                used <= width
            };
            let fitting = (from..widths.len()).take_while(fits).count().max(1);
            let until = (from + fitting).min(widths.len());
            self.write_block(indent, &widths, from..until, out)?;
            if until == widths.len() {
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
        let heads = [0, 1].map(|line| self.heads.iter().map(|head| head[line].as_str()).collect::<Vec<_>>());
        let heads = heads.into_iter().filter(|cells| cells.iter().any(|cell| !cell.is_empty()));
        let rows = self.rows.iter().map(|row| row.iter().map(String::as_str).collect::<Vec<_>>());
        for (is_head, cells) in heads.map(|cells| (true, cells)).chain(rows.map(|cells| (false, cells))) {
            // The head of the names is said once.
            let name = if is_head && columns.start > 1 { "" } else { cells[0] };
            let mut line = format!("{indent}{name:<0$}", widths[0]);
            for column in columns.clone() {
                line.push_str(&format!("{GAP}{:>1$}", cells[column], widths[column]));
            }
            writeln!(out, "{}", line.trim_end())?;
        }
        Ok(())
    }

    /// Writes a Markdown table; the cells are Markdown already.
    pub(crate) fn write_markdown(&self, out: &mut dyn Write) -> io::Result<()> {
        let heads: Vec<String> =
            self.heads.iter().map(|[head, below]| format!("{head} {below}").trim().to_owned()).collect();
        writeln!(out, "| {} |", heads.join(" | "))?;
        writeln!(out, "|:--{}|", "|--:".repeat(self.heads.len() - 1))?;
        self.rows.iter().try_for_each(|row| writeln!(out, "| {} |", row.join(" | ")))
    }

    fn width(&self, column: usize) -> usize {
        let heads = self.heads[column].iter();
        heads
            .chain(self.rows.iter().map(|row| &row[column]))
            .map(|cell| cell.chars().count())
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
    fn columns_that_do_not_fit_follow_below() {
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
    fn markdown_has_one_line_of_heads() {
        let mut out = Vec::new();
        table().write_markdown(&mut out).unwrap();
        let text = String::from_utf8(out).unwrap();
        assert_eq!(
            text,
            "| run | mean ms | max ms |\n|:--|--:|--:|\n| a | 1.0 | 2.0 |\n| long | 10.0 | n/a |\n"
        );
    }
}
