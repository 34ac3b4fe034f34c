//! Tables in the shape of TPC-C: warehouses, and everything that grows with them.

use sql::Engine;

use super::{FinalStep, Table};
use crate::databases::{self, TableSyntax};
use crate::options::Options;
use crate::rows::{Content, TpccTable};

/// Tables in the order of creation.
pub(super) fn tables(engine: Engine, options: &Options) -> Vec<Table> {
    let TableSyntax { tpcc_time: time, text_suffix: suffix, .. } = databases::of(engine).tables;
    let make = |kind: TpccTable| {
        let Definition { name, columns, key, index } = definition(kind);
        let primary = key.map_or_else(String::new, |key| format!(",PRIMARY KEY ({key})"));
        let definition = columns.replace("TIME", time);
        let index = index.map(|(index, columns)| {
            FinalStep::new(index, format!("CREATE INDEX {index} ON {name} ({columns})"))
        });
        Table {
            name: name.to_owned(),
            create: vec![format!("CREATE TABLE {name} ({definition}{primary}){suffix}")],
            columns: columns.split(',').filter(|column| column.contains(' ')).count() as u16,
            content: Content::Tpcc { table: kind, seed: options.seed, items: options.table_size.into() },
            rows: kind.rows(options.scale.into(), options.table_size.into()),
            is_partitioned: false,
            key: None,
            indexes: index.into_iter().collect(),
            references: Vec::new(),
        }
    };
    TpccTable::ALL.into_iter().map(make).collect()
}

/// A table: its name, columns without the key, primary key, and index.
struct Definition {
    name: &'static str,
    columns: &'static str,
    key: Option<&'static str>,
    index: Option<(&'static str, &'static str)>,
}

/// Columns have the types of the specification. No type has a comma followed by a blank.
fn definition(kind: TpccTable) -> Definition {
    let (name, columns, key) = match kind {
        TpccTable::Item => (
            "tpcc_item",
            "i_id int NOT NULL,i_name varchar(24),i_price numeric(5,2),i_data varchar(50)",
            "i_id",
        ),
        TpccTable::Warehouse => (
            "tpcc_warehouse",
            "w_id int NOT NULL,w_name varchar(10),w_city varchar(20),w_tax numeric(4,4),w_ytd numeric(12,2)",
            "w_id",
        ),
        TpccTable::District => (
            "tpcc_district",
            "d_w_id int NOT NULL,d_id int NOT NULL,d_name varchar(10),d_city varchar(20),d_tax numeric(4,4),d_ytd numeric(12,2),\
             d_next_o_id int NOT NULL",
            "d_w_id,d_id",
        ),
        TpccTable::Customer => (
            "tpcc_customer",
            "c_w_id int NOT NULL,c_d_id int NOT NULL,c_id int NOT NULL,c_first varchar(16),c_last varchar(16),c_credit char(2),\
             c_discount numeric(4,4),c_balance numeric(12,2),c_ytd_payment numeric(12,2),c_payment_cnt int,c_delivery_cnt int,\
             c_data varchar(500)",
            "c_w_id,c_d_id,c_id",
        ),
        TpccTable::History => (
            "tpcc_history",
            "h_c_w_id int,h_c_d_id int,h_c_id int,h_w_id int,h_d_id int,h_date TIME,h_amount numeric(6,2)",
            "",
        ),
        TpccTable::Orders => (
            "tpcc_orders",
            "o_w_id int NOT NULL,o_d_id int NOT NULL,o_id int NOT NULL,o_c_id int,o_entry_d TIME,o_carrier_id int,o_ol_cnt int",
            "o_w_id,o_d_id,o_id",
        ),
        TpccTable::NewOrder => (
            "tpcc_new_order",
            "no_w_id int NOT NULL,no_d_id int NOT NULL,no_o_id int NOT NULL",
            "no_w_id,no_d_id,no_o_id",
        ),
        TpccTable::OrderLine => (
            "tpcc_order_line",
            "ol_w_id int NOT NULL,ol_d_id int NOT NULL,ol_o_id int NOT NULL,ol_number int NOT NULL,ol_i_id int,ol_supply_w_id int,\
             ol_delivery_d TIME NULL,ol_quantity int,ol_amount numeric(6,2),ol_dist_info char(24)",
            "ol_w_id,ol_d_id,ol_o_id,ol_number",
        ),
        TpccTable::Stock => (
            "tpcc_stock",
            "s_w_id int NOT NULL,s_i_id int NOT NULL,s_quantity int,s_ytd bigint,s_order_cnt int,s_dist char(24),s_data varchar(50)",
            "s_w_id,s_i_id",
        ),
    };
    let index = match kind {
        TpccTable::Customer => Some(("tpcc_customer_last", "c_w_id,c_d_id,c_last,c_first")),
        TpccTable::Orders => Some(("tpcc_orders_customer", "o_w_id,o_d_id,o_c_id,o_id")),
        _ => None,
    };
    Definition { name, columns, key: Some(key).filter(|key| !key.is_empty()), index }
}
