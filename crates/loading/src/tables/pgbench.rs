//! The four tables of pgbench.

use sql::Engine;

use super::{Finish, Table};
use crate::options::{Options, PartitionMethod};
use crate::rows::{ACCOUNTS, Content, TELLERS};

/// Scale from which account numbers have eight bytes.
const SCALE_OF_BIG: u32 = 20_000;

pub(super) fn tables(engine: Engine, options: &Options) -> Vec<Table> {
    let scale = u64::from(options.scale);
    let is_big = options.scale >= SCALE_OF_BIG;
    let aid = if is_big { "bigint" } else { "int" };
    let with_blanks = engine == Engine::Sqlite;
    let content = Content::Accounts { is_big, needs_blanks: with_blanks };
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

fn create_words(options: &Options) -> &'static str {
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
    let (create, indexes) = match engine {
        Engine::PostgreSql => {
            let index = format!("{name}_pkey");
            let statement = format!("alter table {name} add primary key ({key_name})");
            let columns = format!("{key_name} {key_type} not null,{rest}");
            (postgres(options, &name, &columns, rows), vec![Finish::key(index, statement)])
        }
        // Rows come in key order, and the table itself is the index, so the key costs nothing from the beginning.
        Engine::MySql => {
            (vec![format!("create table {name} ({key_name} {key_type} not null primary key,{rest})")], vec![])
        }
        Engine::Sqlite => {
            (vec![format!("create table {name} ({key_name} integer not null primary key,{rest})")], vec![])
        }
    };
    let columns = if word == "branches" { 3 } else { 4 };
    let is_partitioned = create.len() > 1;
    Table { name, create, columns, content, rows, is_partitioned, key, indexes, references: Vec::new() }
}

fn postgres(options: &Options, name: &str, columns: &str, rows: u64) -> Vec<String> {
    let (words, fillfactor, count) = (create_words(options), options.fillfactor, options.partitions);
    if count == 0 || name != "pgbench_accounts" {
        return vec![format!("{words} {name}({columns}) with (fillfactor={fillfactor})")];
    }
    let method = match options.partition_method {
        PartitionMethod::Range => "range",
        PartitionMethod::Hash => "hash",
    };
    let mut create = vec![format!("create table {name}({columns}) partition by {method} (aid)")];
    let size = rows.div_ceil(count.into());
    create.extend((1..=u64::from(count)).map(|number| {
        let values = match options.partition_method {
            PartitionMethod::Hash => format!("with (modulus {count}, remainder {})", number - 1),
            PartitionMethod::Range => {
                let bound = |at: u64, open: &str| match at {
                    0 => open.to_owned(),
                    at if at == u64::from(count) => open.to_owned(),
                    at => (at * size + 1).to_string(),
                };
                format!("from ({}) to ({})", bound(number - 1, "minvalue"), bound(number, "maxvalue"))
            }
        };
        format!(
            "{words} {name}_{number} partition of {name} for values {values} with (fillfactor={fillfactor})"
        )
    }));
    create
}

fn history(engine: Engine, options: &Options, aid: &str) -> Table {
    let (words, time) = match engine {
        Engine::PostgreSql => (create_words(options), "timestamp"),
        // Without NULL, MySQL adds a default and an automatic update.
        Engine::MySql => ("create table", "timestamp null"),
        Engine::Sqlite => ("create table", "timestamp"),
    };
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
            table.references.push(Finish::new(&constraint, &statement));
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
