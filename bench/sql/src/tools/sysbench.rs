//! Runs sysbench, which uses one thread per client.

use harness::figures::{count, number_after};

use servers::{MariaDb, Postgres};

use super::{Measured, Order, TABLE_SIZE, Tool};
use crate::cases::{Engine, Work};

pub(super) const TOOL: Tool = Tool {
    name: "sysbench",
    how_to_get: "apt-get install sysbench",
    arguments: |order| flags(order, order.load.clients, "run"),
    parse,
    good_exits: &[0],
};

/// Returns the flags of a sysbench command, `prepare` or `run`. Both must describe the same table.
pub(crate) fn flags(order: &Order<'_>, clients: u32, command: &str) -> Vec<String> {
    let script = match order.load.work {
        Work::ReadWrite => "oltp_read_write",
        _ => "oltp_point_select",
    };
    let (driver, user, password, database) = match order.load.engine {
        Engine::Postgres => ("pgsql", Postgres::USER, Postgres::PASSWORD, Postgres::DATABASE),
        Engine::MariaDb => ("mysql", MariaDb::USER, MariaDb::PASSWORD, MariaDb::DATABASE),
    };
    let port = order.port;
    vec![
        script.to_owned(),
        format!("--db-driver={driver}"),
        format!("--{driver}-host=127.0.0.1"),
        format!("--{driver}-port={port}"),
        format!("--{driver}-user={user}"),
        format!("--{driver}-password={password}"),
        format!("--{driver}-db={database}"),
        "--tables=1".to_owned(),
        format!("--table-size={TABLE_SIZE}"),
        format!("--threads={clients}"),
        format!("--time={}", order.seconds),
        "--rand-seed=1".to_owned(),
        command.to_owned(),
    ]
}

fn parse(text: &str) -> Result<Measured, String> {
    let transactions = count(number_after(text, "transactions:")?)?;
    let seconds = number_after(text, "total time:")?;
    Measured {
        transactions,
        per_s: transactions as f64 / seconds,
        errors: count(number_after(text, "ignored errors:")?)?,
        remark: None,
    }
    .checked()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_and_rate_are_read() {
        let text = "SQL statistics:\n    transactions:                        52411  (10480.80 per sec.)\n    \
                    ignored errors:                      2      (0.40 per sec.)\n\nGeneral statistics:\n    \
                    total time:                          5.0003s\n";
        let measured = parse(text).unwrap();
        assert_eq!((measured.transactions, measured.errors), (52_411, 2));
        assert!((measured.per_s - 52_411.0 / 5.0003).abs() < 1e-6);
    }
}
