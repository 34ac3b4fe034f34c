//! The four tables of pgbench.

use sql::Engine;

use super::{FinalStep, Table};
use crate::databases::{self, PgbenchTable};
use crate::options::Options;
use crate::rows::{ACCOUNTS, Content, TELLERS};

/// Scale from which account numbers have eight bytes.
const BIG_SCALE_MIN: u32 = 20_000;

pub(super) fn tables(engine: Engine, options: &Options) -> Vec<Table> {
    let scale = u64::from(options.scale);
    let is_big = options.scale >= BIG_SCALE_MIN;
    let aid = if is_big { "bigint" } else { "int" };
    let content = Content::Accounts { is_big, needs_blanks: databases::of(engine).tables.needs_blanks };
    let tables = vec![
        table(
            engine,
            options,
            "branches",
            Some("bid"),
            "bbalance int,filler char(88)",
            Content::Branches,
            scale,
        ),
        table(
            engine,
            options,
            "tellers",
            Some("tid"),
            "bid int,tbalance int,filler char(84)",
            Content::Tellers,
            scale * TELLERS,
        ),
        table(
            engine,
            options,
            "accounts",
            Some("aid"),
            "bid int,abalance int,filler char(84)",
            content,
            scale * ACCOUNTS,
        ),
        history(engine, options, aid),
    ];
    if options.foreign_keys { with_references(tables) } else { tables }
}

/// First words of a statement that creates a table.
pub(crate) fn create_words(options: &Options) -> &'static str {
    if options.unlogged { "create unlogged table" } else { "create table" }
}

fn table(
    engine: Engine,
    options: &Options,
    word: &str,
    key: Option<&'static str>,
    rest: &str,
    content: Content,
    rows: u64,
) -> Table {
    let name = format!("pgbench_{word}");
    let key_name = key.unwrap_or_default();
    let is_big = matches!(content, Content::Accounts { is_big: true, .. });
    let key_type = if is_big { "bigint" } else { "int" };
    let syntax = databases::of(engine).tables;
    let (create, indexes) =
        (syntax.pgbench)(&PgbenchTable { name: &name, key: (key_name, key_type), rest, rows, options });
    let columns = if word == "branches" { 3 } else { 4 };
    let is_partitioned = create.len() > 1;
    Table { name, create, columns, content, rows, is_partitioned, key, indexes, references: Vec::new() }
}

fn history(engine: Engine, options: &Options, aid: &str) -> Table {
    let (words, time) = (create_words(options), databases::of(engine).tables.timestamp);
    let columns = format!("tid int,bid int,aid {aid},delta int,mtime {time},filler char(22)");
    Table {
        name: "pgbench_history".to_owned(),
        create: vec![format!("{words} pgbench_history({columns})")],
        columns: 6,
        content: Content::Nothing,
        rows: 0,
        is_partitioned: false,
        key: None,
        indexes: Vec::new(),
        references: Vec::new(),
    }
}

fn with_references(mut tables: Vec<Table>) -> Vec<Table> {
    let all = [
        ("pgbench_tellers", "bid", "pgbench_branches"),
        ("pgbench_accounts", "bid", "pgbench_branches"),
        ("pgbench_history", "bid", "pgbench_branches"),
        ("pgbench_history", "tid", "pgbench_tellers"),
        ("pgbench_history", "aid", "pgbench_accounts"),
    ];
    for (name, column, of) in all {
        let constraint = format!("{name}_{column}_fkey");
        let statement =
            format!("alter table {name} add constraint {constraint} foreign key ({column}) references {of}");
        for table in tables.iter_mut().filter(|table| table.name == name) {
            table.references.push(FinalStep::new(&constraint, &statement));
        }
    }
    tables
}

#[cfg(test)]
mod tests {
    use super::*;

    fn accounts(options: &Options) -> Table {
        tables(Engine::PostgreSql, options).swap_remove(2)
    }

    #[test]
    fn many_accounts_have_eight_byte_numbers() {
        assert!(accounts(&Options::default()).create[0].contains("aid int not null"));
        let many = accounts(&Options { scale: 20_000, ..Options::default() });
        assert!(many.create[0].contains("aid bigint not null") && many.rows == 2_000_000_000);
    }

    #[test]
    fn partition_ranges_have_no_gaps() {
        let create = accounts(&Options { partitions: 3, ..Options::default() }).create;
        assert_eq!(create.len(), 4);
        assert!(create[1].contains("from (minvalue) to (33335)"), "{}", create[1]);
        assert!(create[2].contains("from (33335) to (66669)"), "{}", create[2]);
        assert!(create[3].contains("from (66669) to (maxvalue)"), "{}", create[3]);
    }
}
