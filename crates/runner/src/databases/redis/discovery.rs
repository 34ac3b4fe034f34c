//! Servers that a node of a cluster, or a Sentinel, reports before a load.

use engine::{AskError, Peer, RequestClient};
use plan::{Endpoint, Fault, Requests, Select};
use wire::redis::{Discovery, Part, Redis, behind_sentinel, discovery};
use wire::step::Access;
use wire::{ClusterNodes, Conversation as _, Script as _};

use super::TIMEOUT;
use crate::consent::PublicLoads;
use crate::prepare::{self, Refusal};

const NODES: &str = "CLUSTER NODES";
const REPLICATION: &str = "INFO replication";
/// Flags of nodes that accept no connections.
const UNREACHABLE_FLAGS: [&str; 4] = ["fail", "handshake", "noaddr", "fail?"];

/// Address of a server: host and port.
type Address = (String, u16);
/// Servers to connect to, and the rule that selects one of them.
type Servers = (Vec<Address>, Select);

/// Endpoint with the servers that its URLs lead to. `None` if its URLs name the servers, or if they are known already.
pub(in crate::databases) fn discover(
    endpoint: &Endpoint,
    secrets: &plan::Secrets,
) -> Result<Option<Endpoint>, Refusal> {
    let Some(Requests { protocol, peers }) = endpoint.load.downcast() else { return Ok(None) };
    if endpoint.nodes().is_some() {
        return Ok(None);
    }
    let ask = |find: &dyn Fn(&plan::Peer) -> Result<Servers, Refusal>| {
        let (addresses, select) = first_answer(peers, find)?;
        let first = endpoint.peer();
        let access = match discovery(&first.access) {
            Discovery::Sentinel(_) => behind_sentinel(&first.access),
            Discovery::Named | Discovery::Cluster => first.access.clone(),
        };
        let peer = |(host, port): Address| plan::Peer {
            host,
            port,
            addresses: Vec::new(),
            unix_socket: None,
            access: access.clone(),
            ..first.clone()
        };
        let load = Requests { protocol, peers: addresses.into_iter().map(peer).collect() };
        Ok(Some(Endpoint { load: Box::new(load), select: Some(select), ..endpoint.clone() }))
    };
    match discovery(&endpoint.peer().access) {
        Discovery::Named => Ok(None),
        Discovery::Cluster => ask(&|peer| cluster(peer, secrets)),
        Discovery::Sentinel(name) => ask(&|peer| masters(peer, name, secrets)),
    }
}

/// Answer of the first server that answers, or the error of the last one.
fn first_answer<T>(
    peers: &[plan::Peer],
    find: impl Fn(&plan::Peer) -> Result<T, Refusal>,
) -> Result<T, Refusal> {
    let (last, others) = peers.split_last().expect("an endpoint has an address");
    others.iter().find_map(|peer| find(peer).ok()).map_or_else(|| find(last), Ok)
}

/// Replies of a server to commands, each with the part that is returned as text.
fn replies(peer: &plan::Peer, access: &Access, commands: &[(&str, Part)]) -> Result<Vec<String>, Refusal> {
    let peers = vec![plan::Peer { access: access.clone(), ..peer.clone() }];
    let load = Box::new(Requests { protocol: protocol(), peers });
    let endpoint = Endpoint { name: String::new(), load, select: None, pool: None };
    let (mut peers, _) = prepare::peers(std::slice::from_ref(&endpoint), &PublicLoads::Refused)?;
    let refuse = |what: String| {
        Refusal::Plan(Fault::new(
            peer.authority(),
            what,
            "see which server the URL names: redis-cli INFO server",
        ))
    };
    let redis = Redis::with_saved_replies(commands, access).map_err(refuse)?;
    let interview_peer = Peer { keep_alive: true, ..peers.swap_remove(0) };
    let mut interview = RequestClient::open(interview_peer, redis.open(0), TIMEOUT)?;
    for (step, (command, _)) in (0..).zip(commands) {
        interview.ask(step).map_err(|unanswered| match unanswered {
            AskError::Rejected(said) => refuse(format!("the server rejected {command}: {said}")),
            AskError::Broken(reason) => refuse(format!("{command} was not answered: {reason}")),
        })?;
    }
    let mut texts = vec![String::new(); commands.len()];
    interview.conversation().saved(&mut |variable, value| {
        if let Some(text) = texts.get_mut(usize::from(variable)) {
            *text = String::from_utf8_lossy(value).into_owned();
        }
    });
    Ok(texts)
}

fn protocol() -> &'static wire::Protocol {
    wire::find_scheme("redis").expect("a protocol").0
}

/// Nodes of the cluster that a server belongs to.
fn cluster(peer: &plan::Peer, secrets: &plan::Secrets) -> Result<Servers, Refusal> {
    let texts = replies(peer, &peer.access.filled(secrets), &[(NODES, Part::Reply)])?;
    let nodes = nodes(&texts[0], &peer.host);
    if nodes.slots.is_empty() {
        let help = "create the cluster: redis-cli --cluster create HOST:PORT HOST:PORT HOST:PORT";
        return Err(Refusal::Plan(Fault::new(peer.authority(), "no node of its cluster serves slots", help)));
    }
    let addresses = nodes.addresses.iter().filter_map(|address| split(address)).collect();
    Ok((addresses, Select::Cluster(nodes)))
}

