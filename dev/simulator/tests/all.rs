//! Tests of procedures on simulated queues that need no separate process, all in one program.

mod answers_on_the_grid;
mod duels_find_the_truth;
mod frozen_servers_are_not_fast;
mod looks_keep_their_rate;
mod queues_do_what_theory_says;
mod round_robins_keep_their_rate;
mod searches_find_the_capacity;
mod slices_find_the_truth;
mod tournaments_find_the_best;
