//! Rows in the shape of TPC-C. Every 100 items have 3 customers in each of the ten districts of a warehouse, and each customer has one
//! order of ten lines. The last three tenths of the orders are new.

use std::ops::Range;

use super::Sink;
use super::draw::SplitMix64;

const DISTRICTS: u64 = 10;
const LINES: u64 = 10;
/// Time of all rows.
const TIME: &[u8] = b"2026-01-01 00:00:00";
const LETTERS: &[u8] = b"abcdefghijklmnopqrstuvwxyz0123456789";

/// A table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TpccTable {
    Item,
    Warehouse,
    District,
    Customer,
    History,
    Orders,
    NewOrder,
    OrderLine,
    Stock,
}

impl TpccTable {
    /// All tables, in the order of creation.
    pub(crate) const ALL: [Self; 9] = [
        Self::Item,
        Self::Warehouse,
        Self::District,
        Self::Customer,
        Self::History,
        Self::Orders,
        Self::NewOrder,
        Self::OrderLine,
        Self::Stock,
    ];

    /// Number of rows.
    pub(crate) fn rows(self, warehouses: u64, items: u64) -> u64 {
        let customers = customers(items);
        let per_district = match self {
            Self::Item => return items,
            Self::Warehouse => return warehouses,
            Self::Stock => return warehouses * items,
            Self::District => 1,
            Self::Customer | Self::History | Self::Orders => customers,
            Self::NewOrder => customers - delivered(customers),
            Self::OrderLine => customers * LINES,
        };
        warehouses * DISTRICTS * per_district
    }
}

/// Number of customers, and of orders, of a district.
fn customers(items: u64) -> u64 {
    items * 3 / 100
}

/// Number of delivered orders of a district.
fn delivered(orders: u64) -> u64 {
    orders * 7 / 10
}

pub(super) fn rows(rows: Range<u64>, table: TpccTable, seed: u64, items: u64, sink: &mut impl Sink) {
    let customers = customers(items);
    for row in rows {
        let mut draw = SplitMix64::new(seed, table as u64, row);
        let draw = &mut draw;
        match table {
            TpccTable::Item => item(row, draw, sink),
            TpccTable::Warehouse => warehouse(row, draw, sink),
            TpccTable::District => district(row, customers, draw, sink),
            TpccTable::Customer => customer(row, customers, draw, sink),
            TpccTable::History => history(row, customers, sink),
            TpccTable::Orders => order(row, customers, draw, sink),
            TpccTable::NewOrder => {
                let new = customers - delivered(customers);
                sink.begin_row(3);
                place(row / new, sink);
                sink.int((delivered(customers) + row % new) as i32 + 1);
            }
            TpccTable::OrderLine => order_line(row, customers, items, draw, sink),
            TpccTable::Stock => {
                sink.begin_row(7);
                sink.int((row / items) as i32 + 1);
                sink.int((row % items) as i32 + 1);
                sink.int(10 + draw.below(91) as i32);
                sink.big_int(0);
                sink.int(0);
                sink.text(&letters(24, draw));
                sink.text(&letters(38, draw));
            }
        }
        sink.end_row();
    }
}

fn item(row: u64, draw: &mut SplitMix64, sink: &mut impl Sink) {
    sink.begin_row(4);
    sink.int(row as i32 + 1);
    sink.text(&letters(19, draw));
    sink.text(&decimal(100 + draw.below(9_901), 2));
    sink.text(&letters(38, draw));
}

fn warehouse(row: u64, draw: &mut SplitMix64, sink: &mut impl Sink) {
    sink.begin_row(5);
    sink.int(row as i32 + 1);
    sink.text(&letters(8, draw));
    sink.text(&letters(15, draw));
    sink.text(&decimal(draw.below(2_001), 4));
    // Ten districts with 30,000.00 each.
    sink.text(b"300000.00");
}

fn district(row: u64, customers: u64, draw: &mut SplitMix64, sink: &mut impl Sink) {
    sink.begin_row(7);
    place(row, sink);
    sink.text(&letters(8, draw));
    sink.text(&letters(15, draw));
    sink.text(&decimal(draw.below(2_001), 4));
    sink.text(b"30000.00");
    sink.int(customers as i32 + 1);
}

