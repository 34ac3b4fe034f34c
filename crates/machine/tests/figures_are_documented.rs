//! The table of figures in the documentation is generated from the code. `UPDATE=1` rewrites it.

use machine::FIGURES;
use rules::files::assert_table;

#[test]
fn every_figure_is_defined() {
    let head = "| key | in tables | unit | better | definition |\n|---|---|---|---|---|\n".to_owned();
    let rows = FIGURES.iter().map(|figure| {
        let better = if figure.is_higher_better { "higher" } else { "lower" };
        let (key, unit) = (figure.key, figure.unit.name());
        format!("| `{key}` | {} | {unit} | {better} | {} |\n", figure.title, figure.definition)
    });
    assert_table("docs/machine.md", &std::iter::once(head).chain(rows).collect::<String>());
}
