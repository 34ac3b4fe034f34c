//! `tenbin replay LOG --to A --to B`: replays a log on several systems in blocks of random order, and compares them by statement.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::path::Path;

use evidence::COMMAND;
use plan::Study;
use report::shell_quote;

use super::{Kind, ReplayFlags, bad_arguments};
use crate::adhoc::{own_command, quoted};
use crate::arguments::{named_url, with_scheme, with_seconds};
use crate::commands::run::StudyRun;
use crate::destination::ResultFlags;
use crate::exit::{BadArguments, Exit};

/// Runs the study, keeps it in the store, and reports it.
pub(super) fn run(flags: &ReplayFlags) -> anyhow::Result<Exit> {
    let destination = ResultFlags::of(Some(flags.format.clone()), None).check()?;
    destination.check_study()?;
    let study = study(flags)?;
    StudyRun::begun(study, &flags.store, flags.public, &flags.label).execute(&destination, "")
}

/// Plan of the flags, with the folder of the log as its own.
fn study(flags: &ReplayFlags) -> anyhow::Result<Study> {
    let name = flags.log.display().to_string();
    let file = flags.log.file_name().filter(|_| name != "-").map(|file| file.to_string_lossy().into_owned());
    let Some(file) = file else {
        return bad_arguments(
            "with several --to, the log is read several times\n  help: name a log file".to_owned(),
        );
    };
    let folder = flags.log.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let folder = folder
        .canonicalize()
        .map_err(|error| BadArguments(format!("{name}: {error}\n  help: name a log file")))?;
    let systems = systems(&flags.to)?;
    let mut text = format!("load: {}\nsystems:\n", load(flags, &file));
    for (name, url) in &systems {
        let _ = writeln!(text, "  {}: {{ url: {} }}", quoted(name), quoted(url));
    }
    // Without pauses, a faster system is done sooner.
    let by = if super::speed(&flags.speed)?.is_none() { "throughput" } else { "p99" };
    let blocks = flags.blocks.map_or_else(String::new, |blocks| format!(", blocks: {blocks}"));
    let first = systems.first().map_or("", |(name, _)| name);
    let _ = writeln!(text, "compare: {{ by: {by}, baseline: {}{blocks} }}", quoted(first));
    let title = systems.iter().map(|(name, _)| name.as_str()).collect::<Vec<_>>().join(" and ");
    let study = Study::from_bytes(text.as_bytes(), "the plan of these flags", title, folder, false);
    let mut study = study.map_err(|errors| BadArguments(errors.to_string()))?;
    let command: Vec<String> = own_command().iter().map(|word| shell_quote(word)).collect();
    study.source = format!("{COMMAND}{}\n{text}", command.join(" "));
    Ok(study)
}

/// Names and URLs of the systems. All names differ.
fn systems(urls: &[String]) -> anyhow::Result<Vec<(String, String)>> {
    let mut systems = Vec::new();
    let mut names = BTreeSet::new();
    for text in urls {
        let (name, url) = named_url(text);
        let url = with_scheme(url).into_owned();
        let shown = plan::shown_url(&url)
            .map_err(|faults| BadArguments(crate::commands::list_faults(&faults, "nothing was sent")))?;
        let usual = shown.split_once("://").map_or(shown.as_str(), |(_, rest)| rest).to_owned();
        let name = name.map_or(usual, str::to_owned);
        if !names.insert(name.clone()) {
            return bad_arguments(format!(
                "two --to are named {name}\n  help: write other names: --to a=URL --to b=URL"
            ));
        }
        systems.push((name, url));
    }
    Ok(systems)
}

/// The load in YAML.
fn load(flags: &ReplayFlags, file: &str) -> String {
    let list = |names: &[String]| {
        let names: Vec<String> = names.iter().map(|name| quoted(name)).collect();
        (!names.is_empty()).then(|| format!("[ {} ]", names.join(", ")))
    };
    let text = |text: Option<&String>| text.map(|text| quoted(text));
    let moment = |text: Option<&String>| text.map(|text| quoted(&with_seconds(text)));
    let keys = [
        ("log", Some(quoted(file))),
        ("format", text(flags.log_format.as_ref())),
        ("prefix", text(flags.log_prefix.as_ref())),
        ("speed", Some(quoted(&flags.speed))),
        ("only", flags.only.map(|Kind::Reads| "reads".to_owned())),
        ("allow-writes", flags.allow_writes.then(|| "true".to_owned())),
        ("checksum", flags.checksum.then(|| "true".to_owned())),
        ("lock-window", Some(quoted(&with_seconds(&flags.lock_window)))),
        ("user", list(&flags.user)),
        ("database", list(&flags.database)),
        ("since", moment(flags.since.as_ref())),
        ("until", moment(flags.until.as_ref())),
    ];
    let keys = keys.into_iter().filter_map(|(key, value)| Some(format!("{key}: {}", value?)));
    let replay = keys.collect::<Vec<_>>().join(", ");
    let timeout = quoted(&with_seconds(&flags.timeout));
    let number =
        |key: &str, number: Option<u64>| number.map_or_else(String::new, |n| format!(", {key}: {n}"));
    let connections = number("connections", flags.connections.map(u64::from));
    let threads = number("threads", flags.threads);
    format!("{{ replay: {{ {replay} }}, timeout: {timeout}{connections}{threads} }}")
}
