//! Keys of scenarios, steps, and the parts of steps.

use std::sync::LazyLock;

use super::{TEXT, key, protocols, required};
use crate::file::form;
use crate::file::keys::ValueKind::{Derived, List, Named, One};
use crate::file::keys::{Key, Table};

pub(crate) static SCENARIO: LazyLock<Table> = LazyLock::new(|| Table {
    name: "scenario",
    sentence: "What a user does in one iteration.",
    example: "{ share: 80%, steps: [ get: / ] }",
    keys: [&SCENARIO_KEYS, protocols::scenario_keys()].concat().leak(),
});

static SCENARIO_KEYS: [Key; 2] = [
    key(
        "share",
        "80%",
        One(&form::SHARE),
        "Share of iterations: all in percent, or all as proportions; required for several scenarios.",
    ),
    required(
        "steps",
        "[ get: /, get: /about ]",
        List(&Derived(&STEP)),
        "Steps, run in order; if each has a weight, each iteration runs one of them.",
    ),
];

pub(crate) static STEP: LazyLock<Table> = LazyLock::new(|| {
    let requests = protocols::list_step_keys();
    let sentence = format!(
        "A request or a transaction. A request requires one of {requests}; a transaction requires one of `sql`, `transaction`, \
         `script`, or `workload`."
    );
    Table {
        name: "step",
        sentence: sentence.leak(),
        example: "{ get: /items }",
        keys: [
            protocols::keys(),
            protocols::transaction_keys(),
            &FIRST_KEYS,
            protocols::extra_keys(),
            &FURTHER_KEYS,
        ]
        .concat()
        .leak(),
    }
});

static FIRST_KEYS: [Key; 2] = [
    key("name", "item", TEXT, "Name in reports; default: method and path, or the start of the statement."),
    key(
        "endpoint",
        "stock",
        TEXT,
        "The system that the step speaks to, by its name in `endpoints`; default: that of `url`, or of `database` for a transaction; in a \
         plan without `url` and `systems`, the only endpoint that takes such a step.",
    ),
];

static FURTHER_KEYS: [Key; 8] = [
    key(
        "expect",
        "{ status: 200 }",
        Derived(&EXPECT),
        "Conditions for the reply; a reply that fails one is `rejected`. Default: status 200 to 399.",
    ),
    key(
        "save",
        "{ token: { json: $.data.token } }",
        Named(&Derived(&CAPTURE)),
        "Values of the reply, for later steps of the iteration.",
    ),
    key(
        "if",
        "\"{status} == 200\"",
        TEXT,
        "Condition: `==` or `!=` with a constant, `is present`, or `is absent`, of a value or of the status of the reply before. If it does not hold, the step is left out.",
    ),
    key("repeat", "3", One(&form::REPEAT), "How often the step runs in a row, 1 to 1000; default 1."),
    key(
        "once",
        "true",
        One(&form::TRUTH),
        "Whether each user runs the step only once, before its first iteration, such as a log-in; default false.",
    ),
    key(
        "steps",
        "[ get: /a, get: /b ]",
        List(&Derived(&STEP)),
        "Instead of a request: a group of steps, to which `if`, `repeat`, and `once` apply as a whole.",
    ),
    key("think", "100ms", One(&form::THINK), "Pause after the step."),
    key(
        "weight",
        "3",
        One(&form::WEIGHT),
        "Probability of the step, in proportion. If one step of a scenario has a weight, all require one, and each iteration runs one step.",
    ),
];

pub(crate) static EXPECT: LazyLock<Table> = LazyLock::new(|| Table {
    name: "expect",
    sentence: "Conditions for a reply to count as ok.",
    example: "{ status: 200, body: hello }",
    keys: [protocols::further_expect_keys(), protocols::transaction_expect_keys(), protocols::expect_keys()]
        .concat()
        .leak(),
});

pub(crate) static CAPTURE: LazyLock<Table> = LazyLock::new(|| Table {
    name: "saved value",
    sentence: "Where the value is in the reply: one of `json`, `header`, `body`, and `column`; of protocols other than HTTP one of their own.",
    example: "{ json: /data/token }",
    keys: capture_keys().leak(),
});

/// Keys of a saved value. Keys of transactions are inserted among the keys of requests.
fn capture_keys() -> Vec<Key> {
    let mut keys = protocols::further_save_keys().to_vec();
    let at = keys.len().min(COLUMN_PLACE);
    keys.splice(at..at, protocols::transaction_save_keys().iter().copied());
    keys.extend_from_slice(protocols::save_keys());
    keys
}

/// Place of `column` among the keys of a saved value.
const COLUMN_PLACE: usize = 3;
