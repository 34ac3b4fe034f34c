//! Names of the units that a run counts: requests and their answers, or transactions.

use evidence::Unit;
use judge::words;
use serde::Serialize;

use crate::view::View;

/// Names for one kind of unit.
#[derive(Debug, PartialEq, Eq, Serialize)]
pub(crate) struct Noun {
    #[serde(skip)]
    pub(crate) unit: Unit,
    pub(crate) one: &'static str,
    pub(crate) many: &'static str,
    /// Units whose outcome the system reported.
    pub(crate) answers: &'static str,
    /// Parts of a scenario.
    pub(crate) step: &'static str,
    /// Column head for the cost of one unit.
    #[serde(skip)]
    pub(crate) us_per_one: &'static str,
}

const REQUESTS: Noun = Noun {
    unit: Unit::Requests,
    one: words::one(Unit::Requests),
    many: words::many(Unit::Requests),
    answers: "answers",
    step: "step",
    us_per_one: "µs/request",
};
const TRANSACTIONS: Noun = Noun {
    unit: Unit::Transactions,
    one: words::one(Unit::Transactions),
    many: words::many(Unit::Transactions),
    answers: "transactions",
    step: "transaction",
    us_per_one: "µs/transaction",
};

impl Noun {
    pub(crate) fn of(unit: Unit) -> &'static Self {
        match unit {
            Unit::Requests => &REQUESTS,
            Unit::Transactions => &TRANSACTIONS,
        }
    }

    /// Names for several runs: transactions if all of them have only transactions, otherwise requests.
    pub(crate) fn of_all<'a, 'b: 'a>(views: impl IntoIterator<Item = &'a View<'b>>) -> &'static Self {
        Self::of(Unit::for_all(views.into_iter().map(View::unit)))
    }

    /// Formats a number of units: `1 request`, `5,000 requests`.
    pub(crate) fn counted(&self, number: u64) -> String {
        words::counted(number, self.unit)
    }
}
