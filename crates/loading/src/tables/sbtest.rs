//! Tables of sysbench.

use sql::Engine;

use super::{Finish, Table};
use crate::options::Options;
use crate::rows::Content;

const REST: &str =
    "k INTEGER DEFAULT '0' NOT NULL,c CHAR(120) DEFAULT '' NOT NULL,pad CHAR(60) DEFAULT '' NOT NULL";

pub(super) fn tables(engine: Engine, options: &Options) -> Vec<Table> {
    (1..=options.tables).map(|number| table(engine, options, number)).collect()
}

fn table(engine: Engine, options: &Options, number: u32) -> Table {
    let name = format!("sbtest{number}");
    let size = options.table_size;
    let mut indexes = Vec::new();
    let create = match engine {
        Engine::PostgreSql => {
            let key = format!("ALTER TABLE {name} ADD PRIMARY KEY (id)");
            indexes.push(Finish::key(format!("{name}_pkey"), key));
            // Rows have explicit numbers, so the sequence must be advanced.
            let next = format!("SELECT setval('{name}_id_seq', {size})");
            indexes.push(Finish::new(format!("{name}_id_seq"), next));
            format!("CREATE TABLE {name}(id SERIAL,{REST})")
        }
        Engine::MySql => {
            format!(
                "CREATE TABLE {name}(id INTEGER NOT NULL AUTO_INCREMENT,{REST},PRIMARY KEY (id)) ENGINE=InnoDB"
            )
        }
        Engine::Sqlite => format!("CREATE TABLE {name}(id INTEGER PRIMARY KEY AUTOINCREMENT,{REST})"),
    };
    let index = format!("k_{number}");
    indexes.push(Finish::new(&index, format!("CREATE INDEX {index} ON {name}(k)")));
    Table {
        name,
        create: vec![create],
        columns: 4,
        content: Content::Sbtest { seed: options.seed, number, size },
        rows: size.into(),
        is_partitioned: false,
        key: Some("id"),
        indexes,
        references: Vec::new(),
    }
}

/// Empty tables of sysbench's `bulk_insert`.
pub(super) fn empty_tables(engine: Engine, options: &Options) -> Vec<Table> {
    let engine_words = if engine == Engine::MySql { " ENGINE=InnoDB" } else { "" };
    let columns = "id INTEGER NOT NULL,k INTEGER DEFAULT '0' NOT NULL,PRIMARY KEY (id)";
    (1..=options.tables)
        .map(|number| {
            let name = format!("sbtest{number}");
            Table {
                create: vec![format!("CREATE TABLE {name} ({columns}){engine_words}")],
                name,
                columns: 2,
                content: Content::Nothing,
                rows: 0,
                is_partitioned: false,
                key: None,
                indexes: Vec::new(),
                references: Vec::new(),
            }
        })
        .collect()
}
