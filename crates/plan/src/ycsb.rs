//! The workloads A to F of the Yahoo! Cloud Serving Benchmark, defined once for all protocols.
//!
//! A workload is a mix of operations on records. The steps of each operation come from the protocol ([`wire::step::Records`]). Together
//! they are written as sections of a plan, so that a workload is read, checked, and loaded like the steps of a plan.

use std::net::Ipv4Addr;
use std::path::{Path, PathBuf};

use load::values::Source;
use serde_json::{Value, json};
use wire::step::Records;

use crate::check_load::Destination;
use crate::draft::{Draft, ScriptSource, TlsSpec};
use crate::error::Spelling;
use crate::fault::Fault;
use crate::plan::Plan;
use crate::query_step;
use crate::requests::protocol_of_url;
use crate::spec::Field;
use crate::study::{Environment, Launch, OwnData, OwnRows, OwnTable, SqlFile, Study};
use crate::system_kind::SystemKind;
use crate::units;

/// Default number of records.
pub(crate) const RECORDS_DEFAULT: u64 = 10_000;
/// Max number of records.
pub(crate) const RECORDS_MAX: u64 = 1_000_000_000;
/// Default number of fields of a record.
pub(crate) const FIELDS_DEFAULT: u32 = 10;
/// Max number of fields of a record.
pub(crate) const FIELDS_MAX: u32 = 100;
/// Default bytes of a field.
pub(crate) const FIELD_BYTES_DEFAULT: u32 = 100;
/// Max bytes of a field, equal to the max of a random text.
pub(crate) const FIELD_BYTES_MAX: u32 = 65_536;
/// Exponent of the distributions of keys.
const ZIPF_EXPONENT: f64 = 0.99;
/// Max number of records of a scan.
const SCAN_MAX: u32 = 100;
/// Beginning of the name of each record, before the hash of its number.
const PREFIX: &str = "user";

/// An operation of a mix.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Operation {
    Read,
    Update,
    Insert,
    Scan,
    /// Reads a record and then updates it.
    Modify,
}

/// A workload.
#[derive(Debug)]
pub struct Ycsb {
    /// Name, as in `--workload`.
    pub name: &'static str,
    /// Operations with their shares in percent.
    mix: &'static [(Operation, u32)],
    /// Whether the newest records are read most often. Otherwise, the frequent records are spread over all.
    reads_latest: bool,
}

/// All workloads.
pub(crate) const WORKLOADS: &[Ycsb] = &[
    Ycsb { name: "ycsb-a", mix: &[(Operation::Read, 50), (Operation::Update, 50)], reads_latest: false },
    Ycsb { name: "ycsb-b", mix: &[(Operation::Read, 95), (Operation::Update, 5)], reads_latest: false },
    Ycsb { name: "ycsb-c", mix: &[(Operation::Read, 100)], reads_latest: false },
    Ycsb { name: "ycsb-d", mix: &[(Operation::Read, 95), (Operation::Insert, 5)], reads_latest: true },
    Ycsb { name: "ycsb-e", mix: &[(Operation::Scan, 95), (Operation::Insert, 5)], reads_latest: false },
    Ycsb { name: "ycsb-f", mix: &[(Operation::Read, 50), (Operation::Modify, 50)], reads_latest: false },
];

/// Finds a workload by name.
pub fn find(name: &str) -> Option<&'static Ycsb> {
    WORKLOADS.iter().find(|workload| workload.name == name)
}

/// Number and size of records.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RecordShape {
    /// Number of records before the load.
    pub records: u64,
    /// Number of fields of each.
    pub fields: u32,
    /// Bytes of each field.
    pub field_bytes: u32,
}

impl Default for RecordShape {
    fn default() -> Self {
        Self { records: RECORDS_DEFAULT, fields: FIELDS_DEFAULT, field_bytes: FIELD_BYTES_DEFAULT }
    }
}

