//! Transactions in the shape of TPC-C, as scripts: loops of the specification are unrolled, because scripts have none.

use std::fmt::Write as _;

/// Minimum and maximum number of lines of an order.
const LINES: (u32, u32) = (5, 15);
const DISTRICTS: u32 = 10;

/// Draws of the warehouse and its district. Every 100 items of `table_size` have 3 customers in each district.
const HOME: &str =
    "\\set w random(1, :scale)\n\\set d random(1, 10)\n\\set customers :table_size * 3 / 100\n";

/// Draw of a customer, uneven as in clause 2.1.6 of the specification.
const CUSTOMER: &str = "\\set c (random(0, 1023) | random(1, :customers)) % :customers + 1\n";

/// Draw of another warehouse than `w`, if there is one.
const OTHER_WAREHOUSE: &str = "1 + (:w + random(0, greatest(:scale - 2, 0))) % :scale";

/// Selects the customer by last name in 60 of 100 cases: the middle one by first name.
fn customer_of_history(w: &str, d: &str) -> String {
    format!(
        "{CUSTOMER}\\set by_name random(1, 100)\n\\if :by_name <= 60\n\
         \\set last concat('NAME', (random(0, 255) | random(0, least(:customers, 1000) - 1)) % least(:customers, 1000))\n\
         SELECT count(*) AS names FROM tpcc_customer WHERE c_w_id = :{w} AND c_d_id = :{d} AND c_last = :last \\gset\n\
         \\set skipped (:names - 1) / 2\n\
         SELECT c_id AS c FROM tpcc_customer WHERE c_w_id = :{w} AND c_d_id = :{d} AND c_last = :last \
         ORDER BY c_first LIMIT 1 OFFSET :skipped \\gset\n\\endif\n"
    )
}

pub(super) fn new_order() -> String {
    let (least, most) = LINES;
    let mut text = format!(
        "{HOME}{CUSTOMER}\\set lines random({least}, {most})\n\\set is_wrong random(1, 100)\nBEGIN;\n\
         SELECT w_tax FROM tpcc_warehouse WHERE w_id = :w;\n\
         SELECT d_tax, d_next_o_id AS o FROM tpcc_district WHERE d_w_id = :w AND d_id = :d FOR UPDATE \\gset\n\
         UPDATE tpcc_district SET d_next_o_id = d_next_o_id + 1 WHERE d_w_id = :w AND d_id = :d;\n\
         SELECT c_discount, c_last, c_credit FROM tpcc_customer WHERE c_w_id = :w AND c_d_id = :d AND c_id = :c;\n\
         INSERT INTO tpcc_orders (o_w_id, o_d_id, o_id, o_c_id, o_entry_d, o_carrier_id, o_ol_cnt) \
         VALUES (:w, :d, :o, :c, CURRENT_TIMESTAMP, NULL, :lines);\n\
         INSERT INTO tpcc_new_order (no_w_id, no_d_id, no_o_id) VALUES (:w, :d, :o);\n"
    );
    for line in 1..=most {
        let is_optional = line > least;
        if is_optional {
            let _ = writeln!(text, "\\if :lines >= {line}");
        }
        let _ = write!(
            text,
            "\\set i (random(0, 8191) | random(1, :table_size)) % :table_size + 1\n\
             \\set is_remote random(1, 100)\n\
             \\set supply case when :is_remote = 1 and :scale > 1 then {OTHER_WAREHOUSE} else :w end\n\
             \\set quantity random(1, 10)\n\
             SELECT i_name, i_price AS price FROM tpcc_item WHERE i_id = :i \\gset\n\
             SELECT s_quantity, s_dist FROM tpcc_stock WHERE s_w_id = :supply AND s_i_id = :i FOR UPDATE;\n\
             UPDATE tpcc_stock SET s_quantity = s_quantity - :quantity + CASE WHEN s_quantity >= 20 THEN 0 ELSE 91 END, \
             s_ytd = s_ytd + :quantity, s_order_cnt = s_order_cnt + 1 WHERE s_w_id = :supply AND s_i_id = :i;\n\
             \\set amount :quantity * :price\n\
             INSERT INTO tpcc_order_line (ol_w_id, ol_d_id, ol_o_id, ol_number, ol_i_id, ol_supply_w_id, ol_quantity, ol_amount, \
             ol_dist_info) VALUES (:w, :d, :o, {line}, :i, :supply, :quantity, :amount, 'line');\n"
        );
        if is_optional {
            text.push_str("\\endif\n");
        }
    }
    // One of a hundred orders has an invalid item, and is rolled back.
    text.push_str("\\if :is_wrong = 1\nROLLBACK;\n\\else\nCOMMIT;\n\\endif\n");
    text
}

