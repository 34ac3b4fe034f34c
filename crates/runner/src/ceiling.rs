//! Ceiling of the generator: its max rate against a server that answers instantly. Measured once per shape of load and layout of cores, and
//! stored.

use std::collections::BTreeSet;
use std::time::Duration;

use engine::{Message, StopLevel};
use lab::limits::Limits;
use lab::{Command, Process, Ready, Recipe, Signal, StopHow, When};
use load::Share;
use plan::{Draft, LoadSpec, Pin, Plan};
use record::{Percentile, Tally};
use store::Store;

use crate::databases;
use crate::describe::unix_ms;
use crate::recipe;
use crate::systems::Room;
use crate::tools::Tools;

/// Length of the trial load, and time limit for its end.
const LASTING_NS: u64 = 1_000_000_000;
const TIMEOUT: Duration = Duration::from_secs(2);
/// Time limit for the start and the stop of the target. Together they must fit into the time that the watchdog leaves at the end of
/// a run.
const TARGET_TIMEOUT: Duration = Duration::from_secs(1);
/// Longest body that the generator requests from the target. Longer replies count as this long.
const REPLY_BYTES_MAX: u64 = 1 << 20;
/// Approximate size of a reply's head.
const HEAD_BYTES: u64 = 128;

/// Shape of a load: everything that determines the rate that a generator can reach.
pub(crate) struct Shape<'a> {
    pub(crate) plan: &'a Plan,
    pub(crate) tools: &'a Tools<'a>,
    pub(crate) threads: u32,
    /// Cores of the generator; empty if it is not pinned.
    pub(crate) cores: &'a [usize],
    /// Cores of the system, as far as they are known.
    pub(crate) system_cores: &'a BTreeSet<usize>,
    /// Measurements of the load.
    pub(crate) tally: &'a Tally,
    /// Rate of ended requests in the measured window, per second.
    pub(crate) reached_per_s: f64,
}

/// Replies per second at the ceiling, from the store or measured now. The error states why there is no value.
pub(crate) fn find(shape: &Shape<'_>, store: &Store) -> Result<f64, String> {
    let plan = shape.plan;
    let mut without = plan
        .endpoints
        .iter()
        .rev()
        .filter_map(|endpoint| (databases::kind_at(endpoint).has_no_instant_server)(endpoint));
    if let Some(noun) = without.next() {
        return Err(format!("there is no server of {noun} that answers at once"));
    }
    if plan.peers().any(|peer| peer.tls.is_some()) {
        return Err("the server that answers at once does not speak TLS".to_owned());
    }
    let (shape_words, layout) = (shape.words(), shape.layout());
    let kept = store.ceiling(&shape_words, &layout).map_err(|error| error.to_string())?;
    // A rate that was reached is a lower bound, even if the measurement of the ceiling was disturbed.
    let per_s = kept.map_or_else(|| shape.measure(), Ok)?.max(shape.reached_per_s);
    if kept != Some(per_s) {
        store.keep_ceiling(&shape_words, &layout, per_s, unix_ms()).map_err(|error| error.to_string())?;
    }
    Ok(per_s)
}

impl Shape<'_> {
    fn words(&self) -> String {
        let kept = if self.plan.keep_alive() { "kept" } else { "new for each" };
        format!(
            "http; {} connections, {kept}; {} threads; replies of {} bytes",
            self.plan.connections(),
            self.threads,
            self.reply_bytes()
        )
    }

    fn layout(&self) -> String {
        let list = |cores: &mut dyn Iterator<Item = usize>| {
            cores.map(|core| core.to_string()).collect::<Vec<_>>().join(",")
        };
        let machine = self.tools.generator.machine();
        let ours = if self.cores.is_empty() { &machine.cores } else { self.cores };
        format!(
            "{}, {} cores; tenbin {}; generator on {} ({}); system on {}",
            machine.processor,
            machine.cores.len(),
            env!("CARGO_PKG_VERSION"),
            list(&mut ours.iter().copied()),
            if self.cores.is_empty() { "anywhere" } else { "pinned" },
            list(&mut self.system_cores.iter().copied())
        )
    }

    fn ended(&self) -> u64 {
        self.tally.response.all().count()
    }

    /// Mean length of bodies, rounded up to a power of two: precise enough, and few different shapes.
    fn reply_bytes(&self) -> u64 {
        let mean = self.tally.received_bytes / self.ended().max(1);
        mean.saturating_sub(HEAD_BYTES).next_power_of_two().min(REPLY_BYTES_MAX)
    }

    /// Measures the ceiling for this shape.
    fn measure(&self) -> Result<f64, String> {
        let trial = Trial {
            connections: self.plan.connections(),
            keep_alive: self.plan.keep_alive(),
            threads: self.threads,
            cores: self.cores,
            system_cores: self.system_cores,
            reply_bytes: self.reply_bytes(),
            length_ns: LASTING_NS,
        };
        trial.measure(self.tools)
    }
}

/// Measures the ceiling of the generator with one thread and 64 persistent connections, in requests per second. The load lasts for
/// `length`.
///
/// # Errors
///
/// The target did not start, or the load on it failed.
pub fn null_server_per_s(tools: &Tools<'_>, length: Duration) -> Result<f64, String> {
    let trial = Trial {
        connections: 64,
        keep_alive: true,
        threads: 1,
        cores: &[],
        system_cores: &BTreeSet::new(),
        reply_bytes: 0,
        length_ns: length.as_nanos() as u64,
    };
    trial.measure(tools)
}

/// Trial load on the instant target.
struct Trial<'a> {
    connections: u32,
    keep_alive: bool,
    threads: u32,
    /// Cores of the generator; empty if it is not pinned.
    cores: &'a [usize],
    /// Cores of the target; empty if it is not pinned.
    system_cores: &'a BTreeSet<usize>,
    reply_bytes: u64,
    length_ns: u64,
}