/// Records that are inserted into a store before a load.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RecordLoading {
    /// Number and size of the records.
    pub shape: RecordShape,
    /// Connections that insert them in parallel.
    pub jobs: u32,
    /// Layout of the records.
    pub layout: RecordLayout,
}

/// Layout of records in a database.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum RecordLayout {
    /// One column per field. Stores other than databases have a fixed layout.
    #[default]
    Columns,
    /// Single column of type jsonb.
    Jsonb,
}

/// Workloads of records on a kind of system.
pub(crate) struct RecordsOfKind {
    /// Operations on records of the system with this URL. `None` if it does not support this layout.
    pub(crate) operations: fn(&str, RecordLayout) -> Option<&'static Records>,
    /// Whether records are rows of tables, which must be created before they are filled.
    pub(crate) has_tables: bool,
    /// Additional section of a plan with this kind of workload, on a separate line. Empty if there is none.
    pub(crate) section: &'static str,
    /// Flags of a command line that apply to this kind of workload.
    pub(crate) flags: &'static [&'static str],
}

/// Operations on records in the protocol of a URL. `None` if it has none.
pub(crate) fn operations(url: &str, layout: RecordLayout) -> Option<&'static Records> {
    (SystemKind::by_url(url).records.operations)(url, layout)
}

/// Error for a system without operations on records.
pub(crate) fn no_records(name: &str) -> (String, String) {
    let owners = wire::step::owners().filter(|(_, own)| own.records.is_some());
    let mut known: Vec<&str> = owners.map(|(_, own)| own.url).collect();
    known.push("postgres://…, mysql://…, or sqlite:…");
    (format!("{name} does not run on such a system"), format!("write a URL such as {}", known.join(", ")))
}

