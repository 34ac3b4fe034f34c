//! Keys of scenarios, steps, and the parts of steps.

use std::sync::LazyLock;

use super::{TEXT, VALUES, key, protocols, required, table};
use crate::file::form;
use crate::file::keys::ValueKind::{self, Derived, Either, List, Named, One, OneOrList, Optional};
use crate::file::keys::{Key, Table};

pub(crate) static SCENARIO: Table = Table {
    name: "scenario",
    sentence: "What a user does in one iteration.",
    example: "{ share: 80%, steps: [ get: / ] }",
    keys: &[
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
        key(
            "headers",
            "{ Accept: application/json }",
            Named(&Optional(&TEXT)),
            "Headers of all its requests. A step's own header of this name replaces it. One with a saved value is sent once the value is saved.",
        ),
        key(
            "cookies",
            "true",
            One(&form::COOKIES),
            "Whether each user keeps the cookies that the server sets, and sends them back; default false. iteration: each iteration begins without any.",
        ),
        key(
            "redirects",
            "5",
            One(&form::REDIRECTS),
            "How many redirects in a row its requests follow, each to the same host and port, 0 to 20; default 0: a redirect is the reply.",
        ),
        key(
            "auth",
            "{ bearer: \"{env.TOKEN}\" }",
            table(&AUTH),
            "The header Authorization of all its requests.",
        ),
    ],
};

pub(crate) static AUTH: Table = Table {
    name: "auth",
    sentence: "Who is asking: one of `basic`, `bearer`.",
    example: "{ bearer: \"{env.TOKEN}\" }",
    keys: &[
        key(
            "basic",
            "{ user: app, password: \"{env.PASSWORD}\" }",
            table(&BASIC),
            "Basic authentication (RFC 7617).",
        ),
        key("bearer", "\"{env.TOKEN}\"", TEXT, "A bearer token (RFC 6750)."),
    ],
};

pub(crate) static BASIC: Table = Table {
    name: "basic",
    sentence: "A user and a password, which may be values.",
    example: "{ user: app, password: \"{env.PASSWORD}\" }",
    keys: &[
        required("user", "app", TEXT, "The user."),
        required("password", "\"{env.PASSWORD}\"", TEXT, "The password."),
    ],
};

/// Keys that make a step an HTTP request.
const REQUESTS: [&str; 8] = ["get", "post", "put", "patch", "delete", "head", "options", "request"];

pub(crate) static STEP: LazyLock<Table> = LazyLock::new(|| {
    let requests = protocols::listed(&REQUESTS);
    let sentence = format!(
        "A request or a transaction. A request requires one of {requests}; a transaction requires one of `sql`, `transaction`, \
         `script`, or `workload`."
    );
    Table {
        name: "step",
        sentence: sentence.leak(),
        example: "{ get: /items }",
        keys: [&REQUEST_KEYS, protocols::keys(), &FURTHER_KEYS].concat().leak(),
    }
});

static REQUEST_KEYS: [Key; REQUESTS.len()] = [
    key("get", "\"/items?n={n}\"", TEXT, "A GET of this path."),
    key("post", "/items", TEXT, "A POST to this path."),
    key("put", "/items/1", TEXT, "A PUT to this path."),
    key("patch", "/items/1", TEXT, "A PATCH of this path."),
    key("delete", "/items/1", TEXT, "A DELETE of this path."),
    key("head", "/", TEXT, "A HEAD of this path."),
    key("options", "/", TEXT, "An OPTIONS of this path."),
    key("request", "PURGE /items", TEXT, "Any other method, then the path."),
];

