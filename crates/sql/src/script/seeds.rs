//! Where the random numbers of a run begin: pgbench's order, with one thread for each client.

use load::xoroshiro::Xoroshiro;

/// The streams of all clients of a run, from one seed. The same seed and number of clients give the same draws as
/// `pgbench --random-seed` with `--jobs` equal to `--client`.
#[derive(Clone, Debug)]
pub struct Seeds {
    random_seed: u64,
    default_seed: Option<i64>,
    clients: Vec<Client>,
}

/// The streams of one client.
#[derive(Clone, Copy, Debug)]
struct Client {
    functions: Xoroshiro,
    choose: Xoroshiro,
    throttle: Xoroshiro,
    sample: Xoroshiro,
}

impl Seeds {
    /// The streams of `clients` clients, and a seed for hashes.
    pub fn new(random_seed: u64, clients: u32) -> Self {
        Self::drawn(random_seed, clients, true)
    }

    /// As [`Seeds::new`] where the variable `default_seed` is given by the user, which saves a draw.
    pub fn without_default(random_seed: u64, clients: u32) -> Self {
        Self::drawn(random_seed, clients, false)
    }

    fn drawn(random_seed: u64, clients: u32, with_default: bool) -> Self {
        let mut base = Xoroshiro::seed(random_seed);
        let functions: Vec<_> = (0..clients).map(|_| Xoroshiro::seed(base.draw())).collect();
        let default_seed = with_default.then(|| base.draw() as i64);
        // Fields are drawn in the order in which they are written.
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

    /// What everything was drawn from.
    pub fn random_seed(&self) -> u64 {
        self.random_seed
    }

    /// The seed of `hash` and `permute` where a script names none; `None` if the user gives it.
    pub fn default_seed(&self) -> Option<i64> {
        self.default_seed
    }

    /// How many clients it has streams for.
    pub fn clients(&self) -> u32 {
        self.clients.len() as u32
    }

    /// What a client's `random…` functions draw from.
    pub fn functions(&self, client: u32) -> Xoroshiro {
        self.of(client).functions
    }

    /// What a client draws its scripts from: `range(0, weights − 1)`, counted off against the weights in their order.
    pub fn choose(&self, client: u32) -> Xoroshiro {
        self.of(client).choose
    }

    /// What a client draws its waits from: −ln(1 − unit) times the mean.
    pub fn throttle(&self, client: u32) -> Xoroshiro {
        self.of(client).throttle
    }

    /// What a client draws from to keep a sample of its transactions.
    pub fn sample(&self, client: u32) -> Xoroshiro {
        self.of(client).sample
    }

    /// A client beyond those that were counted gets streams of its own, which pgbench does not know.
    fn of(&self, client: u32) -> Client {
        self.clients.get(client as usize).copied().unwrap_or_else(|| {
            let mut base = Xoroshiro::seed(self.random_seed ^ (u64::from(client) << 32 | 1));
            let mut stream = || Xoroshiro::seed(base.draw());
            Client { functions: stream(), choose: stream(), throttle: stream(), sample: stream() }
        })
    }
}
