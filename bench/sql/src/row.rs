//! Figures of a turn for tables and ratios.

use harness::row::{self, cpu_us_each};

use crate::tools::Measured;

/// Turn of a tool. `None` instead of figures for table loading, whose tools report none.
pub(crate) type Row = row::Row<Option<Measured>>;
/// Function that reads a figure of a turn.
pub(crate) type Figure = row::Figure<Option<Measured>>;

/// Transactions per second.
pub(crate) const PER_S: Figure = |done| Some(done.measured.as_ref()?.per_s);
/// CPU time of the client, user and system, in microseconds per transaction. `None` if it is too small to be measured.
pub(crate) const CPU_US: Figure = |done| cpu_us_each(done, done.measured.as_ref()?.transactions);

#[cfg(test)]
pub(crate) mod tests {
    use harness::row::{Done, Turn};
    use harness::time_file::Used;

    use super::*;

    pub(crate) fn row(tool: &'static str, round: u32, transactions: u64, cpu_s: f64) -> Row {
        let per_s = transactions as f64 / 2.0;
        let measured = Some(Measured { transactions, per_s, ..Measured::default() });
        let used = Used { wall_s: 2.0, cpu_user_s: cpu_s, cpu_sys_s: 0.0, rss_peak_bytes: 8 << 20 };
        Row { case: "tpcb-simple-1".to_owned(), round, tool, turn: Turn::Done(Done { measured, used }) }
    }

    pub(crate) fn failed(tool: &'static str, round: u32) -> Row {
        let turn = Turn::Failed("it would not".to_owned());
        Row { case: "tpcb-simple-1".to_owned(), round, tool, turn }
    }

    #[test]
    fn a_row_is_flat_in_json() {
        let json = serde_json::to_value(row("pgbench", 1, 10, 1.0)).unwrap();
        assert_eq!(json["done"]["transactions"], 10);
    }
}
