//! Integration tests of reports that need no separate process, in one program.

mod bottlenecks_are_suspected;
mod checks_for_builds;
mod costs_of_events_decide;
mod events_have_costs;
mod formats_agree;
mod formats_are_listed_once;
mod hlog_is_read_by_hdrhistogram;
mod hostile_text_stays_text;
mod json_is_a_contract;
mod jtl_has_the_columns_of_jmeter;
mod pages;
mod pages_are_inert;
mod pages_look_as_agreed;
mod pages_stay_small;
mod reports_look_as_agreed;
mod rows_and_shards_are_reported;
mod runs;
mod shared_reports_tell_nothing;
mod stages_that_count;
mod studies;
mod studies_end;
mod studies_look_as_agreed;
mod two_side_by_side;
