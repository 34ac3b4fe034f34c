//! What was counted, in words: requests and their answers, or transactions.

use evidence::Unit;
use judge::words;
use serde::Serialize;

use crate::view::View;

/// How one kind of thing that was counted is called.
#[derive(Debug, PartialEq, Eq, Serialize)]
pub(crate) struct Noun {
    #[serde(skip)]
    pub(crate) unit: Unit,
    pub(crate) one: &'static str,
    pub(crate) many: &'static str,
    /// Those that came to an end that the system knows of.
    pub(crate) answers: &'static str,
    /// What a load goes through.
    pub(crate) step: &'static str,
    /// In the heads of columns: what one of them costs.
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

    /// Of several runs together: requests, unless all of them have transactions only.
    pub(crate) fn of_all<'a, 'b: 'a>(views: impl IntoIterator<Item = &'a View<'b>>) -> &'static Self {
        let mut views = views.into_iter().peekable();
        let are_sql = views.peek().is_some() && views.all(|view| view.unit() == Unit::Transactions);
        Self::of(if are_sql { Unit::Transactions } else { Unit::Requests })
    }

    /// A number of them: `1 request`, `5,000 requests`.
    pub(crate) fn counted(&self, number: u64) -> String {
        words::counted(number, self.unit)
    }
}
