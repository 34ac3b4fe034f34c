//! Rows of pgbench's tables, identical to those of `pgbench -i`.

use std::ops::Range;

use super::Sink;

/// Number of accounts per branch.
pub(crate) const ACCOUNTS: u64 = 100_000;
/// Number of tellers per branch.
pub(crate) const TELLERS: u64 = 10;

const FILLER: [u8; 84] = [b' '; 84];

pub(super) fn accounts(rows: Range<u64>, is_big: bool, needs_blanks: bool, sink: &mut impl Sink) {
    let filler: &[u8] = if needs_blanks { &FILLER } else { &[] };
    let mut row = rows.start;
    while row < rows.end {
        let branch = row / ACCOUNTS;
        let end = rows.end.min((branch + 1) * ACCOUNTS);
        for aid in row + 1..=end {
            sink.begin_row(4);
            if is_big {
                sink.big_int(aid as i64);
            } else {
                sink.int(aid as i32);
            }
            sink.int(branch as i32 + 1);
            sink.int(0);
            sink.text(filler);
            sink.end_row();
        }
        row = end;
    }
}

pub(super) fn tellers(rows: Range<u64>, sink: &mut impl Sink) {
    for row in rows {
        sink.begin_row(4);
        sink.int(row as i32 + 1);
        sink.int((row / TELLERS) as i32 + 1);
        sink.int(0);
        sink.null();
        sink.end_row();
    }
}

pub(super) fn branches(rows: Range<u64>, sink: &mut impl Sink) {
    for row in rows {
        sink.begin_row(3);
        sink.int(row as i32 + 1);
        sink.int(0);
        sink.null();
        sink.end_row();
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Content, CopyRows};

    #[test]
    fn branch_ends_with_its_last_account() {
        let mut copy = CopyRows::default();
        Content::Accounts { is_big: false, needs_blanks: false }.write(99_998..100_002, &mut copy);
        let text = std::str::from_utf8(copy.bytes()).unwrap();
        assert_eq!(text, "99999\t1\t0\t\n100000\t1\t0\t\n100001\t2\t0\t\n100002\t2\t0\t\n");
    }

    #[test]
    fn each_branch_has_ten_tellers() {
        let mut copy = CopyRows::default();
        Content::Tellers.write(9..11, &mut copy);
        Content::Branches.write(1..2, &mut copy);
        assert_eq!(copy.bytes(), b"10\t1\t0\t\\N\n11\t2\t0\t\\N\n2\t0\t\\N\n");
    }
}