impl Trial<'_> {
    /// Starts the target in its own process, and loads it as fast as possible.
    fn measure(&self, tools: &Tools<'_>) -> Result<f64, String> {
        let lab = tools.lab;
        let room = lab.room(1).map_err(|error| error.to_string())?;
        let port = *room.ports.first().ok_or("there is no free port")?;
        let system = lab
            .start(self.recipe(tools, &room, port)?, &|| false)
            .map_err(|failure| format!("the target did not start: {}", failure.what))?;
        let reached = self.load(tools, port);
        system.stop();
        reached
    }

    fn recipe(&self, tools: &Tools<'_>, room: &Room, port: u16) -> Result<Recipe, String> {
        let dir = room.dir().join("target");
        let keeper = recipe::keeper(&tools.lab.tenbin()?);
        let program =
            keeper.first().map(|program| program.to_string_lossy().into_owned()).unwrap_or_default();
        let address = format!("127.0.0.1:{port}");
        let argv = [program.as_str(), "target", "--listen", address.as_str()].map(str::to_owned).to_vec();
        let socket = address.parse().map_err(|_| "the target has no address")?;
        Ok(Recipe {
            name: "the target that answers at once".to_owned(),
            dir: dir.clone(),
            files: Vec::new(),
            contents: None,
            copy_to: None,
            before: Vec::new(),
            after: Vec::new(),
            processes: vec![Process {
                name: "target".to_owned(),
                command: Command { argv, env: Vec::new(), dir, within: TARGET_TIMEOUT },
                ready: Ready { when: When::Tcp(socket), within: TARGET_TIMEOUT },
                stop: StopHow { signal: Signal::TERM, command: None, within: TARGET_TIMEOUT },
                is_aside: false,
                is_started_by_event: false,
            }],
            ports: vec![port],
            cores: self.system_cores.iter().copied().collect(),
            limits: Limits::default(),
            limits_to_come: Vec::new(),
            network: None,
            disk_bytes: None,
            steady_within: None,
            keeper,
        })
    }

    fn load(&self, tools: &Tools<'_>, port: u16) -> Result<f64, String> {
        let draft = Draft {
            url: format!("http://127.0.0.1:{port}/bytes?n={}", self.reply_bytes),
            load: LoadSpec {
                users: Some(u64::from(self.connections).into()),
                measured_ns: Some(self.length_ns.into()),
                threads: Some(u64::from(self.threads).into()),
                keep_alive: Some(self.keep_alive.into()),
                ..LoadSpec::default()
            },
            ..Draft::default()
        };
        let mut plan = draft.check().map_err(|_| "its load cannot be planned")?;
        if !self.cores.is_empty() {
            plan.pin = Pin::Cores(self.cores.to_vec());
        }
        let length_ns = plan.stop.at_ns;
        let Tools { generator, clock, stopper, .. } = *tools;
        let prepared = generator.prepare(&plan, stopper).map_err(|refusal| refusal.to_string())?;
        let workers = prepared.threads;
        let mut underway = prepared.ready.start(Share::WHOLE).map_err(|error| error.to_string())?;
        let (mut tally, mut ended) = (Tally::default(), 0);
        let deadline = clock.now() + TIMEOUT;
        while ended < workers {
            let left = deadline.saturating_duration_since(clock.now());
            match underway.next(left) {
                Ok(Message::Interval { interval, .. }) => tally.merge(&interval.tally),
                Ok(Message::Ended(_)) => ended += 1,
                Ok(Message::Broke(what) | Message::Unrecoverable(what)) => return Err(what),
                Ok(Message::Begins(_) | Message::Pulse { .. } | Message::Moments(_)) => {}
                Err(_) => {
                    underway.stop(StopLevel::Abort);
                    return Err("the load on the target did not end in time".to_owned());
                }
            }
        }
        let all = tally.response.all();
        let length_ns = length_ns.filter(|_| Percentile::P99.is_printable(all.count()));
        length_ns
            .map(|length_ns| tally.window.ended() as f64 * 1e9 / length_ns as f64)
            .ok_or_else(|| "the target answered hardly anything".to_owned())
    }
}

#[cfg(test)]
mod tests {
    use record::{Finish, Outcome};

    use super::*;
    use crate::stopper::Stopper;

    #[test]
    fn stored_ceiling_below_the_reached_rate_is_replaced() {
        let draft = Draft { url: "http://127.0.0.1:9/".to_owned(), ..Draft::default() };
        let plan = draft.check().unwrap();
        let mut tally = Tally::default();
        for number in 0..100 {
            let sent_ns = number * 10_000_000;
            tally.note_sent(sent_ns);
            tally.note_finished(&Finish {
                intended_ns: sent_ns,
                sent_ns,
                first_byte_ns: None,
                finished_ns: sent_ns + 10_000_000,
                outcome: Outcome::Ok,
                status: 200,
            });
        }
        let (system_cores, stopper) = (BTreeSet::new(), Stopper::default());
        let shape = Shape {
            plan: &plan,
            tools: &Tools::local(&stopper),
            threads: 1,
            cores: &[],
            system_cores: &system_cores,
            tally: &tally,
            reached_per_s: 100.0,
        };
        let folder = tempfile::tempdir().unwrap();
        let store = Store::open(&folder.path().join("runs.sqlite")).unwrap();
        for (kept, expected) in [(300.0, 300.0), (60.0, 100.0)] {
            store.keep_ceiling(&shape.words(), &shape.layout(), kept, 1).unwrap();
            assert_eq!(find(&shape, &store), Ok(expected));
            assert_eq!(store.ceiling(&shape.words(), &shape.layout()).unwrap(), Some(expected));
        }
    }
}