impl Ycsb {
    /// The sections `scenarios`, `data`, and for databases `sql` of a plan, one on each line. The error has its help.
    pub(crate) fn sections(
        &self,
        url: &str,
        shape: RecordShape,
        layout: RecordLayout,
    ) -> Result<String, (String, String)> {
        let operations = operations(url, layout).ok_or_else(|| no_records(self.name))?;
        let mut scenarios = Vec::new();
        for (operation, share) in self.mix {
            let (name, steps) = operation.steps(operations, shape.fields)?;
            let steps = steps.join(",");
            scenarios.push(format!(r#""{name}":{{"share":"{share}%","steps":[{steps}]}}"#));
        }
        let scenarios = scenarios.join(",");
        let data = data(&scenarios, shape, self.reads_latest);
        let further = SystemKind::by_url(url).records.section;
        Ok(format!("scenarios: {{{scenarios}}}\ndata: {data}\n{further}"))
    }
}

impl Operation {
    /// Name of its scenario, and its steps in JSON, with names. The error has its help.
    fn steps(self, of: &Records, fields: u32) -> Result<(&'static str, Vec<String>), (String, String)> {
        let (name, texts): (&str, Vec<(&str, Vec<String>)>) = match self {
            Self::Read => ("read", vec![("read", (of.read)(fields))]),
            Self::Update => ("update", vec![("update", (of.update)(fields))]),
            Self::Insert => ("insert", vec![("insert", (of.insert)(fields))]),
            Self::Scan => ("scan", vec![("scan", (of.scan)(fields))]),
            Self::Modify => {
                let read = ("read before update", (of.read)(fields));
                ("read-modify-write", vec![read, ("update after read", (of.update)(fields))])
            }
        };
        if let Some((missing, _)) = texts.iter().find(|(_, texts)| texts.is_empty()) {
            let others = WORKLOADS.iter().filter(|workload| workload.mix.iter().all(|(one, _)| *one != self));
            let others: Vec<&str> = others.map(|workload| workload.name).collect();
            let help = format!("use another workload: {}", others.join(", "));
            return Err((format!("this protocol has no {missing} of records"), help));
        }
        let all = texts.iter().flat_map(|(name, texts)| {
            texts.iter().enumerate().map(move |(number, text)| match number {
                0 => with_name(text, name),
                _ => with_name(text, &format!("{name}, index")),
            })
        });
        Ok((name, all.collect()))
    }
}

/// A step with a name, which comes first.
fn with_name(step: &str, name: &str) -> String {
    format!(r#"{{"name":"{name}",{}"#, step.strip_prefix('{').unwrap_or(step))
}

/// Sources of the values that steps use.
fn data(steps: &str, shape: RecordShape, reads_latest: bool) -> Value {
    let RecordShape { records, fields, field_bytes } = shape;
    let existing = format!("0..{}", records.saturating_sub(1));
    let mut key = json!({ "exponent": ZIPF_EXPONENT, "hash": PREFIX });
    match reads_latest {
        true => {
            key["latest"] = existing.into();
            key["grows-with"] = "new".into();
        }
        false => {
            key["zipf"] = existing.into();
            key["scatter"] = true.into();
        }
    }
    let text = || json!({ "text": field_bytes });
    let mut all = vec![
        ("key".to_owned(), key),
        ("new".to_owned(), json!({ "sequence": format!("{records}.."), "hash": PREFIX })),
        ("value".to_owned(), text()),
        ("field".to_owned(), json!({ "uniform": format!("0..{}", fields - 1) })),
        ("length".to_owned(), json!({ "uniform": format!("1..{SCAN_MAX}") })),
    ];
    all.extend((0..fields).map(|number| (format!("value{number}"), text())));
    all.retain(|(name, _)| is_used(steps, name));
    Value::Object(all.into_iter().collect())
}

/// Whether steps use a variable: as `{name}`, `{name:raw}`, or in statements as `:name`.
fn is_used(steps: &str, name: &str) -> bool {
    let is_end = |rest: &str| !rest.starts_with(|sign: char| sign.is_alphanumeric() || sign == '_');
    steps.contains(&format!("{{{name}}}"))
        || steps.contains(&format!("{{{name}:"))
        || steps.match_indices(&format!(":{name}")).any(|(at, found)| is_end(&steps[at + found.len()..]))
}

/// Address of a running system, for plans that are built from texts.
#[derive(Clone, Debug, Default)]
pub struct RunningSystem {
    /// URL, which may have a password.
    pub url: String,
    /// Unix socket to use instead of the URL's host and port.
    pub socket: Option<PathBuf>,
    /// Certificates.
    pub tls: TlsSpec,
}

impl RecordLoading {
    /// Default connections that insert records.
    pub const JOBS_DEFAULT: u32 = 4;

    /// Plans of the loads that insert all records, to run one after another.
    ///
    /// # Errors
    ///
    /// The URL is wrong, or its protocol does not support records.
    pub fn plans(&self, system: &RunningSystem) -> Result<Vec<Plan>, Vec<Fault>> {
        let wrong = |(what, help): (String, String)| vec![Fault::new("URL", what, help)];
        let operations = operations(&system.url, self.layout)
            .ok_or_else(|| no_records("a built-in workload"))
            .map_err(wrong)?;
        let (_, steps) = Operation::Insert.steps(operations, self.shape.fields).map_err(wrong)?;
        let RecordShape { records, .. } = self.shape;
        let users = u64::from(self.jobs).clamp(1, records.max(1));
        let plan = |step: &String| {
            // The sequence begins with the first record.
            let data = data(step, RecordShape { records: 0, ..self.shape }, false);
            let text = format!(
                "scenario: [{step}]\ndata: {data}\nload: {{ users: {users}, requests: {records} }}\n"
            );
            let study = study(&system.url, &text)?;
            study.plan(0, &launch(&study, system))
        };
        steps.iter().map(plan).collect()
    }
}

impl RecordShape {
    /// The keys `sql` and `rows` of `prepare`, which create the records as a table of a database.
    pub(crate) fn prepare_sections(&self, is_unlogged: bool) -> String {
        let (table, key) = (sql::records::TABLE, sql::records::KEY);
        let create = sql::records::create_table(self.fields, is_unlogged);
        let text = format!(r#"{{"text":{}}}"#, self.field_bytes);
        let fields = wire::step::per_field(self.fields, ",", |number| format!(r#""field{number}":{text}"#));
        let columns = format!(r#"{{"{key}":{{"sequence":"0..","hash":"{PREFIX}"}},{fields}}}"#);
        format!("sql: [\"{create}\"]\nrows: {{\"{table}\":{},\"columns\":{columns}}}\n", self.records)
    }

    /// Statements and rows that create the records as a table of a database.
    pub fn own_data(&self, jobs: u32, seed: u64, is_unlogged: bool, drop: bool) -> OwnData {
        let names = std::iter::once(sql::records::KEY.to_owned());
        let names = names.chain((0..self.fields).map(|number| format!("field{number}")));
        let numbers = Source::Sequence { from: 0, until: None, by: 1 };
        let key = Source::Hashed { prefix: PREFIX.into(), numbers: Box::new(numbers) };
        let text =
            Source::Text { length: self.field_bytes, alphabet: "0123456789abcdefghijklmnopqrstuvwxyz" };
        let columns = std::iter::once(key).chain((0..self.fields).map(|_| text.clone()));
        let rows =
            OwnRows::Drawn { count: self.records, columns: columns.map(|source| (source, 0.0)).collect() };
        OwnData {
            sql: vec![SqlFile { file: None, text: sql::records::create_table(self.fields, is_unlogged) }],
            tables: vec![OwnTable { name: sql::records::TABLE.to_owned(), columns: names.collect(), rows }],
            jobs,
            seed,
            drop,
        }
    }
}

/// Study of a load on the system of a URL, from sections of a plan.
fn study(url: &str, sections: &str) -> Result<Study, Vec<Fault>> {
    // Placeholder that is replaced by the URL of the system later. The URL may have a password, which no plan may contain.
    let scheme = url.split(':').next().unwrap_or_default();
    let placeholder = (SystemKind::by_url(url).placeholder_url)(scheme);
    let text = format!("{sections}url: \"{placeholder}\"\n");
    let (shown, title) = ("the workload", "workload".to_owned());
    let study = Study::from_bytes(text.as_bytes(), shown, title, PathBuf::from("/"), false);
    study.map_err(|errors| vec![Fault::new(Field::WORKLOAD.flag, errors.to_string(), "write other flags")])
}

/// Launch of the only variant of a study, on a running system.
fn launch(study: &Study, system: &RunningSystem) -> Launch {
    let (dir, tenbin) = (Path::new("/"), Path::new(""));
    let launch = study.launch(0, &Environment { ports: &[], dir, tenbin, host: Ipv4Addr::LOCALHOST });
    let RunningSystem { url, socket, tls } = system.clone();
    Launch { url, socket, tls, ..launch }
}

/// Workload in a command line, alone or in addition to others. `None` if it names none of these.
pub(crate) fn requested_workload(draft: &Draft) -> Option<&'static Ycsb> {
    draft.played.iter().find_map(|played| match played {
        ScriptSource::Workload(name) => find(name),
        ScriptSource::File(_) | ScriptSource::Text { .. } => None,
    })
}

/// Checks a command line with a workload.
pub(crate) fn check(draft: &Draft, workload: &Ycsb) -> Result<Plan, Vec<Fault>> {
    let mut faults = Vec::new();
    let kind = SystemKind::by_url(&draft.url);
    faults.extend((kind.url_fault)(&draft.url));
    if draft.played.len() > 1 {
        let what = format!("{} is a mix of its own", workload.name);
        faults.push(Fault::new(Field::WORKLOAD.flag, what, "remove the other workloads and scripts"));
    }
    let shape = RecordShape { records: records(draft, &mut faults), ..RecordShape::default() };
    unused_flags(draft, workload, &mut faults);
    let sections = workload.sections(&draft.url, shape, RecordLayout::Columns);
    let sections = sections.map_err(|(what, help)| faults.push(Fault::new(Field::WORKLOAD.flag, what, help)));
    let pipeline_max = pipeline_max(&draft.url);
    let mut errors = Vec::new();
    draft.load.check(Destination { unit: kind.unit, pipeline_max, ..Destination::default() }, &mut errors);
    faults.extend(errors.iter().map(|error| error.to_fault(Spelling::Flags)));
    let (Ok(sections), true) = (sections, faults.is_empty()) else { return Err(faults) };
    let mut study = study(&draft.url, &format!("{sections}load: {{ users: 1, for: 1s }}\n"))?;
    study.loads[0].spec = draft.load.clone();
    study.script.set_sql(&draft.sql);
    let (url, socket, tls) = (draft.url.clone(), draft.unix_socket.clone(), draft.tls.clone());
    let plan = study.plan(0, &launch(&study, &RunningSystem { url, socket, tls }))?;
    let place = plan.database().map_or_else(
        || format!("{}://{}", draft.url.split("://").next().unwrap_or_default(), plan.front.authority()),
        |database| database.shown.clone(),
    );
    Ok(Plan { title: format!("{} on {place}", workload.name), ..plan })
}

/// Number of records that a command line requests.
fn records(draft: &Draft, faults: &mut Vec<Fault>) -> u64 {
    let of_table = draft.sql.table_size.as_ref();
    let keys = draft.command_mix.keys.as_deref().map(units::count);
    let records = match (of_table.map(|size| size.get().copied()), keys) {
        (Some(size), _) => size,
        (None, Some(keys)) => keys.ok(),
        (None, None) => Some(RECORDS_DEFAULT),
    };
    let flag = if of_table.is_some() { Field::TABLE_SIZE.flag } else { "--keys" };
    match records {
        Some(records @ 1..=RECORDS_MAX) => records,
        _ => {
            let what = format!("it is no number of records from 1 to {RECORDS_MAX}");
            faults.push(Fault::new(flag, what, format!("write {flag} {RECORDS_DEFAULT}")));
            RECORDS_DEFAULT
        }
    }
}

/// Reports flags that have no meaning for a workload.
fn unused_flags(draft: &Draft, workload: &Ycsb, faults: &mut Vec<Fault>) {
    let applicable = SystemKind::by_url(&draft.url).records.flags;
    let of_request = [
        ("-X", draft.method.is_some()),
        ("-H", !draft.headers.is_empty()),
        ("-b", draft.body.is_some()),
        ("--body-file", draft.body_file.is_some()),
        ("--resolve", !draft.resolve.is_empty()),
    ];
    let given = of_request.into_iter().chain(draft.expects.given()).chain(draft.command_mix.given());
    let given = given.chain(draft.sql.given()).filter(|(_, is_given)| *is_given);
    for (flag, _) in given.filter(|(flag, _)| !applicable.contains(flag)) {
        let what = format!("it does not apply to {}", workload.name);
        faults.push(Fault::new(flag, what, "remove it"));
    }
    if draft.url.split_once("://").is_some_and(|(_, rest)| rest.contains('?')) {
        let url = url::Url::parse(&draft.url).ok();
        let own = url.as_ref().and_then(|url| wire::find_scheme(url.scheme())?.0.own_steps());
        if url.as_ref().zip(own).is_some_and(|(url, own)| query_step::has_step(url, own)) {
            let what = format!("the query of the URL is a step, and {} has its own", workload.name);
            faults.push(Fault::new("URL", what, "remove one of the two"));
        }
    }
}

/// Max requests in flight on one connection to the system of a URL.
fn pipeline_max(url: &str) -> Option<u32> {
    Some(protocol_of_url(url)?.steps().map_or(1, |steps| steps.pipeline_max))
}
