//! SQL transactions: runs scripts and built-in workloads as conversations with a server.
//!
//! A step is one run of a script. It is counted and timed as a whole, and its statements are counted separately as parts: see
//! [`parts`]. [`Sql`] creates a [`SqlConversation`] per connection. The conversation asks a [`script::Player`] for the next action,
//! and sends it through a [`wire::sql::Session`].

pub mod classes;
mod conversation;
mod databases;
mod effect;
mod explanation;
mod keys;
mod parts;
mod program;
mod read_step;
mod recorder;
pub mod records;
pub mod script;
mod session_state;
mod settings;
mod split;
mod statements;
mod step;
pub mod workload;

pub use classes::Retry;
pub use conversation::SqlConversation;
pub use databases::{Engine, LexicalRules, lock_timeout_setting, read_only_setting};
pub use effect::{may_write, text_may_write};
pub use explanation::{
    DrawnVariable, ExplainedMode, ExplainedStatement, ScriptExplanation, ScriptPart, TransactionPlace,
    explain,
};
pub use keys::{EXPECT_KEYS, SAVE_KEYS, STEP_KEYS, is_transaction};
pub use parts::{Part, parts};
pub use program::{KEPT_BYTES, Sql, on_server, sessions};
pub use read_step::{SCRIPT_BYTES_MAX, read_step};
pub use recorder::recorded;
pub use session_state::{SessionState, StateUse, session_state};
pub use settings::{Mode, RowCount, Settings, TransactionStep};
pub use split::split;
pub use statements::{BadStatements, FileStatement, created_table, statements};
pub use step::{ScriptSource, SqlStep, expected_rows_of, script_of};
