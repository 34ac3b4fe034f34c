//! Copies of prepared data, from which the runs of a variant start.
//!
//! Tables of built-in workloads and own data of a plan are prepared once for each variant. A system that Tenbin starts is then stopped, and
//! its folder is copied; each run starts with that copy. Own data in a system that is already running is copied as well: a SQLite file as a
//! file, and a database on a running PostgreSQL as a template. Data that no step of the load changes stays in a running database. In all
//! other cases, data is prepared again before each run, and a remark gives the reason.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::fs;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::time::Duration;

use evidence::Failure;
use plan::Plan;
use progress::{RunEvent, Stream};

use crate::databases::{self, ServerCopy};
use crate::scratch::Scratch;
use crate::stage::{Stage, failure};
use crate::systems::StartedSystem;
use crate::tools::Tools;

/// Maximum length of a file that may be a configuration, in bytes.
const CONFIGURATION_BYTES_MAX: u64 = 1 << 20;
/// Maximum number of files that are searched for the path of their folder.
const SEARCHED_FILES_MAX: usize = 20_000;
/// Files that servers write again at each start.
const REWRITTEN: [&str; 3] = ["postmaster.opts", "postmaster.pid", "logfile"];
/// Help if copies take long because the file system has no reflinks.
const REFLINKS_HELP: &str = "with reflinks, copies take no time: truncate -s 20G /var/tmp/tenbin.xfs && mkfs.xfs /var/tmp/tenbin.xfs && \
     mkdir -p /mnt/tenbin && mount -o loop /var/tmp/tenbin.xfs /mnt/tenbin, then set TMPDIR=/mnt/tenbin";
/// Length of a copy in bytes, from which on reflinks are suggested.
const LARGE_COPY_BYTES: u64 = 256 << 20;

/// Prepared data of all variants of a study, by name and parameters of the variant.
#[derive(Debug, Default)]
pub(crate) struct DataCopies(RefCell<BTreeMap<String, Prepared>>);

/// Prepared data of a variant.
#[derive(Debug)]
enum Prepared {
    /// A copy in a folder of Tenbin: the folder of a system, or a file.
    Copy { _scratch: Scratch, path: PathBuf, copied: Option<lab::Copied>, is_told: bool },
    /// A copy in the server, and whether its use was reported.
    InServer(Box<dyn ServerCopy>, bool),
    /// Original data, which no step changes.
    Unchanged,
    /// No copy. The data is prepared again.
    Again,
}

impl DataCopies {
    /// Starts a system with its prepared data. Prepares the data first, if necessary. `None` if the data of the stage is prepared in
    /// another way.
    pub(crate) fn start(
        &self,
        stage: &Stage,
        plan: &Plan,
        tools: &Tools<'_>,
        stream: &Stream,
    ) -> Option<Result<Box<dyn StartedSystem>, lab::Failure>> {
        let has_data = stage.launch.own_data.is_some() || stage.launch.tables.is_some();
        if !has_data || !stage.starts_processes() || !stage.is_repeated {
            return None;
        }
        let mut all = self.0.borrow_mut();
        if !all.contains_key(&stage.data_key) {
            let prepared = match copy_obstacle(stage) {
                Some(because) => again(stream, &because),
                None => match prepare_and_copy(stage, plan, tools, stream) {
                    Ok(prepared) => prepared,
                    Err(failure) => return Some(Err(failure)),
                },
            };
            all.insert(stage.data_key.clone(), prepared);
        }
        let Some(Prepared::Copy { path, copied, is_told, .. }) = all.get_mut(&stage.data_key) else {
            return None;
        };
        let begun = tools.clock.now();
        let recipe = lab::Recipe { contents: Some(path.clone()), before: Vec::new(), ..stage.recipe() };
        let started = tools.lab.start(recipe, &|| tools.is_stopped());
        if !std::mem::replace(is_told, true) && started.is_ok() {
            let what = format!("{} started on a copy of its data", stage.name());
            publish_outcome(stream, &what, tools.clock.now() - begun, *copied, false);
        }
        Some(started)
    }

