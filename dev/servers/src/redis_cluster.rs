//! Redis Cluster for tests: masters with an equal number of replicas each.

use std::process::Command;
use std::thread;
use std::time::Duration;

use crate::missing::Missing;
use crate::program;
use crate::redis::Redis;

/// Time after which an unresponsive node counts as failed, in milliseconds.
const NODE_TIMEOUT_MS: &str = "1000";
/// Max number of checks whether the cluster is up, and the interval between them.
const POLLS_MAX: u32 = 300;
const POLL_INTERVAL: Duration = Duration::from_millis(100);

/// Cluster created by `redis-cli --cluster create`. Dropping it stops all servers and removes their folders.
#[derive(Debug)]
pub struct RedisCluster {
    /// Nodes, masters first.
    pub nodes: Vec<Redis>,
}

impl RedisCluster {
    /// Starts a cluster, and waits until all nodes report that it is up.
    ///
    /// # Errors
    ///
    /// If Redis is not installed, or the cluster does not come up.
    pub fn start(masters: usize, replicas: usize) -> Result<Self, Missing> {
        let options = ["--cluster-enabled", "yes", "--cluster-node-timeout", NODE_TIMEOUT_MS];
        let count = masters * (1 + replicas);
        let nodes = (0..count).map(|_| Redis::start(&options)).collect::<Result<Vec<_>, _>>()?;
        let mut create = Command::new(program::find("redis-cli", "redis-tools")?);
        create.args(["--cluster", "create"]);
        create.args(nodes.iter().map(|node| format!("127.0.0.1:{}", node.port())));
        create.args(["--cluster-replicas", &replicas.to_string(), "--cluster-yes"]);
        program::output(&create)?;
        let cluster = Self { nodes };
        for _ in 0..POLLS_MAX {
            if cluster.nodes.iter().all(|node| is_up(node, count, replicas * masters)) {
                return Ok(cluster);
            }
            thread::sleep(POLL_INTERVAL);
        }
        Err(Missing::failed("redis-cli --cluster create", "the nodes did not agree on the cluster in 30 s"))
    }

    /// Returns the number of keys on each node, including replicas. `None` for a node that does not respond.
    pub fn keys(&self) -> Vec<Option<u64>> {
        let size = |node: &Redis| node.cli(&["DBSIZE"]).ok()?.trim().parse().ok();
        self.nodes.iter().map(size).collect()
    }
}

/// Returns true if a node reports the cluster as up, with all nodes and replicas.
fn is_up(node: &Redis, count: usize, replicas: usize) -> bool {
    let says = |words: &[&str], text: &str| node.cli(words).is_ok_and(|said| said.contains(text));
    let known = node.cli(&["CLUSTER", "NODES"]).map_or(0, |nodes| nodes.matches(" slave ").count());
    says(&["CLUSTER", "INFO"], "cluster_state:ok")
        && says(&["CLUSTER", "INFO"], &format!("cluster_known_nodes:{count}\r"))
        && known + usize::from(says(&["INFO", "replication"], "role:slave")) == replicas
        && (says(&["INFO", "replication"], "role:master")
            || says(&["INFO", "replication"], "master_link_status:up"))
}
