//! Keys of HTTP steps in plans, and of scenarios with such steps.

use alloc::boxed::Box;
use alloc::format;

use crate::step::{ExtraKeys, Form, FormSchema, Key, Kind, StepDefinition, Table};

use super::{Http1, carried, encoding, flag_step, http_step, read_step, sample_session, shaped};

/// Max consecutive redirects, as many as browsers follow.
const REDIRECTS_MAX: u8 = 20;

/// Definition of the protocol's steps.
pub(super) const STEPS: StepDefinition = StepDefinition {
    noun: "HTTP",
    says: "the method and the path",
    url: "http://127.0.0.1:8080",
    // Flags describe the step of a command line, and the URL gives its path.
    query: "",
    keys: KEYS,
    body: None,
    reply: None,
    log_in: None,
    pipeline_max: 1,
    workload: None,
    records: None,
    read: http_step::read,
    compile: |load| Ok(Box::new(Http1::compile_load(load)?)),
};

/// Keys next to the method.
pub(super) static EXTRA: ExtraKeys = ExtraKeys {
    one: "an HTTP request",
    step: STEP,
    bodies: &BODIES,
    scenario: SCENARIO,
    expect: EXPECT,
    save: SAVE,
    read_flags: flag_step::read,
    begin: read_step::begin,
    session_words: carried::words,
    is_per_iteration: carried::is_per_iteration,
    authorization: http_step::basic_authorization,
    encoded_forms: encoding::encoded_forms,
    compile_shapes: shaped::compile,
    sample_session: sample_session::open,
    recognize_plaintext: super::foreign::plaintext_server_error,
};

/// Keys that give the body.
pub(super) const BODIES: [&str; 5] = ["body", "body-file", "json", "form", "multipart"];

const fn key(name: &'static str, example: &'static str, kind: Kind, sentence: &'static str) -> Key {
    Key { name, sentence, example, kind }
}

const fn required(
    name: &'static str,
    example: &'static str,
    kind: &'static Kind,
    sentence: &'static str,
) -> Key {
    Key { name, sentence, example, kind: Kind::Required(kind) }
}

const KEYS: &[Key] = &[
    key("get", "\"/items?n={n}\"", Kind::Text, "A GET of this path."),
    key("post", "/items", Kind::Text, "A POST to this path."),
    key("put", "/items/1", Kind::Text, "A PUT to this path."),
    key("patch", "/items/1", Kind::Text, "A PATCH of this path."),
    key("delete", "/items/1", Kind::Text, "A DELETE of this path."),
    key("head", "/", Kind::Text, "A HEAD of this path."),
    key("options", "/", Kind::Text, "An OPTIONS of this path."),
    key("request", "PURGE /items", Kind::Text, "Any other method, then the path."),
];

const STEP: &[Key] = &[
    key("headers", "{ Accept: text/plain }", Kind::Named(&Kind::Optional(&Kind::Text)), "Headers to send."),
    key("body", "'{\"id\": {id}}'", Kind::Text, "The body to send."),
    key(
        "body-file",
        "order.json",
        Kind::Text,
        "A file with the body, in the folder of the plan; max 64 MiB.",
    ),
    key(
        "json",
        "{ name: \"{name}\", count: 1 }",
        Kind::Any,
        "A JSON body. Texts are written as texts; numbers, true, false, and null without quotes as such, and so is a text that is only \"{name:raw}\".",
    ),
    key(
        "form",
        "{ name: \"{name}\" }",
        Kind::Named(&Kind::Optional(&Kind::TextOrTexts)),
        "A body as a form sends it; a list sends its field several times.",
    ),
    key(
        "multipart",
        "{ title: \"{title}\", photo: { file: photo.png } }",
        Kind::Named(&PART),
        "A body of parts (multipart/form-data): texts and files.",
    ),
    key(
        "redirects",
        "5",
        Kind::Form(&REDIRECTS),
        "How many redirects in a row the request follows, 0 to 20; default: that of the scenario. `expect` and `save` apply to the last reply.",
    ),
];

const SCENARIO: &[Key] = &[
    key(
        "headers",
        "{ Accept: application/json }",
        Kind::Named(&Kind::Optional(&Kind::Text)),
        "Headers of all its requests. A step's own header of this name replaces it. One with a saved value is sent once the value is saved.",
    ),
    key(
        "cookies",
        "true",
        Kind::Form(&COOKIES),
        "Whether each user keeps the cookies that the server sets, and sends them back; default false. iteration: each iteration begins without any.",
    ),
    key(
        "redirects",
        "5",
        Kind::Form(&REDIRECTS),
        "How many redirects in a row its requests follow, each to the same host and port, 0 to 20; default 0: a redirect is the reply.",
    ),
    key(
        "auth",
        "{ bearer: \"{env.TOKEN}\" }",
        Kind::Table(&AUTH),
        "The header Authorization of all its requests.",
    ),
];

