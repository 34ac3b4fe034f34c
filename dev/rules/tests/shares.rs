//! Quotients that may exceed 1 are not printed as percentages.

use rules::{files, tokens};

#[test]
fn percentages_are_made_of_shares() {
    for file in files::rust().iter().filter(|file| file.is_product()) {
        for (line, arguments) in tokens::arguments(&file.text, "percent") {
            let is_quotient = !tokens::lines_of(&arguments, &["/"]).is_empty();
            let is_cut_off = !tokens::lines_of(&arguments, &["min", "1.0"]).is_empty();
            assert!(
                !is_quotient && !is_cut_off,
                "{}:{line} prints a quotient in percent: make a `units::Share` of a part and its whole, or print a ratio",
                file.path
            );
        }
    }
}
