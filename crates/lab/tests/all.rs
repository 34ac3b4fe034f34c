//! Tests of starting, observing, and stopping systems, in one program. Contains every test of this folder that needs no separate process.

mod disks;
mod dying;
mod events;
mod flood;
mod hosts;
mod limits;
mod not_starting;
mod probes_of_a_system;
mod probes_of_jvms;
mod probes_of_locks;
mod probes_of_processes;
mod probes_of_running_systems;
mod probes_of_sockets;
mod probes_of_threads;
mod starting;
mod stopping;
mod support;
