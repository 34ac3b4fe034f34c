//! Keys and flags of a load: name, meaning, and kind of each value.

use load::ThinkTime;
use load::open::{Process, Stage};

use crate::plan::{Pin, Stacks};
use crate::recording::AskedRecording;

crate::spec::spec! {
    /// Load as given. Values are parsed, but not yet checked against each other.
    pub struct LoadSpec with LOAD_KEYS {
        NAME "name" "": name: String = TEXT, "steady",
            "Name in reports; required in a list.";
        SCENARIO "scenario" "": scenario: String = TEXT, "browse",
            "One of `scenarios`; default: all, by their shares.";
        TOOL "tool" "": tool: String = TEXT, "\"wrk -t1 -c{users} -d{for} {url}/\"",
            "Command of another load generator that makes the load; `{users}`, `{for}`, `{seconds}`, `{requests}`, and `{url}` are values of the load and its system.";
        REPLAY "replay" "": replay: String = REPLAY, "postgresql.csv",
            "Log of a server whose statements or requests are replayed, in place of a scenario; or a mapping with `log` and what of it is replayed.";
        USERS "users" "-c": users: u64 = COUNT, "100",
            "Concurrent users; each waits for the reply before the next request.";
        THINK "think" "--think": think: ThinkTime = THINK, "50ms..150ms",
            "With `users`: pause between iterations.";
        PACING "pacing" "--pacing": pacing_ns: u64 = DURATION, "1s",
            "With `users`: minimum time from the start of an iteration to the start of the next.";
        RAMP_UP "ramp-up" "--ramp-up": ramp_up_ns: u64 = DURATION, "10s",
            "With `users`: time over which they start.";
        THROUGHPUT "throughput" "--throughput": throughput_per_s: f64 = RATE, "500/s",
            "With `users`: maximum rate of all users together.";
        RATE "rate" "-R": rate_per_s: f64 = RATE, "500/s",
            "Iterations started per second, without waiting for replies.";
        CONNECTIONS "connections" "-c": connections: u64 = CONNECTIONS, "50",
            "A number, or a mapping with `count` and `lifetime`. With `rate`, `stages`, or `recorded`: number of connections. Without it, more are opened as needed; default 50.";
        ARRIVALS "arrivals" "--arrivals": arrivals: &'static Process = ARRIVALS, "poisson",
            "With `rate` or `stages`: spacing of arrivals; default even.";
        RAMP_FROM "from" "--ramp-from": ramp_from_per_s: f64 = RATE, "10/s",
            "With `rate` or `stages`: rate at the start, from which it ramps up.";
        SHED_AFTER "shed-after" "--shed-after": shed_after_ns: u64 = DURATION, "1s",
            "With `rate`, `stages`, or `recorded`: requests delayed longer than this are not sent, and counted as such.";
        STAGES "stages" "--stages": stages: Vec<Stage> = STAGES, "[ { for: 10s, to: 100/s } ]",
            "Rates that change over time, instead of `rate` and `for`.";
        RECORDED "recorded" "--recorded": recorded: AskedRecording = RECORDING, "arrivals.csv",
            "CSV file with the times of arrivals in seconds, in the first column or the column `at`, instead of `rate`. With `users`, each plays one `session` of it.";
        WARM_UP "warm-up" "--warm-up": warm_up_ns: u64 = DURATION, "10s",
            "Warm-up time, not measured.";
        MEASURED "for" "-d": measured_ns: u64 = DURATION, "60s",
            "Measured time; default 10s.";
        EXTEND "extend" "--extend": extend: u64 = COUNT, "2",
            "If the load is not steady at its end, extends it by the same time, up to this many times; default 0, max 10.";
        REQUESTS "requests" "-n": requests: u64 = COUNT, "1000",
            "Ends after this many measured requests, or after `for`, whichever is first.";
        TIMEOUT "timeout" "--timeout": timeout_ns: u64 = DURATION, "10s",
            "Timeout of a request; default 10s.";
        CONNECT_TIMEOUT "connect-timeout" "--connect-timeout": connect_timeout_ns: u64 = DURATION, "1s",
            "Timeout of connecting; default: as `timeout`.";
        KEEP_ALIVE "keep-alive" "--no-keepalive": keep_alive: bool = TRUTH, "false",
            "Whether to reuse connections; default true.";
        RETRY_STALE "retry-stale" "--retry-stale": retry_stale: bool = TRUTH, "true",
            "HTTP: whether to send an idempotent request once more on a new connection if the server closed the kept one without having received it; default false.";
        LOG_REQUESTS "log-requests" "--log-requests": log_requests: u64 = COUNT, "10",
            "Number of single requests to store per step and second; default 0.";
        PROFILE "profile" "--profile": profile: Option<Stacks> = STACKS, "true",
            "Whether to sample with perf where the system spends CPU time; default false. `dwarf` reads stacks without frame pointers.";
        THREADS "threads" "--threads": threads: u64 = COUNT, "1",
            "Threads of the generator; default: half of the cores, at least one, if the system is on this machine; else one per core.";
        POOL "pool" "--pool": pool: u64 = COUNT, "10",
            "Transactions with `users`: connections that they share; default: one per user.";
        PIPELINE "pipeline" "--pipeline": pipeline: u64 = COUNT, "16",
            "Requests under way on each connection, in protocols that take several, each with its own times; default 1.";
        ROOM_CHECK "room-check" "--no-room-check": room_check: bool = TRUTH, "false",
            "Whether to check the connection limit of the server first; default true.";
        LATENCY_LIMIT "latency-limit" "--latency-limit": latency_limit_ns: u64 = DURATION, "100ms",
            "Transactions: counts slower ones as late; with `rate`, does not send those that are late already.";
    }
    on command lines only {
        CONNECTION_LIFETIME "lifetime" "--connection-lifetime": connection_lifetime_ns: u64 = DURATION;
        SEED "seed" "--seed": seed: u64 = SEED;
        PIN "pin" "--pin": pin: Pin = PIN;
    }
}