const EXPECT: &[Key] = &[
    key("status", "[ 200, 3xx ]", Kind::OneOrList(&ONE_STATUS), "Accepted statuses; default 200-399."),
    key("body", "hello", Kind::TextOrTexts, "Text that the body must contain."),
    key("body-matches", "'id=[0-9]+'", Kind::TextOrTexts, "Regular expressions that the body must match."),
    key(
        "json",
        "{ $.status: ok, '$.items[0].id': 3 }",
        Kind::Named(&Kind::Optional(&Kind::Text)),
        "Places in a JSON body, written as in `save`, and the values there; without a value, the place must exist.",
    ),
    key(
        "headers",
        "{ Content-Type: text/html }",
        Kind::Named(&Kind::Optional(&Kind::Text)),
        "Required headers, and text that they must contain.",
    ),
    key("size", "10..20", Kind::Sizes, "Size of the body in bytes."),
];

const SAVE: &[Key] = &[
    key(
        "json",
        "$.data[0].token",
        Kind::Text,
        "A place in a JSON body: JSONPath to one value (.name, ['name'], [0], [-1] from the end), or a JSON pointer such as /data/0/token.",
    ),
    key("header", "Location", Kind::Text, "The value of a header."),
    key(
        "regex",
        "'id=(\\w+)'",
        Kind::Text,
        "With `header`: a regular expression; the value is its first group, or the whole match, in the first header of the name that matches.",
    ),
    key(
        "body",
        "'token=(\\w+)'",
        Kind::Text,
        "A regular expression; the value is its first group, or the whole match.",
    ),
];

static AUTH: Table = Table {
    exclusive: &[],
    name: "auth",
    sentence: "Who is asking: one of `basic`, `bearer`.",
    example: "{ bearer: \"{env.TOKEN}\" }",
    keys: &[
        key(
            "basic",
            "{ user: app, password: \"{env.PASSWORD}\" }",
            Kind::Table(&BASIC),
            "Basic authentication (RFC 7617).",
        ),
        key("bearer", "\"{env.TOKEN}\"", Kind::Text, "A bearer token (RFC 6750)."),
    ],
};

static BASIC: Table = Table {
    exclusive: &[],
    name: "basic",
    sentence: "A user and a password, which may be values.",
    example: "{ user: app, password: \"{env.PASSWORD}\" }",
    keys: &[
        required("user", "app", &Kind::Text, "The user."),
        required("password", "\"{env.PASSWORD}\"", &Kind::Text, "The password."),
    ],
};

static PART: Kind = Kind::TextOrTable(&FILE_PART);

static FILE_PART: Table = Table {
    exclusive: &[],
    name: "file part",
    sentence: "A file that is sent as a part of `multipart`, as it is.",
    example: "{ file: photo.png, type: image/png }",
    keys: &[
        required("file", "photo.png", &Kind::Text, "The file, in the folder of the plan; max 64 MiB."),
        key("type", "image/png", Kind::Text, "Its Content-Type; default application/octet-stream."),
        key("name", "holiday.png", Kind::Text, "The name that is sent; default: that of the file."),
    ],
};

static COOKIES: Form = Form {
    words: "true, false, or iteration",
    check: |text| match text {
        "true" | "false" | "iteration" => Ok(()),
        _ => Err(format!("{text:?} is neither true, false, nor iteration")),
    },
    schema: FormSchema::Anything,
};

static REDIRECTS: Form = Form {
    words: "a whole number from 0 to 20",
    check: |text| match text.parse::<u8>() {
        Ok(0..=REDIRECTS_MAX) => Ok(()),
        _ => Err(format!("{text:?} is not a whole number from 0 to {REDIRECTS_MAX}")),
    },
    schema: FormSchema::NumberOr("^([0-9]|1[0-9]|20)$"),
};

static ONE_STATUS: Kind = Kind::Form(&STATUS);

static STATUS: Form = Form {
    words: "a status such as 200, 2xx, or 200-299",
    // The check of replies reads lists of statuses, too.
    check: |_| Ok(()),
    schema: FormSchema::NumberOr(
        "^[1-5]([0-9][0-9]|xx)(-[1-5][0-9][0-9])?( ?, ?[1-5]([0-9][0-9]|xx)(-[1-5][0-9][0-9])?)*$",
    ),
};
