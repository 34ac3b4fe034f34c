//! Commands of a load on a cluster: each goes to the node that serves the slot of its key, and follows redirections.
//!
//! All connections share one map of slots. A redirection `MOVED` changes the map, so that later commands go to the new node. A
//! redirection `ASK` concerns one command. While a node cannot be reached, its commands go to another node, which redirects them as
//! soon as the cluster has chosen a new master.

use alloc::boxed::Box;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use core::ops::Range;
use core::str;
use core::sync::atomic::{AtomicBool, AtomicU16, AtomicU32, Ordering};

use super::Redis;
use super::pipeline::Pipelined;
use super::step::RedisStep;
use crate::ErrorClass;
use crate::blame::PeerFault;
use crate::channel::{Channel, Channels, Footprint, Redirect};
use crate::cluster_nodes::ClusterNodes;
use crate::secrets::Secrets;
use crate::shards::crc16_of_hash_tag;
use crate::step::Template;
use crate::values::Values;

/// Number of slots of a cluster.
pub(super) const SLOTS: u16 = 16_384;
/// Message of a command that was redirected too often.
const REDIRECTED: &str = "the command was redirected more often than 16 times";
/// Commands with the first key at another position than the second word, with the index of the word. 0: the command has no key.
const KEY_POSITIONS: &[(&str, usize)] = &[
    ("EVAL", 3),
    ("EVALSHA", 3),
    ("EVAL_RO", 3),
    ("EVALSHA_RO", 3),
    ("FCALL", 3),
    ("FCALL_RO", 3),
    ("BITOP", 2),
    ("OBJECT", 2),
    ("MEMORY", 2),
    ("XGROUP", 2),
    ("XINFO", 2),
    ("DEBUG", 2),
    ("LMPOP", 2),
    ("ZMPOP", 2),
    ("SINTERCARD", 2),
    ("ZINTERCARD", 2),
    ("ZUNION", 2),
    ("ZINTER", 2),
    ("ZDIFF", 2),
    ("BLMPOP", 3),
    ("BZMPOP", 3),
    ("MIGRATE", 3),
    ("PING", 0),
    ("ECHO", 0),
    ("INFO", 0),
    ("DBSIZE", 0),
    ("TIME", 0),
    ("SCRIPT", 0),
    ("FUNCTION", 0),
    ("PUBLISH", 0),
    ("CLUSTER", 0),
    ("CONFIG", 0),
    ("KEYS", 0),
    ("SCAN", 0),
    ("FLUSHALL", 0),
    ("FLUSHDB", 0),
    ("RANDOMKEY", 0),
    ("COMMAND", 0),
    ("CLIENT", 0),
    ("ACL", 0),
    ("WAIT", 0),
    ("LATENCY", 0),
    ("SLOWLOG", 0),
    ("ROLE", 0),
    ("LASTSAVE", 0),
    ("BGSAVE", 0),
    ("BGREWRITEAOF", 0),
    ("PUBSUB", 0),
];
/// Commands that concern a transaction. Its node is unknown before its first key.
const TRANSACTION: [&str; 5] = ["MULTI", "EXEC", "DISCARD", "WATCH", "UNWATCH"];

/// Map of slots to nodes, which all connections of a load share.
#[derive(Debug)]
pub(super) struct SlotMap {
    /// Node of each slot.
    nodes: Box<[AtomicU16]>,
    addresses: Box<[String]>,
    /// Whether each node served slots when the load began.
    is_master: Box<[bool]>,
    /// Whether the last attempt to connect to each node failed.
    is_unreachable: Box<[AtomicBool]>,
    /// Number of commands so far that any node can serve.
    turn: AtomicU32,
}