    /// Prepares the own data of a running system, or of a file. False if the data of the stage is prepared in another way.
    pub(crate) fn fill(
        &self,
        stage: &Stage,
        plan: &Plan,
        tools: &Tools<'_>,
        stream: &Stream,
    ) -> Result<bool, Failure> {
        if stage.launch.own_data.is_none() || stage.starts_processes() {
            return Ok(false);
        }
        let mut all = self.0.borrow_mut();
        let in_words = |what: String| failure(false, "prepare", what);
        let file = plan.database().and_then(|database| database.file.as_ref()).map(|(path, _)| path.clone());
        match (all.get_mut(&stage.data_key), &file) {
            // File of the previous run, which no step changed.
            (Some(Prepared::Copy { .. }), Some(file)) if !plan.may_write() && file.exists() => {}
            (Some(Prepared::Copy { path, is_told, .. }), Some(file)) => {
                let begun = tools.clock.now();
                let copied = restore_file(path, file)
                    .map_err(|error| in_words(format!("{} cannot be restored: {error}", file.display())))?;
                if !std::mem::replace(is_told, true) {
                    let what = format!("{} restored from a copy", file.display());
                    publish_outcome(stream, &what, tools.clock.now() - begun, Some(copied), true);
                }
            }
            (Some(Prepared::InServer(copy, is_told)), _) => {
                let begun = tools.clock.now();
                let how = copy.restore().map_err(in_words)?;
                if !std::mem::replace(is_told, true) {
                    publish_outcome(stream, &how, tools.clock.now() - begun, None, false);
                }
            }
            (Some(Prepared::Unchanged), None) => {}
            (Some(_), _) => stage.fill_again(tools, plan, stream)?,
            (None, _) => {
                let before = plan.database().zip(stage.launch.own_data.as_ref());
                let before = before.and_then(|(database, own)| databases::server_copy(database, own));
                stage.fill(tools, plan, stream)?;
                let prepared = match (&file, before) {
                    _ if !stage.is_repeated => Prepared::Again,
                    (Some(file), _) => copy_own_file(file)
                        .map_err(|error| in_words(format!("{} cannot be copied: {error}", file.display())))?,
                    (None, _) if !plan.may_write() => Prepared::Unchanged,
                    (None, Some(Ok(mut copy))) => match copy.make() {
                        Ok(()) => Prepared::InServer(copy, false),
                        Err(because) => again(stream, &because),
                    },
                    (None, Some(Err(because))) => again(stream, &because),
                    (None, None) => again(stream, "the database has no way to copy it"),
                };
                all.insert(stage.data_key.clone(), prepared);
            }
        }
        Ok(true)
    }
}

fn again(stream: &Stream, because: &str) -> Prepared {
    let remark = format!("data is prepared again before each run, because {because}");
    stream.publish(None, RunEvent::Remark(remark));
    Prepared::Again
}

/// Publishes the outcome. The first remark on a copy has help if it takes long.
fn publish_outcome(stream: &Stream, what: &str, took: Duration, copied: Option<lab::Copied>, is_first: bool) {
    let seconds = took.as_secs_f64();
    let copy = copied.map_or_else(String::new, |copied| {
        let way = if copied.is_shared() { "by reflink" } else { "by a plain copy" };
        format!(" ({} MiB, {way})", copied.bytes >> 20)
    });
    let help = match copied {
        Some(copied) if is_first && !copied.is_shared() && copied.bytes >= LARGE_COPY_BYTES => {
            format!("; help: {REFLINKS_HELP}")
        }
        _ => String::new(),
    };
    stream.publish(None, RunEvent::Remark(format!("{what}{copy}, in {seconds:.2} s{help}")));
}

/// Reason why the folder of a system cannot be used again with other ports. `None` if it can.
fn copy_obstacle(stage: &Stage) -> Option<String> {
    if stage.launch.disk_bytes.is_some() {
        return Some("its system has a disk of its own".to_owned());
    }
    let ports: Vec<String> = stage.ports().iter().map(u16::to_string).collect();
    let words = stage
        .launch
        .before
        .iter()
        .flat_map(|command| command.argv.iter().chain(command.env.iter().map(|(_, value)| value)));
    let mut named = words.filter(|word| ports.iter().any(|port| word.contains(port.as_str())));
    named.next().map(|_| "a command of `before` has a port, which is another one in each run".to_owned())
}

