//! Table of several runs, one row each. Runs are not ranked: they keep the order of the request.

use crate::durations::Durations;
use crate::item::{Escape, Item, Tone};
use crate::noun::Noun;
use crate::system::whole;
use crate::table::{Cell, Table};
use crate::text::{shortened, visible};
use crate::times;
use crate::units::{decimal, mebibytes, rate};
use crate::view::View;

/// Maximum width of a name in columns. Longer names are cut.
const NAME_CHARACTERS_MAX: usize = 28;

/// Items of a report on several runs, in order.
pub(crate) fn items(views: &[View<'_>], escape: Escape) -> Vec<Item> {
    let warning = warning(views).map(|warning| (Tone::Bad, warning));
    let of_run = |(name, view): (String, &View<'_>)| {
        let causes = view.validity.causes.iter().map(judge::validity::told);
        let texts = causes.chain(view.run.new.stamps.iter().chain(&view.notes).cloned());
        let note = |text: String| (Tone::Plain, format!("{}: {}", escape(&name), escape(&text)));
        texts.map(note).collect::<Vec<_>>()
    };
    let notes: Vec<_> =
        warning.into_iter().chain(names(views).into_iter().zip(views).flat_map(of_run)).collect();
    let mut items = vec![Item::Table(summary(views, escape)), Item::Table(service(views, escape))];
    if !notes.is_empty() {
        items.push(Item::Notes(notes));
    }
    items
}

/// Summary table: response times, rates, errors, costs, and verdicts.
pub(crate) fn summary(views: &[View<'_>], escape: Escape) -> Table {
    let mut table = Table::of_names("response time", names(views).iter().map(|name| escape(name)));
    let response: Vec<Option<&Durations>> = views.iter().map(|view| Some(&view.whole.response.all)).collect();
    times::columns(&mut table, &response);
    let mut column = |head: &str, below: &str, cell: &dyn Fn(&View<'_>) -> Cell| {
        table.column(head, below, views.iter().map(cell));
    };
    let kb = |view: &View<'_>, bytes: Option<u64>| Cell::figure_or_na(view.whole.kb_per_s(bytes), rate);
    column("throughput", "/s", &|view| Cell::figure_or_na(view.whole.answers_per_s(), rate));
    column("received", "KB/s", &|view| kb(view, view.whole.received_bytes));
    column("sent", "KB/s", &|view| kb(view, view.whole.sent_bytes));
    column("rejected", "", &|view| Cell::count(view.whole.counts.rejected));
    column("failed", "", &|view| Cell::count(view.whole.counts.failed));
    column("timed out", "", &|view| Cell::count(view.whole.counts.timed_out));
    column("generator", Noun::of_all(views).us_per_one, &|view| {
        Cell::figure_or_na(view.generator_us_per_request(), |us| decimal(us, 1))
    });
    column("generator", "MiB", &|view| {
        let peak = view.run.ending.as_ref().map(|ending| ending.generator.rss_peak_bytes as f64);
        Cell::figure_or_na(peak, |bytes| mebibytes(whole(bytes)))
    });
    column("verdict", "", &|view| view.judgement().into());
    table
}

/// Table of service times, with rows in the order of the views.
pub(crate) fn service(views: &[View<'_>], escape: Escape) -> Table {
    let mut table = Table::of_names("service time", names(views).iter().map(|name| escape(name)));
    let service: Vec<Option<&Durations>> = views.iter().map(|view| Some(&view.whole.service.all)).collect();
    times::columns(&mut table, &service);
    table
}

/// Unique names of runs: their variants or titles. If two runs share one, the end of the run identifier is added.
pub(crate) fn names(views: &[View<'_>]) -> Vec<String> {
    let whole: Vec<String> = views.iter().map(|view| visible(&view.name())).collect();
    let plain: Vec<String> =
        without_common_prefix(&whole).into_iter().map(|name| shortened(&name, NAME_CHARACTERS_MAX)).collect();
    let is_shared = |name: &String| plain.iter().filter(|other| *other == name).count() > 1;
    let distinguish = |(view, name): (&View<'_>, &String)| match view.run.id.as_str().rsplit('-').next() {
        Some(end) if is_shared(name) => format!("{name} {end}"),
        _ => name.clone(),
    };
    views.iter().zip(&plain).map(distinguish).collect()
}

/// Removes the folders, or the scheme and host, that all names share if one is too long. Differences are mostly at the end.
fn without_common_prefix(names: &[String]) -> Vec<String> {
    let is_long = names.iter().any(|name| name.chars().count() > NAME_CHARACTERS_MAX);
    let shared = names.iter().skip(1).fold(names.first().map_or("", String::as_str), |shared, name| {
        let differs_at = shared.char_indices().zip(name.chars()).find(|((_, a), b)| a != b);
        let end = differs_at.map_or(shared.len().min(name.len()), |((at, _), _)| at);
        &shared[..end]
    });
    match shared.rfind('/') {
        Some(at) if is_long && names.len() > 1 => {
            names.iter().map(|name| format!("…{}", &name[at..])).collect()
        }
        _ => names.to_vec(),
    }
}

/// Warning below the table. `None` if all runs are valid.
pub(crate) fn warning(views: &[View<'_>]) -> Option<String> {
    let invalid = views.iter().filter(|view| view.is_invalid()).count();
    match invalid {
        0 => None,
        1 => Some("1 run is invalid: its figures are shown, and cannot be compared.".to_owned()),
        _ => Some(format!("{invalid} runs are invalid: their figures are shown, and cannot be compared.")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_names_lose_shared_prefix() {
        let names = |names: &[&str]| {
            without_common_prefix(&names.iter().map(ToString::to_string).collect::<Vec<_>>())
        };
        assert_eq!(
            names(&["GET http://127.0.0.1:8080/api/light", "GET http://127.0.0.1:8080/api/heavy"]),
            ["…/light", "…/heavy"]
        );
        assert_eq!(
            names(&["GET http://a/x", "GET http://a/y"]),
            ["GET http://a/x", "GET http://a/y"],
            "short enough"
        );
        let same = "GET http://127.0.0.1:8080/fibonacci?n=1000";
        assert_eq!(names(&[same, same]), ["…/fibonacci?n=1000", "…/fibonacci?n=1000"]);
        assert_eq!(
            names(&["天秤天秤天秤天秤天秤天秤天秤天秤天秤天秤天秤天秤天秤天秤天秤/é", "天/ê"])[1],
            "天/ê"
        );
        assert_eq!(names(&[]), Vec::<String>::new());
    }
}