impl SlotMap {
    pub(super) fn new(nodes: &ClusterNodes) -> Self {
        let slots: Box<[AtomicU16]> = (0..SLOTS).map(|_| AtomicU16::new(0)).collect();
        let mut is_master: Box<[bool]> = nodes.addresses.iter().map(|_| false).collect();
        for (range, node) in &nodes.slots {
            is_master[usize::from(*node)] = true;
            for slot in range.clone() {
                slots[usize::from(slot % SLOTS)].store(*node, Ordering::Relaxed);
            }
        }
        Self {
            nodes: slots,
            addresses: nodes.addresses.clone().into(),
            is_master,
            is_unreachable: nodes.addresses.iter().map(|_| AtomicBool::new(false)).collect(),
            turn: AtomicU32::new(0),
        }
    }

    fn count(&self) -> u16 {
        self.addresses.len() as u16
    }

    /// Node that serves a slot, or another one if that cannot be reached.
    fn node_of_slot(&self, slot: u16) -> u16 {
        self.reachable_node(self.nodes[usize::from(slot % SLOTS)].load(Ordering::Relaxed))
    }

    /// Next master in turn, for a command without a key.
    fn next_master(&self) -> u16 {
        let turn = self.turn.fetch_add(1, Ordering::Relaxed);
        let masters = self.is_master.iter().filter(|is_master| **is_master).count().max(1);
        let mut masters =
            (0..).zip(&self.is_master).filter(|(_, is_master)| **is_master).skip(turn as usize % masters);
        self.reachable_node(masters.next().map_or(0, |(node, _)| node))
    }

    /// Returns the node if it is reachable, otherwise the next reachable one in turn.
    #[inline]
    fn reachable_node(&self, node: u16) -> u16 {
        let is_unreachable = |node: u16| self.is_unreachable[usize::from(node)].load(Ordering::Relaxed);
        if !is_unreachable(node) {
            return node;
        }
        let turn = self.turn.fetch_add(1, Ordering::Relaxed);
        let others =
            (0..self.count()).map(|other| ((turn + u32::from(other)) % u32::from(self.count())) as u16);
        others
            .filter(|other| self.is_master[usize::from(*other)])
            .find(|other| !is_unreachable(*other))
            .unwrap_or(node)
    }

    /// Redirect in an error reply. `None` if it is not a redirect, or leads to an unknown node.
    #[cold]
    pub(super) fn redirect(&self, error: &[u8]) -> Option<Redirect> {
        let mut words = str::from_utf8(error).ok()?.split(' ');
        let is_once = match words.next()? {
            "MOVED" => false,
            "ASK" => true,
            _ => return None,
        };
        let slot: u16 = words.next()?.parse().ok().filter(|slot| *slot < SLOTS)?;
        let address = words.next()?;
        let node = self.addresses.iter().position(|known| known == address)? as u16;
        if !is_once {
            self.nodes[usize::from(slot)].store(node, Ordering::Relaxed);
        }
        let fault = PeerFault::new(ErrorClass::Moved, 0, REDIRECTED)
            .with_peer_message(String::from_utf8_lossy(error));
        Some(Redirect { peer: node, is_once, fault })
    }
}

/// Key of a command. Its slot determines the node.
#[derive(Debug)]
enum Key {
    /// Command without a key: any node serves it.
    Any,
    Slot(u16),
    Filled(Template),
}

impl Key {
    /// Key of a step.
    ///
    /// # Errors
    ///
    /// The message for a command that cannot be sent to a cluster, and for an unknown variable.
    fn of(step: &RedisStep, variables: &[String], secrets: &Secrets) -> Result<Self, String> {
        let name = step.name();
        if TRANSACTION.contains(&name.as_str()) {
            return Err(format!(
                "{name} has no key, so its node of the cluster is unknown; use a script: EVAL"
            ));
        }
        let Some(word) = key(&step.words) else { return Ok(Self::Any) };
        let template = Template::compile(word, variables, secrets)?;
        Ok(match template.constant() {
            Some(key) => Self::Slot(slot(&mut [key].into_iter())),
            None => Self::Filled(template),
        })
    }
}

