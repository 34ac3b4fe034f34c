//! Procedures on queues in virtual time: every test of this folder that needs no process of its own, in one program.

mod duels_find_the_truth;
mod frozen_servers_are_not_fast;
mod queues_do_what_theory_says;
mod searches_find_the_capacity;
mod slices_find_the_truth;
mod tournaments_find_the_best;
