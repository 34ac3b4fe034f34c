//! Tests of the built-in target that need no separate process, all in one program.

mod client;
mod endpoints_tell_the_truth;
mod holds_and_queues_follow_the_model;
mod hostile_input_is_survived;
mod inserts_are_unique_and_counted;
mod knobs_do_what_they_say;
mod many_connections_and_stop;
mod scripted_faults;
mod thread_pools_grow_or_not;
mod trouble_comes_when_asked_for;