/// First key among the words of a command. `None` if it has none.
pub fn key(words: &[Vec<u8>]) -> Option<&Vec<u8>> {
    let name = String::from_utf8_lossy(words.first()?).to_uppercase();
    let place = match name.as_str() {
        "XREAD" | "XREADGROUP" => words.iter().position(|word| word.eq_ignore_ascii_case(b"streams"))? + 1,
        name => KEY_POSITIONS.iter().find(|(known, _)| *known == name).map_or(1, |(_, place)| *place),
    };
    words.get(place).filter(|_| place > 0)
}

fn slot(parts: &mut dyn Iterator<Item = &[u8]>) -> u16 {
    (crc16_of_hash_tag(parts) % u64::from(SLOTS)) as u16
}

/// The commands of a load on the nodes of a cluster. Peer `n` is node `n`.
#[derive(Debug)]
pub(super) struct Cluster<C> {
    channels: C,
    redis: Redis,
    /// Key of each step.
    keys: Box<[Key]>,
}

/// Creates the channels of a load on a cluster.
///
/// # Errors
///
/// Number and message of a step that cannot be sent to a cluster.
pub(super) fn channels(
    redis: Redis,
    depth: u32,
    steps: &[&RedisStep],
    variables: &[String],
    secrets: &Secrets,
) -> Result<Box<dyn Channels>, (usize, String)> {
    let key = |(number, step): (usize, &&RedisStep)| {
        Key::of(step, variables, secrets).map_err(|what| (number, what))
    };
    let keys = steps.iter().enumerate().map(key).collect::<Result<Box<[Key]>, _>>()?;
    Ok(match depth {
        ..=1 => Box::new(Cluster { channels: redis.clone(), redis, keys }),
        _ => Box::new(Cluster { channels: Pipelined { redis: redis.clone(), depth }, redis, keys }),
    })
}

impl<C: Channels> Cluster<C> {
    fn map(&self) -> Option<&SlotMap> {
        self.redis.commands.cluster.as_ref()
    }
}

impl<C: Channels> Channels for Cluster<C> {
    fn open(&self, _peer: u16, number: u32) -> Box<dyn Channel> {
        self.channels.open(0, number)
    }

    fn peers(&self) -> u16 {
        self.map().map_or(1, SlotMap::count)
    }

    fn has_routes(&self) -> bool {
        true
    }

    fn route(&self, step: u16, values: &Values) -> u16 {
        let Some(map) = self.map() else { return 0 };
        match self.keys.get(usize::from(step)) {
            Some(Key::Slot(slot)) => map.node_of_slot(*slot),
            Some(Key::Filled(template)) => {
                let value = |number| values.get(number).unwrap_or_default();
                map.node_of_slot(slot(&mut template.filled(&value)))
            }
            Some(Key::Any) | None => map.next_master(),
        }
    }

    fn peers_of(&self, _step: u16) -> Range<u16> {
        0..self.peers()
    }

    fn connects_lazily(&self, peer: u16) -> bool {
        self.map().is_some_and(|map| map.is_master.get(usize::from(peer)) == Some(&false))
    }

    fn note_reachable(&self, peer: u16, is_reachable: bool) {
        let node = self.map().and_then(|map| map.is_unreachable.get(usize::from(peer)));
        if let Some(is_unreachable) = node {
            is_unreachable.store(!is_reachable, Ordering::Relaxed);
        }
    }

    fn room(&self, _peer: u16) -> u32 {
        self.channels.room(0)
    }

    fn needs(&self, step: u16, variable: u16) -> bool {
        self.channels.needs(step, variable)
    }

    fn inspects_replies(&self, step: u16) -> bool {
        self.channels.inspects_replies(step)
    }

    fn footprint(&self, longest_bytes: &dyn Fn(u16) -> u64) -> Footprint {
        let node = self.channels.footprint(longest_bytes);
        Footprint { kept_bytes: node.kept_bytes.saturating_mul(self.peers().into()), ..node }
    }
}
