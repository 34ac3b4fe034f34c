//! Runs Tenbin and reads its JSON output.

use harness::figures::json;
use harness::program::arguments;
use harness::tenbin;

use super::{Measured, Order, TABLE_SIZE, Tool};
use crate::cases::{LOADING_SCALE, Work};

pub(super) const TOOL: Tool = Tool {
    name: "tenbin",
    how_to_get: "cargo build --release -p tenbin, or --tenbin PATH",
    arguments: flags,
    parse,
    good_exits: tenbin::USABLE_EXIT_CODES,
};

fn flags(order: &Order<'_>) -> Vec<String> {
    let url = order.url();
    let (workload, mode) = match order.load.work {
        Work::Loading => {
            return arguments([
                &"prepare",
                &url,
                &"--workload",
                &"tpcb-like",
                &"--scale",
                &LOADING_SCALE,
                &"--fresh",
            ]);
        }
        Work::SelectOnly { is_prepared: true } => ("select-only", "prepared"),
        Work::SelectOnly { is_prepared: false } => ("select-only", "simple"),
        Work::TpcbLike => ("tpcb-like", "simple"),
        // Matches sysbench, which uses prepared statements by default.
        Work::PointSelect => ("oltp-point-select", "prepared"),
        Work::ReadWrite => ("oltp-read-write", "prepared"),
    };
    let duration = format!("{}s", order.seconds);
    let mut all = arguments([&url, &"--workload", &workload, &"--query-mode", &mode]);
    all.extend(arguments([&"-c", &order.load.clients, &"-d", &duration, &"--threads", &1]));
    all.extend(arguments([&"--store", &order.store, &"--format", &"json"]));
    if matches!(order.load.work, Work::PointSelect | Work::ReadWrite) {
        all.extend(arguments([&"--tables", &1, &"--table-size", &TABLE_SIZE]));
    }
    all
}

fn parse(text: &str) -> Result<Measured, String> {
    let tenbin::TenbinFigures { ok, per_s, errors, remark } = tenbin::read(&json(text)?)?;
    Measured { transactions: ok, per_s, errors, remark }.checked()
}
