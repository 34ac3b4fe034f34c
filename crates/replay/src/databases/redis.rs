//! Output of MONITOR, which Redis and servers of its protocol write, and its replay.

pub(crate) mod commands;
pub(crate) mod monitor;

use wire::step::Unit;

use crate::traffic::Traffic;
use commands::CommandPlay;

/// Commands of Redis and compatible servers.
pub(crate) static TRAFFIC: Traffic = Traffic {
    entries: "commands of redis",
    entries_of_server: "commands of redis",
    noun: "command",
    unit: Unit::Request,
    has_sessions: true,
    stand_in: None,
    fits_scheme: |scheme| wire::find_scheme(scheme).is_some_and(|(protocol, _)| (TRAFFIC.fits)(protocol)),
    fits: |protocol| protocol.name == wire::redis::PROTOCOL.name,
    help_for_flags: "name a server of it with --to redis://HOST:PORT",
    other_kind: [
        "the log has commands of redis, and the system is a SQL database",
        "name a server of that protocol",
    ],
    other_server: [
        "the log has commands of redis, and the system is another",
        "name a server of that protocol",
    ],
    may_write,
    play: |replaying| {
        let (trace, outcomes) = (replaying.trace.clone(), replaying.outcomes.clone());
        Ok(Box::new(CommandPlay::new(trace, outcomes, replaying.fingerprints, replaying.access)?))
    },
};

/// Commands that change nothing, in lower case. They include the brackets of transactions.
const READS: [&str; 93] = [
    "get",
    "mget",
    "exists",
    "ttl",
    "pttl",
    "expiretime",
    "pexpiretime",
    "type",
    "strlen",
    "getrange",
    "substr",
    "lcs",
    "hget",
    "hmget",
    "hgetall",
    "hexists",
    "hkeys",
    "hvals",
    "hlen",
    "hscan",
    "hstrlen",
    "hrandfield",
    "lrange",
    "llen",
    "lindex",
    "lpos",
    "smembers",
    "sismember",
    "smismember",
    "scard",
    "srandmember",
    "sscan",
    "sinter",
    "sunion",
    "sdiff",
    "sintercard",
    "zrange",
    "zrangebyscore",
    "zrangebylex",
    "zrevrange",
    "zrevrangebyscore",
    "zrevrangebylex",
    "zrank",
    "zrevrank",
    "zscore",
    "zmscore",
    "zcard",
    "zcount",
    "zlexcount",
    "zscan",
    "zrandmember",
    "zinter",
    "zunion",
    "zdiff",
    "zintercard",
    "xrange",
    "xrevrange",
    "xlen",
    "xread",
    "xpending",
    "xinfo",
    "getbit",
    "bitcount",
    "bitpos",
    "bitfield_ro",
    "geopos",
    "geodist",
    "geohash",
    "geosearch",
    "georadius_ro",
    "georadiusbymember_ro",
    "scan",
    "keys",
    "dbsize",
    "randomkey",
    "ping",
    "echo",
    "time",
    "info",
    "object",
    "command",
    "lastsave",
    "eval_ro",
    "evalsha_ro",
    "fcall_ro",
    "sort_ro",
    "multi",
    "exec",
    "discard",
    "watch",
    "unwatch",
    "wait",
    "role",
];

/// Whether a command may write. Accepts the form that MONITOR prints, and its fingerprint.
fn may_write(text: &str) -> bool {
    let name = text.split(' ').next().unwrap_or_default().trim_matches('"');
    !READS.iter().any(|read| read.eq_ignore_ascii_case(name))
}