/// Starts a system, prepares its data, stops it, and copies its folder.
fn prepare_and_copy(
    stage: &Stage,
    plan: &Plan,
    tools: &Tools<'_>,
    stream: &Stream,
) -> Result<Prepared, lab::Failure> {
    let failed = |what: String, way_out: &str| lab::Failure {
        stage: lab::Stage::Files,
        process: None,
        what,
        way_out: way_out.to_owned(),
        outputs: Vec::new(),
    };
    let scratch = Scratch::new().map_err(|error| {
        failed(format!("no folder can be made for a copy of the data: {error}"), "free space")
    })?;
    let path = scratch.path().join("data");
    let recipe = lab::Recipe { copy_to: Some(path.clone()), ..stage.recipe() };
    let system = tools.lab.start(recipe, &|| tools.is_stopped())?;
    let filled = stage.fill(tools, plan, stream);
    let begun = tools.clock.now();
    let mut stopped = system.stop();
    if let Err(failure) = filled {
        return Err(lab::Failure {
            stage: lab::Stage::Prepare,
            outputs: stopped.outputs,
            ..failed(failure.what, &failure.way_out)
        });
    }
    if !stopped.failures.is_empty() {
        return Err(lab::Failure { outputs: stopped.outputs, ..stopped.failures.swap_remove(0) });
    }
    if let Some(file) = find_file_with(&path, stage.dir()) {
        let name = file.strip_prefix(&path).unwrap_or(&file).display().to_string();
        return Ok(again(
            stream,
            &format!("{name} has the path of the folder, which is another one in each run"),
        ));
    }
    let what = format!("data of {} prepared, and its system stopped and copied", stage.name());
    publish_outcome(stream, &what, tools.clock.now() - begun, stopped.copied, true);
    Ok(Prepared::Copy { _scratch: scratch, path, copied: stopped.copied, is_told: false })
}

/// A configuration in a folder that has this path in its text. `None` if there is none.
fn find_file_with(folder: &Path, path: &Path) -> Option<PathBuf> {
    let searched = path.to_string_lossy();
    let mut folders = vec![folder.to_owned()];
    let mut count = 0;
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).ok()?.flatten() {
            let Ok(about) = entry.metadata() else { continue };
            if about.is_dir() {
                folders.push(entry.path());
            } else if about.is_file() && is_configuration(&entry.path(), about.len()) {
                count += 1;
                let text = fs::read(entry.path()).unwrap_or_default();
                if String::from_utf8_lossy(&text).contains(&*searched) {
                    return Some(entry.path());
                }
            }
            if count > SEARCHED_FILES_MAX {
                return None;
            }
        }
    }
    None
}

/// Whether a file may be a configuration: a short text file with an extension, which its server does not rewrite at each start.
fn is_configuration(path: &Path, bytes: u64) -> bool {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let is_log = name.ends_with(".log") || name.ends_with(".pid") || name.ends_with(".err");
    bytes <= CONFIGURATION_BYTES_MAX && path.extension().is_some() && !is_log && !REWRITTEN.contains(&&*name)
}

/// Copies a file to a folder of Tenbin.
fn copy_own_file(file: &Path) -> io::Result<Prepared> {
    let scratch = Scratch::new()?;
    let path = scratch.path().join("data");
    let copied = Some(lab::copy(file, &path)?);
    Ok(Prepared::Copy { _scratch: scratch, path, copied, is_told: false })
}

/// Replaces a file and its journals by a copy.
fn restore_file(copy: &Path, file: &Path) -> io::Result<lab::Copied> {
    for ending in ["", "-wal", "-shm", "-journal"] {
        let mut name = file.as_os_str().to_owned();
        name.push(ending);
        match fs::remove_file(PathBuf::from(name)) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            _ => {}
        }
    }
    let copied = lab::copy(copy, file)?;
    // Reads from the copy, so that it is in the page cache, as after the original write.
    let _ = fs::File::open(file).and_then(|mut file| file.read(&mut [0; 1]));
    Ok(copied)
}