/// Reads the reply to CLUSTER NODES: a line for each node, with its address, its flags, and its slots. A node without a host has the host
/// of the server that replied.
fn nodes(text: &str, asked_host: &str) -> ClusterNodes {
    let mut nodes = ClusterNodes::default();
    for line in text.lines() {
        let words: Vec<&str> = line.split(' ').collect();
        let [_, address, flags, _, _, _, _, _, slots @ ..] = &words[..] else { continue };
        let address = address.split(['@', ',']).next().unwrap_or_default();
        if flags.split(',').any(|flag| UNREACHABLE_FLAGS.contains(&flag)) || split(address).is_none() {
            continue;
        }
        let node = nodes.addresses.len() as u16;
        let has_host = !address.starts_with(':');
        nodes.addresses.push(if has_host { address.to_owned() } else { format!("{asked_host}{address}") });
        nodes.slots.extend(slots.iter().filter_map(|slots| {
            let (first, last) = slots.split_once('-').unwrap_or((slots, slots));
            Some((first.parse().ok()?..=last.parse().ok()?, node))
        }));
    }
    nodes
}

fn split(address: &str) -> Option<Address> {
    let (host, port) = address.rsplit_once(':')?;
    Some((host.to_owned(), port.parse().ok()?))
}

/// Master with this name, and its replicas. Connections try the replicas when the master is lost.
fn masters(sentinel: &plan::Peer, name: &str, secrets: &plan::Secrets) -> Result<Servers, Refusal> {
    let query = format!("SENTINEL GET-MASTER-ADDR-BY-NAME {name}");
    let asked = replies(sentinel, &Access::default(), &[(&query, Part::Item(0)), (&query, Part::Item(1))]);
    let master = asked.and_then(|words| {
        let port = words[1].parse();
        let what = || format!("the Sentinel reported the master {}:{}", words[0], words[1]);
        let port = port
            .map_err(|_| Refusal::Plan(Fault::new(sentinel.authority(), what(), "see SENTINEL MASTERS")))?;
        Ok((words[0].clone(), port))
    });
    let master = master.map_err(|refusal| unknown_master(refusal, sentinel, name))?;
    let peer = plan::Peer { host: master.0.clone(), port: master.1, ..sentinel.clone() };
    let access = behind_sentinel(&sentinel.access).filled(secrets);
    let replication = replies(&peer, &access, &[(REPLICATION, Part::Reply)])?;
    let addresses = std::iter::once(master).chain(replicas(&replication[0])).collect();
    Ok((addresses, Select::First))
}

/// Names the master that a Sentinel does not know.
fn unknown_master(refusal: Refusal, sentinel: &plan::Peer, name: &str) -> Refusal {
    match refusal {
        Refusal::Plan(fault) if fault.to_string().contains("unknown command") => {
            let help = format!("write redis://{}, or the port of a Sentinel", sentinel.authority());
            Refusal::Plan(Fault::new(sentinel.authority(), "the server is no Sentinel", help))
        }
        Refusal::Plan(_) => {
            let what = format!("the Sentinel knows no master {name:?}");
            let help =
                format!("write one of: redis-cli -h {} -p {} SENTINEL MASTERS", sentinel.host, sentinel.port);
            Refusal::Plan(Fault::new(sentinel.authority(), what, help))
        }
        other => other,
    }
}

/// Replicas in the section `replication` of INFO: `slave0:ip=127.0.0.1,port=6380,state=online,…`.
fn replicas(text: &str) -> Vec<Address> {
    let replica = |line: &str| {
        let (key, fields) = line.trim_end().split_once(':')?;
        key.strip_prefix("slave")?.parse::<u32>().ok()?;
        let field = |name: &str| {
            fields.split(',').filter_map(|field| field.split_once('=')).find(|(known, _)| *known == name)
        };
        Some((field("ip")?.1.to_owned(), field("port")?.1.parse().ok()?))
    };
    text.lines().filter_map(replica).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_masters_replicas_and_slots_of_a_cluster() {
        let text = "a 10.0.0.1:7000@17000 myself,master - 0 0 1 connected 0-5460 5462 [93-<-b]\n\
                    b 10.0.0.2:7000@17000,host-b master - 0 1 2 connected 5461 5463-16383\n\
                    c :7001@17001 slave a 0 1 1 connected\n\
                    d 10.0.0.3:7000@17000 master,fail - 1 1 3 disconnected\n\
                    e :0@0 master,noaddr - 1 1 3 disconnected\n";
        let nodes = nodes(text, "10.0.0.9");
        assert_eq!(nodes.addresses, ["10.0.0.1:7000", "10.0.0.2:7000", "10.0.0.9:7001"]);
        assert_eq!(nodes.slots, [(0..=5460, 0), (5462..=5462, 0), (5461..=5461, 1), (5463..=16383, 1)]);
    }

    #[test]
    fn reads_replicas_of_a_master() {
        let text = "# Replication\r\nrole:master\r\nconnected_slaves:1\r\n\
                    slave0:ip=127.0.0.1,port=6380,state=online,offset=1,lag=0\r\nslave_read_only:1\r\n";
        assert_eq!(replicas(text), [("127.0.0.1".to_owned(), 6380)]);
    }
}
