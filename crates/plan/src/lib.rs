//! Reads a command line or a plan file into a checked plan, or into a complete list of errors.
//!
//! A [`Plan`] cannot be built in any other way. The crate does not depend on the engine or the store.
//!
//! A command line fills a [`Draft`], and [`Draft::check`] turns it into a [`Plan`]. [`Study::read`] turns a plan file into a
//! [`Study`]. For each run, [`Study::ports`] names the ports that a variant needs, and [`Study::launch`] fills them into its
//! commands. [`Study::plan`] then combines the launch and a load into a [`Plan`]. Both ways share the rules of loads, so that a
//! command line and a plan file accept the same values.

mod body_file;
mod check;
mod check_load;
mod command_mix;
mod csv_text;
mod database;
mod draft;
mod endpoint;
mod error;
mod explain;
mod fault;
mod file;
mod plan;
mod query_step;
mod recorded;
mod recording;
mod replay;
mod request;
mod requests;
mod running;
mod script_error;
mod scripts;
mod short_hash;
mod spec;
mod study;
mod system_kind;
mod url_correction;
mod url_load;
mod visible;
mod ycsb;

pub use body_file::BodyFile;
pub use check_load::CONNECTIONS_DEFAULT;
pub use command_mix::{CommandMixSpec, KEY_DISTRIBUTIONS};
pub use database::{Balance, Database, Transactions, opens_as_database, url_of_connection_string};
pub use draft::{Draft, ScriptSource, TlsSpec};
pub use endpoint::{ClientCertificate, Endpoint, EndpointLoad, Peer, Select, Trust};
pub use error::{PlanError, Problem, StepProblem};
pub use fault::{Fault, split_help};
pub use file::near::nearest as nearest_name;
pub use file::{FileError, FileErrors, FilePosition, log_moment, reference, schema, without_credentials};
pub use plan::{Action, ErrandSql, Errands, OwnedAction, Pin, Plan, PlannedStep, Stacks, ToolAction};
pub use replay::{Replay, schedule};
pub use request::{escape_braces, url_fault};
pub use requests::{ExternalLoad, Requests, url_with_step};
pub use running::{RunningAs, RunningSpec};
pub use scripts::{explained_script, known_workload};
pub use short_hash::short_hash;
pub use spec::{ExpectSpec, Field, LoadSpec, Spanned, SqlSpec, Variable, arrival_processes};
pub use sql::{DrawnVariable, Engine, ScriptExplanation, ScriptPart, TransactionPlace};
pub use study::{
    Amount, At, Change, Changeable, Compare, ComparisonMethod, Environment, EventAction, EventMoment,
    EventReload, EventSign, EventSignal, Experiment, FigureSource, FigureSummary, Find, FurtherUrls,
    Interleave, Knob, Launch, LaunchCommand, LaunchEndpoint, LaunchEvent, LaunchFigure, LaunchProcess,
    Limits, NOTE_ON_EVENTS, NoSlices, OwnData, OwnRows, OwnTable, Place, PlannedFigure, Proxy, Ready,
    ReadyWhen, SearchOverrides, Slicing, SqlFile, StopHow, StoredBaseline, Study, StudyEvent, StudyLoad,
    StudyPin, Sweep, System, Tables, ToolCommands, Variant, Written,
};
pub use system_kind::{
    authorization, begins_as_request_url, default_request_port, first_plan_misfit, has_known_scheme,
    has_tables_of_records, shown_url,
};
pub use units;
pub use url_load::{UrlLoad, owns_steps};
pub use wire::Secrets;
pub use wire::masking::mask_secrets;
pub use wire::multipart;
pub use ycsb::{RecordLayout, RecordLoading, RecordShape, RunningSystem, find as find_ycsb};