fn customer(row: u64, customers: u64, draw: &mut SplitMix64, sink: &mut impl Sink) {
    let number = row % customers;
    sink.begin_row(12);
    place(row / customers, sink);
    sink.int(number as i32 + 1);
    sink.text(&letters(12, draw));
    // The first thousand have all names; further ones draw theirs.
    let name = if number < 1_000 { number } else { draw.below(1_000) };
    sink.text(format!("NAME{name}").as_bytes());
    sink.text(if draw.below(10) == 0 { b"BC" } else { b"GC" });
    sink.text(&decimal(draw.below(5_001), 4));
    sink.text(b"-10.00");
    sink.text(b"10.00");
    sink.int(1);
    sink.int(0);
    sink.text(&letters(400, draw));
}

fn history(row: u64, customers: u64, sink: &mut impl Sink) {
    sink.begin_row(7);
    place(row / customers, sink);
    sink.int((row % customers) as i32 + 1);
    place(row / customers, sink);
    sink.text(TIME);
    sink.text(b"10.00");
}

fn order(row: u64, customers: u64, draw: &mut SplitMix64, sink: &mut impl Sink) {
    let number = row % customers;
    sink.begin_row(7);
    place(row / customers, sink);
    sink.int(number as i32 + 1);
    // A permutation of the customers: the factor is a prime above all of their numbers.
    sink.int((number * 7_919 % customers) as i32 + 1);
    sink.text(TIME);
    if number < delivered(customers) {
        sink.int(1 + draw.below(10) as i32)
    } else {
        sink.null()
    }
    sink.int(LINES as i32);
}

fn order_line(row: u64, customers: u64, items: u64, draw: &mut SplitMix64, sink: &mut impl Sink) {
    let order = row / LINES;
    let (district, number) = (order / customers, order % customers);
    let is_delivered = number < delivered(customers);
    sink.begin_row(10);
    place(district, sink);
    sink.int(number as i32 + 1);
    sink.int((row % LINES) as i32 + 1);
    sink.int(draw.below(items) as i32 + 1);
    sink.int((district / DISTRICTS) as i32 + 1);
    if is_delivered {
        sink.text(TIME)
    } else {
        sink.null()
    }
    sink.int(5);
    sink.text(&decimal(if is_delivered { 0 } else { 1 + draw.below(999_999) }, 2));
    sink.text(&letters(24, draw));
}

/// Numbers of the warehouse and of its district.
fn place(district: u64, sink: &mut impl Sink) {
    sink.int((district / DISTRICTS) as i32 + 1);
    sink.int((district % DISTRICTS) as i32 + 1);
}

fn letters(count: usize, draw: &mut SplitMix64) -> Vec<u8> {
    (0..count).map(|_| LETTERS[draw.below(LETTERS.len() as u64) as usize]).collect()
}

/// A number with digits after the point.
fn decimal(number: u64, digits: usize) -> Vec<u8> {
    let unit = 10_u64.pow(digits as u32);
    format!("{}.{:0digits$}", number / unit, number % unit).into_bytes()
}

#[cfg(test)]
mod tests {
    use super::super::{Content, CopyRows};
    use super::*;

    fn lines(table: TpccTable, warehouses: u64, items: u64) -> Vec<Vec<String>> {
        let mut rows = CopyRows::default();
        let content = Content::Tpcc { table, seed: 7, items };
        content.write(0..table.rows(warehouses, items), &mut rows);
        let text = std::str::from_utf8(rows.bytes()).unwrap();
        text.lines().map(|line| line.split('\t').map(str::to_owned).collect()).collect()
    }

    #[test]
    fn every_customer_has_one_order() {
        let orders = lines(TpccTable::Orders, 2, 1_000);
        assert_eq!(orders.len(), 2 * 10 * 30);
        for district in orders.chunks(30) {
            let mut customers: Vec<u32> = district.iter().map(|order| order[3].parse().unwrap()).collect();
            customers.sort_unstable();
            assert_eq!(customers, (1..=30).collect::<Vec<_>>());
        }
        assert_eq!(orders[599][..3], ["2", "10", "30"]);
    }

    #[test]
    fn last_three_tenths_of_orders_are_new() {
        let new = lines(TpccTable::NewOrder, 1, 1_000);
        let numbers: Vec<&str> = new[..9].iter().map(|row| row[2].as_str()).collect();
        assert_eq!(numbers, ["22", "23", "24", "25", "26", "27", "28", "29", "30"]);
        assert_eq!(new.len(), 90);
        let without_carrier =
            lines(TpccTable::Orders, 1, 1_000).iter().filter(|order| order[5] == "\\N").count();
        assert_eq!(without_carrier, 90);
        let first = &lines(TpccTable::OrderLine, 1, 1_000)[209];
        assert_eq!((first[2].as_str(), first[3].as_str(), first[8].as_str()), ("21", "10", "0.00"));
    }
}
