//! `/insert`: inserts a row with a unique e-mail address, through a pool of database connections.

use super::{Endpoint, Work};
use crate::database::Outcome;
use crate::query::{Query, bad_request, form_value};
use crate::reply::Reply;
use std::time::Duration;

/// Maximum length of an e-mail address, in bytes.
const EMAIL_BYTES_MAX: usize = 254;

pub(super) const ENDPOINT: Endpoint = Endpoint {
    path: "/insert",
    sentence: "Inserts a row with a unique e-mail (form, JSON or query key `email`) into SQLite: 201, or 409 for a duplicate; \
               x-pool-wait-us tells how long it waited for a connection.",
    example: "/insert?email=someone@example.org",
    methods: &["POST", "GET"],
    keys: &["email"],
    prepare,
};

/// Returns the e-mail address of a request: from the query, otherwise from its form or JSON body.
pub(crate) fn email_of(query: Option<String>, body: &[u8]) -> Result<String, Reply> {
    let email = query.or_else(|| body_email(body)).ok_or_else(|| {
        bad_request(
            "email is missing; send email=someone@example.org or {\"email\": \"someone@example.org\"}",
        )
    })?;
    let fine = email.len() <= EMAIL_BYTES_MAX && email.contains('@') && !email.contains(char::is_control);
    if fine { Ok(email) } else { Err(bad_request("email must contain @ and be at most 254 bytes of text")) }
}

/// Builds a reply with the result of an insert.
pub(crate) fn reply(outcome: &Outcome, waited: Duration) -> Reply {
    match outcome {
        Outcome::Created => Reply::fixed(201, "created\n"),
        Outcome::Duplicate => Reply::fixed(409, "duplicate\n"),
        Outcome::Failed(reason) => Reply::text(500, format!("the database failed: {reason}\n")),
    }
    .with("x-pool-wait-us", waited.as_micros())
}

fn prepare(query: &Query<'_>) -> Result<Work, Reply> {
    Ok(Work::Insert { email: query.text("email").map(|email| email.into_owned()) })
}

fn body_email(body: &[u8]) -> Option<String> {
    let text = std::str::from_utf8(body).ok()?.trim();
    if text.starts_with('{') {
        let object: serde_json::Value = serde_json::from_str(text).ok()?;
        return object.get("email")?.as_str().map(str::to_owned);
    }
    form_value(text, "email")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn email_comes_from_query_form_or_json() {
        let of = |body: &str| email_of(None, body.as_bytes()).ok();
        assert_eq!(of("name=x&email=a%40b.c").as_deref(), Some("a@b.c"));
        assert_eq!(of(" {\"email\": \"a@b.c\"}").as_deref(), Some("a@b.c"));
        assert_eq!(email_of(Some("q@b.c".into()), b"").ok().as_deref(), Some("q@b.c"));
    }

    #[test]
    fn invalid_email_is_rejected() {
        for body in ["", "email=", "email=nobody", "{\"email\": 5}", "{", "email=a@b%0a"] {
            assert_eq!(
                email_of(None, body.as_bytes()).err().map(|reply| reply.status),
                Some(400),
                "{body:?}"
            );
        }
        assert!(email_of(None, &[0xff, 0xfe]).is_err());
    }
}
