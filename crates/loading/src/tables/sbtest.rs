//! Tables of sysbench.

use sql::Engine;

use super::{FinalStep, Table};
use crate::databases;
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
    let (create, mut indexes) = (databases::of(engine).tables.sysbench)(&name, REST, size);
    let index = format!("k_{number}");
    indexes.push(FinalStep::new(&index, format!("CREATE INDEX {index} ON {name}(k)")));
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
    let suffix = databases::of(engine).tables.suffix;
    let columns = "id INTEGER NOT NULL,k INTEGER DEFAULT '0' NOT NULL,PRIMARY KEY (id)";
    (1..=options.tables)
        .map(|number| {
            let name = format!("sbtest{number}");
            Table {
                create: vec![format!("CREATE TABLE {name} ({columns}){suffix}")],
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