pub(super) fn payment() -> String {
    let customer = customer_of_history("cw", "cd");
    format!(
        "{HOME}\\set amount random(1, 5000)\n\\set is_remote random(1, 100)\n\
         \\set cw case when :is_remote <= 15 and :scale > 1 then {OTHER_WAREHOUSE} else :w end\n\
         \\set cd case when :is_remote <= 15 then random(1, 10) else :d end\nBEGIN;\n\
         UPDATE tpcc_warehouse SET w_ytd = w_ytd + :amount WHERE w_id = :w;\n\
         SELECT w_name, w_city FROM tpcc_warehouse WHERE w_id = :w;\n\
         UPDATE tpcc_district SET d_ytd = d_ytd + :amount WHERE d_w_id = :w AND d_id = :d;\n\
         SELECT d_name, d_city FROM tpcc_district WHERE d_w_id = :w AND d_id = :d;\n{customer}\
         SELECT c_first, c_credit, c_balance FROM tpcc_customer WHERE c_w_id = :cw AND c_d_id = :cd AND c_id = :c FOR UPDATE;\n\
         UPDATE tpcc_customer SET c_balance = c_balance - :amount, c_ytd_payment = c_ytd_payment + :amount, \
         c_payment_cnt = c_payment_cnt + 1 WHERE c_w_id = :cw AND c_d_id = :cd AND c_id = :c;\n\
         INSERT INTO tpcc_history (h_c_w_id, h_c_d_id, h_c_id, h_w_id, h_d_id, h_date, h_amount) \
         VALUES (:cw, :cd, :c, :w, :d, CURRENT_TIMESTAMP, :amount);\nCOMMIT;\n"
    )
}

pub(super) fn order_status() -> String {
    let customer = customer_of_history("w", "d");
    format!(
        "{HOME}BEGIN;\n{customer}\
         SELECT c_first, c_last, c_balance FROM tpcc_customer WHERE c_w_id = :w AND c_d_id = :d AND c_id = :c;\n\
         SELECT o_id AS o, o_entry_d, o_carrier_id FROM tpcc_orders WHERE o_w_id = :w AND o_d_id = :d AND o_c_id = :c \
         ORDER BY o_id DESC LIMIT 1 \\gset\n\
         SELECT ol_i_id, ol_supply_w_id, ol_quantity, ol_amount, ol_delivery_d FROM tpcc_order_line \
         WHERE ol_w_id = :w AND ol_d_id = :d AND ol_o_id = :o;\nCOMMIT;\n"
    )
}

