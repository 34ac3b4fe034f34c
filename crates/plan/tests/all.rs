//! Tests of this folder that need no separate process, in one program.

mod amounts;
mod broken_plans;
mod comparisons;
mod endpoints;
mod experiments;
mod good_plans;
mod hostile_plans;
mod json_schema;
mod other_tools;
mod owned_steps;
mod parameters;
mod plans_of_the_project;
mod protocols;
mod quick_loads;
mod raw_tcp;
mod replays;
mod schema;
mod sessions;
mod together;
mod two_fronts;
mod ycsb;
