//! Compares databases that already run.

use plan::{ScriptSource, TlsSpec};

use super::super::LoadFlags;
use super::{PairKind, bad_arguments, duplicate_name, request_flag, with_names};
use crate::adhoc::{self, AdhocLoad, Server};
use crate::commands::list_faults;
use crate::exit::BadArguments;

pub(super) const KIND: PairKind = PairKind {
    has_url: plan::Database::has_url,
    noun: "a database",
    plural: "databases",
    unsupported: |flags| {
        request_flag(flags).or_else(|| flags.tls.given()).or_else(|| flags.command_mix.given())
    },
    read: |flags, played, urls, names| Ok((servers(urls, names)?, transactions(played, flags)?)),
};

fn servers(urls: &[&str], names: &[Option<&str>]) -> anyhow::Result<Vec<Server>> {
    let (mut servers, mut faults) = (Vec::new(), Vec::new());
    for url in urls {
        match Server::from_database_url(url) {
            Ok(server) => servers.push(server),
            Err(of_url) => faults.extend(of_url),
        }
    }
    if !faults.is_empty() {
        return Err(BadArguments(list_faults(&faults, "nothing was sent")).into());
    }
    if duplicate_name(&servers).is_some() {
        servers.iter_mut().for_each(Server::name_parameters);
    }
    if let Some(server) = duplicate_name(&servers) {
        let what = format!("both URLs name {}", server.name);
        return Err(bad_arguments(&what, "name two databases, or write different parameters in the URLs"));
    }
    with_names(servers, names)
}

/// Scripts and workloads to run. Scripts must be in the current folder or below it: the plan is in this folder, and reads no files outside
/// of it.
fn transactions(played: &[ScriptSource], flags: &LoadFlags) -> anyhow::Result<AdhocLoad> {
    if played.is_empty() {
        let what = "there is nothing to run on the two databases";
        return Err(bad_arguments(what, "add --workload select-only, or -f script.sql"));
    }
    let here = std::env::current_dir()?;
    for file in played {
        let ScriptSource::File(text) = file else { continue };
        let name = text.rsplit_once('@').map_or(text.as_str(), |(name, _)| name);
        // A file that cannot be read is an error of the plan.
        let Ok(path) = std::fs::canonicalize(name) else { continue };
        if !path.starts_with(&here) {
            let what =
                format!("-f {name}: with two URLs, a script must be in the current folder or below it");
            let folder = path.parent().unwrap_or(&path).display().to_string();
            return Err(bad_arguments(
                &what,
                &format!("change the folder: cd {}", report::shell_quote(&folder)),
            ));
        }
    }
    Ok(AdhocLoad::Steps { text: adhoc::transactions(played, &flags.sql), tls: TlsSpec::default() })
}
