//! What users do from step to step: which way an iteration goes, and with which values.

use load::chance::Chance;
use load::xoroshiro::Xoroshiro;
use load::{Load, Order, Place, Routes, Share, Values, Visit};
use wire::Script;

use crate::job::Job;

/// The iterations of one worker.
pub(crate) struct Iterations {
    routes: Routes,
    /// The step of every iteration, if it has no other, no pause and no values: there is nothing to decide then.
    pub(crate) only_step: Option<u16>,
    /// The first step of every iteration, if it is always the same.
    first_step: Option<u16>,
    values: Values,
    /// The sources of data of an iteration that begins at a place: by scenario, and by visit for a mix.
    needs: Vec<Vec<Vec<usize>>>,
}

/// Where one user is.
pub(crate) struct Way {
    /// In the scenario.
    pub(crate) place: Place,
    /// When the first step was intended.
    pub(crate) begun_ns: u64,
    /// What of the lateness of the step before was ours, and may be carried on to the next.
    pub(crate) carried_lag_ns: u64,
    /// Whether the user pauses before the step at `place`.
    pub(crate) is_paused: bool,
    /// The user's draws; in an open load those of the arrival.
    pub(crate) chance: Chance,
    /// What the user chooses with instead, if the load says so.
    pub(crate) chooser: Option<Xoroshiro>,
    /// Draws the pauses of this iteration. How many there are hangs on replies, which must not change later iterations.
    pub(crate) pauses: Chance,
}

impl Iterations {
    pub(crate) fn new<S: Script>(job: &Job, script: &S, share: Share) -> Self {
        let routes = Routes::new(&job.scenarios, job.seed);
        let needed = |visits: &[&Visit]| {
            let is_needed = |variable| visits.iter().any(|visit| script.needs(visit.step, variable));
            let sources = job.data.iter().enumerate();
            let needed =
                sources.filter(|(_, data)| data.fills.iter().any(|(variable, _)| is_needed(*variable)));
            needed.map(|(number, _)| number).collect::<Vec<usize>>()
        };
        let needs = job.scenarios.list.iter().map(|scenario| {
            let visits: Vec<&Visit> = scenario.order.visits().collect();
            match &scenario.order {
                Order::InTurn(_) => vec![needed(&visits)],
                Order::Mix(_) => visits.iter().map(|visit| needed(&[visit])).collect(),
            }
        });
        let needs: Vec<Vec<Vec<usize>>> = needs.collect();
        let first_step = match needs.as_slice() {
            [one] if one.len() == 1 => Some(routes.visit(Place::default()).step),
            _ => None,
        };
        let has_values = needs.iter().flatten().any(|sources| !sources.is_empty());
        let only_step = first_step.filter(|_| job.scenarios.is_single() && !has_values);
        Self { routes, only_step, first_step, values: Values::new(&job.data, share), needs }
    }

    /// The first step of an arrival: the same whenever it is asked.
    #[inline]
    pub(crate) fn first_step(&self, arrival: u64) -> u16 {
        self.first_step.unwrap_or_else(|| {
            let place = self.routes.begin(&mut self.routes.chance(arrival));
            self.routes.visit(place).step
        })
    }

    /// The draws of a user, or of an arrival.
    pub(crate) fn chance(&self, number: u64) -> Chance {
        self.routes.chance(number)
    }

    /// Begins an iteration: draws its way and its values. Returns its first step.
    pub(crate) fn begin(&mut self, way: &mut Way, intended_ns: u64, mut set: impl FnMut(u16, &[u8])) -> u16 {
        way.place = self.choose(&mut way.chance, &mut way.chooser);
        (way.begun_ns, way.carried_lag_ns) = (intended_ns, 0);
        let Place { scenario, visit } = way.place;
        for source in &self.needs[usize::from(scenario)][usize::from(visit)] {
            self.values.draw(*source, &mut way.chance, &mut set);
        }
        way.pauses = way.chance.branch();
        self.routes.visit(way.place).step
    }

    fn choose(&self, chance: &mut Chance, chooser: &mut Option<Xoroshiro>) -> Place {
        match chooser {
            Some(chooser) => self.routes.begin_whole(chooser),
            None => self.routes.begin(chance),
        }
    }

    /// The first step of a user's next iteration: the same whenever it is asked.
    pub(crate) fn next_step(&self, way: &Way) -> u16 {
        self.first_step.unwrap_or_else(|| {
            let place = self.choose(&mut way.chance.clone(), &mut way.chooser.clone());
            self.routes.visit(place).step
        })
    }

    /// The way of a user, counted over all workers.
    pub(crate) fn way(&self, job: &Job, user: u64) -> Way {
        let chooser = matches!(job.load, Load::Closed(_)).then(|| job.choosers.get(user as usize).copied());
        Way { chooser: chooser.flatten(), ..Way::new(self.routes.chance(user)) }
    }

    /// The step at a place.
    pub(crate) fn visit(&self, place: Place) -> &Visit {
        self.routes.visit(place)
    }

    /// The place after this one; `None` at the end of the iteration.
    pub(crate) fn after(&self, place: Place) -> Option<Place> {
        self.routes.after(place)
    }
}

impl Way {
    fn new(chance: Chance) -> Self {
        let (place, pauses) = (Place::default(), chance.clone());
        Self { place, begun_ns: 0, carried_lag_ns: 0, is_paused: false, chance, chooser: None, pauses }
    }
}
