//! `tenbin machine --permissions`: shows what Tenbin may read and change on this machine, and what to do where it may not.

use std::fmt::Write as _;

use lab::access::{self, Outcome, Permission};
use serde_json::json;

use crate::exit::Exit;
use crate::output;

/// Tries all permissions, and prints the results.
pub(crate) fn run(is_json: bool) -> anyhow::Result<Exit> {
    let permissions = access::test_all();
    if is_json {
        let list: Vec<_> = permissions.iter().map(object).collect();
        output::data(&format!("{:#}\n", json!(list)))?;
    } else {
        output::lines(&table(&permissions))?;
    }
    Ok(Exit::Ok)
}

/// A line for each permission. Below them, why some are missing and what to do.
fn table(permissions: &[Permission]) -> String {
    let width = |title: &str, column: fn(&Permission) -> &str| {
        let longest = permissions.iter().map(|permission| column(permission).chars().count()).max();
        longest.unwrap_or(0).max(title.len())
    };
    let what = width("what", |permission| permission.what);
    let needed_for = width("needed for", |permission| permission.needed_for);
    let line = |[result, first, second, last]: [&str; 4]| {
        format!("{result:<9}  {first:<what$}  {second:<needed_for$}  {last}\n")
    };
    let mut text = line(["result", "what", "needed for", "tried"]);
    for permission in permissions {
        let Permission { what, needed_for, tried, .. } = permission;
        text += &line([word(&permission.outcome), what, needed_for, &report::visible(tried)]);
    }
    let (mut missing, mut not_tried): (Groups, Groups) = Default::default();
    for Permission { what, outcome, remedy, .. } in permissions {
        match outcome {
            Outcome::Works => {}
            Outcome::Fails(why) => {
                add(&mut missing, remedy, format!("no: {what}: {}", report::visible(why)));
            }
            Outcome::NotTried(why) => add(&mut not_tried, &report::visible(why), (*what).to_owned()),
        }
    }
    for (remedy, lines) in missing {
        let _ = write!(text, "\n{}\n  help: {remedy}\n", lines.join("\n"));
    }
    for (why, whats) in not_tried {
        let _ = write!(text, "\nnot tried, {why}: {}\n", whats.join("; "));
    }
    text
}

/// Lines that share a text, in the order of the table.
type Groups = Vec<(String, Vec<String>)>;

fn add(groups: &mut Groups, common: &str, line: String) {
    match groups.iter_mut().find(|(known, _)| known == common) {
        Some((_, lines)) => lines.push(line),
        None => groups.push((common.to_owned(), vec![line])),
    }
}

fn word(outcome: &Outcome) -> &'static str {
    match outcome {
        Outcome::Works => "yes",
        Outcome::Fails(_) => "no",
        Outcome::NotTried(_) => "not tried",
    }
}

/// JSON object of a permission. `works` is null if it could not be tried.
fn object(permission: &Permission) -> serde_json::Value {
    let (works, because) = match &permission.outcome {
        Outcome::Works => (Some(true), None),
        Outcome::Fails(why) => (Some(false), Some(why)),
        Outcome::NotTried(why) => (None, Some(why)),
    };
    json!({
        "name": permission.name,
        "what": permission.what,
        "needed_for": permission.needed_for,
        "tried": permission.tried,
        "works": works,
        "because": because,
        "help": (works == Some(false)).then_some(permission.remedy),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn permission(what: &'static str, outcome: Outcome) -> Permission {
        let (name, needed_for, remedy) = ("a_name", "locks", "sudo do it");
        Permission { name, what, needed_for, tried: "/proc/1/stat".to_owned(), outcome, remedy }
    }

    #[test]
    fn aligns_columns_and_adds_help_only_to_failures() {
        let permissions = [
            permission("calls", Outcome::Works),
            permission("files of others", Outcome::Fails("denied\u{1b}[2J".to_owned())),
            permission("memory", Outcome::Fails("denied".to_owned())),
            permission("perf", Outcome::NotTried("there is none".to_owned())),
        ];
        let expected = "\
result     what             needed for  tried
yes        calls            locks       /proc/1/stat
no         files of others  locks       /proc/1/stat
no         memory           locks       /proc/1/stat
not tried  perf             locks       /proc/1/stat

no: files of others: denied\\u{1b}[2J
no: memory: denied
  help: sudo do it

not tried, there is none: perf
";
        assert_eq!(table(&permissions), expected);
        let objects = permissions.map(|permission| object(&permission));
        assert_eq!(
            objects.each_ref().map(|one| &one["works"]),
            [&json!(true), &json!(false), &json!(false), &json!(null)]
        );
        assert_eq!(objects.each_ref().map(|one| one["help"].is_null()), [true, false, false, true]);
    }
}
