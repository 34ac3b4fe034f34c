//! Derives findings from evidence: validity and steadiness of a run, its figures, results of conditions, likely
//! bottleneck, and the state of a study's procedure.
//!
//! The crate maps evidence to findings: it starts nothing, reads no clock, and sends nothing. It does not know how runs
//! are made or results are printed. A figure that both studies and reports need is computed only here.

mod accounts;
pub mod alike;
pub mod baseline;
pub mod bottleneck;
mod by_fingerprint;
mod causes;
mod compared_by;
pub mod comparison;
mod condition;
mod connection_spread;
mod core_time;
mod counting;
pub mod cpu_profile;
mod databases;
mod dependencies;
pub mod diagnosis;
mod distribution;
pub mod durability;
mod durations;
mod eligibility;
pub mod endings;
mod endpoint_pool;
pub mod event_causes;
pub mod event_cost;
pub mod explanation;
pub mod figure_bounds;
mod finalists;
mod gates;
mod group_io;
mod held_lock;
mod inside;
pub mod instrumented;
pub mod intervention;
mod jvm_time;
mod kind;
pub mod ladder;
pub mod levels;
mod look_bounds;
mod measured;
mod measured_run;
mod metric;
mod no_verdict;
mod observed;
mod others;
pub mod outage;
mod own_figure;
mod pace;
mod pairing;
mod physical_cost;
mod planned;
pub mod rates;
mod resources;
pub mod results;
mod run_order;
mod run_result;
mod rung;
mod scope;
mod search;
mod setting;
mod shard_balance;
mod signals;
pub mod slo;
pub mod steadiness;
pub mod thread_check;
mod tournament;
mod unseen;
pub mod validity;
mod variant_names;
mod versus;
mod waits;
mod window;
pub mod words;
mod written;

pub use accounts::{Accounts, Findings, Stopped};
pub use bottleneck::{Bottleneck, Certainty, SATURATED_MIN_SHARE};
pub use by_fingerprint::{
    Aspect, ComparedStatement, FAMILY_ERROR_RATE, FingerprintComparison, REPLAY_SUBJECT, REPLAYED_CHECKSUM,
    REPLAYED_ROWS, RunsByBlock, compare_fingerprints, is_replay, plan_output,
};
pub use causes::{Doubt, Resource};
pub use compared_by::{ComparedBy, can_be_named};
pub use condition::{BaselineLimit, Condition, ConditionError, Sign, Unknown};
pub use connection_spread::{RelativeRange, RelativeRanges};
pub use core_time::CoreTime;
pub use counting::{Counted, counted};
pub use dependencies::{Called, Dependencies};
pub use diagnosis::Diagnosis;
pub use distribution::{Bin, log_bins};
pub use durations::Durations;
pub use eligibility::{Eligibility, eligibility, eligibility_by, is_invalid, is_judged};
pub use endings::{CheckOutcome, CommandEnding, CommandGroup};
pub use endpoint_pool::EndpointPool;
pub use event_causes::EventCauses;
pub use finalists::{ERRORS_MAX, finalists};
pub use gates::{Gates, judge_gates, judge_gates_of_slices};
pub use group_io::LimitedIo;
pub use inside::{
    BLOCKING_SEPARATOR, DATABASE, DatabaseStatistics, INSIDE, KEY_COMMANDS, Maintenance, ON_CPU,
    PLAN_SEPARATOR, SAMPLED_COMMANDS, SlowCalls, StatementTime, StatementWait, WAIT_SEPARATOR, class_of,
    without_statement,
};
pub use kind::MetricKind;
pub use ladder::Ladder;
pub use measured::Measured;
pub use measured_run::MeasuredRun;
pub use metric::{COMPARED, METRICS, Metric};
pub use no_verdict::is_prevented_by_invalid_runs;
pub use observed::{Observed, observed};
pub use others::{mean_of_others, others_cores};
pub use own_figure::{
    FIGURE_EACH, FIGURE_SUBJECT, FIGURE_VALUE, FIGURES_OF_PLAN, OwnFigure, is_name as is_name_of_figure,
    is_unit as is_unit_of_figure,
};
pub use pace::Pace;
pub use pairing::Pairing;
pub use physical_cost::{
    CostKind, CostOfLoad, CostUnit, PHYSICAL_COSTS, PhysicalCost, is_size_cost, median_of,
};
pub use planned::{Offered, Planned};
pub use resources::{Core, Resources, Usage};
pub use run_result::{combine_slices, run_result, start_of_slice};
pub use rung::Rung;
pub use scope::Scope;
pub use search::{LevelResult, judge_level, level, search, search_by, search_rules, stage_name};
pub use setting::{Setting, settings};
pub use shard_balance::{SHARDS_OF_PLAN, ShardBalance};
pub use signals::Signals;
pub use tournament::{tournament, tournament_by};
pub use unseen::is_unseen;
pub use validity::{Environment, PROXY_BUSY_MIN_SHARE, Process};
pub use variant_names::{NamedVariant, shown_names};
pub use versus::{duel, duel_by, family, said};
pub use waits::{Waits, Workers};
pub use window::Window;
pub use written::{
    WRITTEN_AFTER, WRITTEN_BEFORE, WRITTEN_DOUBLED, WRITTEN_SUBJECT, WRITTEN_UNCHECKED, Written, WrittenCheck,
};
