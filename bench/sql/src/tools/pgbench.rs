//! Runs pgbench with one thread for all clients.

use harness::figures::{count, number_after};
use harness::program::arguments;

use super::{DATABASE_OF_POSTGRES, Measured, Tool, USER_OF_POSTGRES};
use crate::cases::{LOADING_SCALE, Work};

pub(super) const TOOL: Tool = Tool {
    name: "pgbench",
    how_to_get: "apt-get install postgresql",
    arguments: |order| {
        let mut all = arguments([&"-h", &"127.0.0.1", &"-p", &order.port, &"-U", &USER_OF_POSTGRES]);
        all.extend(match order.load.work {
            Work::Loading => arguments([&"-i", &"-q", &"-s", &LOADING_SCALE]),
            work => {
                let (is_prepared, script) = match work {
                    Work::SelectOnly { is_prepared } => (is_prepared, "select-only"),
                    _ => (false, "tpcb-like"),
                };
                let mode = if is_prepared { "prepared" } else { "simple" };
                let clients = order.load.clients;
                arguments([
                    &"-n",
                    &"-b",
                    &script,
                    &"-M",
                    &mode,
                    &"-c",
                    &clients,
                    &"-j",
                    &1,
                    &"-T",
                    &order.seconds,
                ])
            }
        });
        all.push(DATABASE_OF_POSTGRES.to_owned());
        all
    },
    parse,
    good_exits: &[0],
};

fn parse(text: &str) -> Result<Measured, String> {
    let failed = if text.contains("number of failed transactions:") {
        count(number_after(text, "number of failed transactions:")?)?
    } else {
        0
    };
    Measured {
        transactions: count(number_after(text, "number of transactions actually processed:")?)?,
        per_s: number_after(text, "tps =")?,
        errors: failed,
        remark: None,
    }
    .checked()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_and_rate_are_read() {
        let text = "transaction type: <builtin: select only>\nnumber of transactions actually processed: 190563\n\
                    number of failed transactions: 3 (0.000%)\nlatency average = 0.419 ms\n\
                    tps = 38148.240522 (without initial connection time)\n";
        let measured = parse(text).unwrap();
        assert_eq!((measured.transactions, measured.errors), (190_563, 3));
        assert!((measured.per_s - 38_148.240_522).abs() < 1e-6);
    }
}
