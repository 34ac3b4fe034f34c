//! Seeds of a run's random streams, derived in pgbench's order with one thread per client.

use load::xoroshiro::Xoroshiro;

/// Streams of all clients of a run, derived from one seed. For equal seeds and numbers of clients, draws equal those of `pgbench
/// --random-seed` with `--jobs` equal to `--client`.
#[derive(Clone, Debug)]
pub struct Seeds {
    random_seed: u64,
    default_seed: Option<i64>,
    clients: Vec<Client>,
}

/// Streams of one client.
#[derive(Clone, Copy, Debug)]
struct Client {
    functions: Xoroshiro,
    choose: Xoroshiro,
    throttle: Xoroshiro,
    sample: Xoroshiro,
}

impl Seeds {
    /// Creates the streams of `clients` clients, and a seed for hashes.
    pub fn new(random_seed: u64, clients: u32) -> Self {
        Self::drawn(random_seed, clients, true)
    }

    /// Like [`Seeds::new`], for a user-defined variable `default_seed`, which saves a draw.
    pub fn without_default(random_seed: u64, clients: u32) -> Self {
        Self::drawn(random_seed, clients, false)
    }

    fn drawn(random_seed: u64, clients: u32, with_default: bool) -> Self {
        let mut base = Xoroshiro::seed(random_seed);
        let functions: Vec<_> = (0..clients).map(|_| Xoroshiro::seed(base.draw())).collect();
        let default_seed = with_default.then(|| base.draw() as i64);
        // Struct fields are evaluated in source order, which is the order of the draws.
        let clients = functions
            .into_iter()
            .map(|functions| Client {
                functions,
                choose: Xoroshiro::seed(base.draw()),
                throttle: Xoroshiro::seed(base.draw()),
                sample: Xoroshiro::seed(base.draw()),
            })
            .collect();
        Self { random_seed, default_seed, clients }
    }

    /// Seed of the run.
    pub fn random_seed(&self) -> u64 {
        self.random_seed
    }

    /// Default seed of `hash` and `permute`. `None` if the user sets it.
    pub fn default_seed(&self) -> Option<i64> {
        self.default_seed
    }

    /// Number of clients with streams.
    pub fn clients(&self) -> u32 {
        self.clients.len() as u32
    }

    /// Stream of a client's `random…` functions.
    pub fn functions(&self, client: u32) -> Xoroshiro {
        self.of(client).functions
    }

    /// Random stream that a client uses to choose its scripts: `range(0, weights − 1)`, counted off against the weights in order.
    pub fn choose(&self, client: u32) -> Xoroshiro {
        self.of(client).choose
    }

    /// Stream of a client's waits: −ln(1 − unit) times the mean.
    pub fn throttle(&self, client: u32) -> Xoroshiro {
        self.of(client).throttle
    }

    /// Stream from which a client samples its transactions.
    pub fn sample(&self, client: u32) -> Xoroshiro {
        self.of(client).sample
    }

    /// Streams of a client. A client beyond the configured number gets extra streams, which pgbench does not have.
    fn of(&self, client: u32) -> Client {
        self.clients.get(client as usize).copied().unwrap_or_else(|| {
            let mut base = Xoroshiro::seed(self.random_seed ^ (u64::from(client) << 32 | 1));
            let mut stream = || Xoroshiro::seed(base.draw());
            Client { functions: stream(), choose: stream(), throttle: stream(), sample: stream() }
        })
    }
}