static FURTHER_KEYS: [Key; 21] = [
    key(
        "sql",
        "SELECT name FROM items WHERE id = :n",
        TEXT,
        "A statement. `:n` is a value of `data` or a saved value; `{n}` inserts it as text.",
    ),
    key(
        "transaction",
        "[ UPDATE items SET n = n + 1, SELECT 1 ]",
        OneOrList(&TEXT),
        "Statements, run between BEGIN and COMMIT.",
    ),
    key("script", "buy.sql", TEXT, "A script in pgbench's language, in the folder of the plan; max 8 MiB."),
    key(
        "workload",
        "select-only",
        TEXT,
        "A built-in workload, optionally with a style, such as postcodes-insert:multi-row; `prepare` creates its tables.",
    ),
    key("name", "item", TEXT, "Name in reports; default: method and path, or the start of the statement."),
    key(
        "endpoint",
        "stock",
        TEXT,
        "The system that the step speaks to, by its name in `endpoints`; default: that of `url`, or of `database` for a transaction; in a \
         plan without `url` and `systems`, the only endpoint that takes such a step.",
    ),
    key("headers", "{ Accept: text/plain }", Named(&Optional(&TEXT)), "Headers to send."),
    key("body", "'{\"id\": {id}}'", TEXT, "The body to send."),
    key("body-file", "order.json", TEXT, "A file with the body, in the folder of the plan; max 64 MiB."),
    key(
        "json",
        "{ name: \"{name}\", count: 1 }",
        ValueKind::Any,
        "A JSON body. Texts are written as texts; numbers, true, false, and null without quotes as such, and so is a text that is only \"{name:raw}\".",
    ),
    key(
        "form",
        "{ name: \"{name}\" }",
        Named(&Optional(&VALUES)),
        "A body as a form sends it; a list sends its field several times.",
    ),
    key(
        "multipart",
        "{ title: \"{title}\", photo: { file: photo.png } }",
        Named(&Either(&[TEXT, table(&FILE_PART)])),
        "A body of parts (multipart/form-data): texts and files.",
    ),
    key(
        "redirects",
        "5",
        One(&form::REDIRECTS),
        "How many redirects in a row the request follows, 0 to 20; default: that of the scenario. `expect` and `save` apply to the last reply.",
    ),
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

pub(crate) static FILE_PART: Table = Table {
    name: "file part",
    sentence: "A file that is sent as a part of `multipart`, as it is.",
    example: "{ file: photo.png, type: image/png }",
    keys: &[
        required("file", "photo.png", TEXT, "The file, in the folder of the plan; max 64 MiB."),
        key("type", "image/png", TEXT, "Its Content-Type; default application/octet-stream."),
        key("name", "holiday.png", TEXT, "The name that is sent; default: that of the file."),
    ],
};

pub(crate) static EXPECT: LazyLock<Table> = LazyLock::new(|| Table {
    name: "expect",
    sentence: "Conditions for a reply to count as ok.",
    example: "{ status: 200, body: hello }",
    keys: [EXPECT_KEYS, protocols::expect_keys()].concat().leak(),
});

const EXPECT_KEYS: &[Key] = &[
    key("status", "[ 200, 3xx ]", OneOrList(&One(&form::STATUS)), "Accepted statuses; default 200-399."),
    key("body", "hello", OneOrList(&TEXT), "Text that the body must contain."),
    key("body-matches", "'id=[0-9]+'", OneOrList(&TEXT), "Regular expressions that the body must match."),
    key(
        "json",
        "{ $.status: ok, '$.items[0].id': 3 }",
        Named(&Optional(&TEXT)),
        "Places in a JSON body, written as in `save`, and the values there; without a value, the place must exist.",
    ),
    key(
        "headers",
        "{ Content-Type: text/html }",
        Named(&Optional(&TEXT)),
        "Required headers, and text that they must contain.",
    ),
    key("size", "10..20", One(&form::SIZE), "Size of the body in bytes."),
    key(
        "rows",
        "1",
        One(&form::ROWS),
        "Transactions: number of rows that the last statement returns or changes.",
    ),
];

pub(crate) static CAPTURE: LazyLock<Table> = LazyLock::new(|| Table {
    name: "saved value",
    sentence: "Where the value is in the reply: one of `json`, `header`, `body`, and `column`; of protocols other than HTTP one of their own.",
    example: "{ json: /data/token }",
    keys: [CAPTURE_KEYS, protocols::save_keys()].concat().leak(),
});

const CAPTURE_KEYS: &[Key] = &[
    key(
        "json",
        "$.data[0].token",
        TEXT,
        "A place in a JSON body: JSONPath to one value (.name, ['name'], [0], [-1] from the end), or a JSON pointer such as /data/0/token.",
    ),
    key("header", "Location", TEXT, "The value of a header."),
    key(
        "regex",
        "'id=(\\w+)'",
        TEXT,
        "With `header`: a regular expression; the value is its first group, or the whole match, in the first header of the name that matches.",
    ),
    key(
        "column",
        "id",
        TEXT,
        "With `sql` and `transaction`: a column of the row that the last statement returns.",
    ),
    key(
        "body",
        "'token=(\\w+)'",
        TEXT,
        "A regular expression; the value is its first group, or the whole match.",
    ),
];