/// The oldest new order of each district, in one transaction.
pub(super) fn delivery() -> String {
    let mut text = "\\set w random(1, :scale)\n\\set carrier random(1, 10)\nBEGIN;\n".to_owned();
    for district in 1..=DISTRICTS {
        let _ = write!(
            text,
            "\\set o 0\n\
             SELECT no_o_id AS o FROM tpcc_new_order WHERE no_w_id = :w AND no_d_id = {district} \
             ORDER BY no_o_id LIMIT 1 FOR UPDATE \\aset\n\
             \\if :o > 0\n\
             DELETE FROM tpcc_new_order WHERE no_w_id = :w AND no_d_id = {district} AND no_o_id = :o;\n\
             SELECT o_c_id AS c FROM tpcc_orders WHERE o_w_id = :w AND o_d_id = {district} AND o_id = :o \\gset\n\
             UPDATE tpcc_orders SET o_carrier_id = :carrier WHERE o_w_id = :w AND o_d_id = {district} AND o_id = :o;\n\
             UPDATE tpcc_order_line SET ol_delivery_d = CURRENT_TIMESTAMP \
             WHERE ol_w_id = :w AND ol_d_id = {district} AND ol_o_id = :o;\n\
             SELECT sum(ol_amount) AS total FROM tpcc_order_line \
             WHERE ol_w_id = :w AND ol_d_id = {district} AND ol_o_id = :o \\gset\n\
             UPDATE tpcc_customer SET c_balance = c_balance + :total, c_delivery_cnt = c_delivery_cnt + 1 \
             WHERE c_w_id = :w AND c_d_id = {district} AND c_id = :c;\n\
             \\endif\n"
        );
    }
    text.push_str("COMMIT;\n");
    text
}

pub(super) fn stock_level() -> String {
    format!(
        "{HOME}\\set threshold random(10, 20)\nBEGIN;\n\
         SELECT d_next_o_id AS next FROM tpcc_district WHERE d_w_id = :w AND d_id = :d \\gset\n\
         \\set first :next - 20\n\
         SELECT count(DISTINCT s_i_id) FROM tpcc_order_line JOIN tpcc_stock ON s_w_id = ol_w_id AND s_i_id = ol_i_id \
         WHERE ol_w_id = :w AND ol_d_id = :d AND ol_o_id >= :first AND ol_o_id < :next AND s_quantity < :threshold;\nCOMMIT;\n"
    )
}

/// A consistency condition of the specification (clause 3.3.2).
#[derive(Debug)]
pub struct Condition {
    /// Clause of the specification.
    pub clause: &'static str,
    /// Condition for display.
    pub words: &'static str,
    /// Query for the number of warehouses or districts that violate it.
    pub query: &'static str,
}

/// Consistency conditions 1 to 4, which hold whenever no transaction is open.
pub const CONDITIONS: [Condition; 4] = [
    Condition {
        clause: "3.3.2.1",
        words: "w_ytd is the sum of d_ytd",
        query: "SELECT count(*) FROM tpcc_warehouse WHERE w_ytd <> (SELECT sum(d_ytd) FROM tpcc_district WHERE d_w_id = w_id)",
    },
    Condition {
        clause: "3.3.2.2",
        words: "d_next_o_id - 1 is the highest order, and the highest new order",
        query: "SELECT count(*) FROM tpcc_district WHERE d_next_o_id - 1 <> \
                (SELECT max(o_id) FROM tpcc_orders WHERE o_w_id = d_w_id AND o_d_id = d_id) OR d_next_o_id - 1 <> \
                (SELECT max(no_o_id) FROM tpcc_new_order WHERE no_w_id = d_w_id AND no_d_id = d_id)",
    },
    Condition {
        clause: "3.3.2.3",
        words: "new orders have no gaps",
        query: "SELECT count(*) FROM (SELECT no_w_id FROM tpcc_new_order GROUP BY no_w_id, no_d_id \
                HAVING max(no_o_id) - min(no_o_id) + 1 <> count(*)) AS gaps",
    },
    Condition {
        clause: "3.3.2.4",
        words: "orders have as many lines as they say",
        query: "SELECT count(*) FROM tpcc_district WHERE \
                (SELECT sum(o_ol_cnt) FROM tpcc_orders WHERE o_w_id = d_w_id AND o_d_id = d_id) <> \
                (SELECT count(*) FROM tpcc_order_line WHERE ol_w_id = d_w_id AND ol_d_id = d_id)",
    },
];
