//! The table of figures in the documents is the list of the code: with `UPDATE=1` this test writes it.

use machine::FIGURES;
use rules::files::assert_table;

#[test]
fn every_figure_is_defined() {
    let head = "| key | in tables | unit | better | definition |\n|---|---|---|---|---|\n".to_owned();
    let rows = FIGURES.iter().map(|figure| {
        let better = if figure.is_more_better { "higher" } else { "lower" };
        let (key, unit) = (figure.key, figure.unit.name());
        format!("| `{key}` | {} | {unit} | {better} | {} |\n", figure.title, figure.definition)
    });
    assert_table("docs/machine.md", &std::iter::once(head).chain(rows).collect::<String>());
}
