//! Iterations of users: choice of the scenario, order of its steps, and values of its variables.

use load::chance::Chance;
use load::xoroshiro::Xoroshiro;
use load::{Load, Order, Routes, ScenarioPosition, Share, Subject, Values, Visit};
use wire::Channels;

use crate::clock::Clock;
use crate::job::Job;
use crate::user::User;

/// Scenarios and data sources of one worker.
pub(crate) struct Iterations {
    routes: Routes,
    /// Only step of all iterations, if they have neither pauses nor values. `None` otherwise.
    pub(crate) only_step: Option<u16>,
    /// Whether the length of some pause is drawn.
    draws_pauses: bool,
    /// Whether all drawn values are numbers, which take no measurable time.
    pub(crate) draws_numbers: bool,
    /// First step of all iterations, if it is always the same step. `None` otherwise.
    first_step: Option<u16>,
    values: Values,
    /// Data sources that an iteration draws from: by scenario, then by visit for a mix. The last entry belongs to the steps that
    /// run once.
    needs: Vec<Vec<Vec<usize>>>,
    /// First of the steps that users run once before their first iteration. `None` if there are none.
    once_start: Option<ScenarioPosition>,
}

impl Iterations {
    pub(crate) fn new(job: &Job, script: &dyn Channels, share: Share) -> Self {
        let routes = Routes::new(&job.scenarios, job.seed);
        let needed = |visits: &[&Visit]| {
            let is_asked = |visit: &Visit, variable| {
                let subject = Subject::Variable(variable);
                visit.guards.iter().any(|guard| guard.condition.subject == subject)
            };
            let is_needed = |variable| {
                visits.iter().any(|visit| script.needs(visit.step, variable) || is_asked(visit, variable))
            };
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
        let mut needs: Vec<Vec<Vec<usize>>> = needs.collect();
        // Values used by the steps that run once, such as a log-in, stay for all iterations.
        let lasting = needed(&job.scenarios.once().collect::<Vec<_>>());
        needs.iter_mut().flatten().for_each(|sources| sources.retain(|source| !lasting.contains(source)));
        let first_step = match needs.as_slice() {
            [one] if one.len() == 1 => Some(routes.visit(ScenarioPosition::default()).step),
            _ => None,
        };
        let has_values = needs.iter().flatten().any(|sources| !sources.is_empty());
        let draws_numbers =
            needs.iter().flatten().flatten().all(|source| job.data[*source].source.is_number());
        let draws_pauses = job.scenarios.visits().any(|visit| visit.think.is_drawn());
        let only_step = first_step.filter(|_| job.scenarios.is_single() && !has_values);
        needs.push(vec![lasting]);
        let once_start = routes.once_start();
        let values = Values::new(&job.data, share);
        Self { routes, only_step, draws_pauses, draws_numbers, first_step, values, needs, once_start }
    }

    /// Returns the first step that users run once before their first iteration. `None` if there are no such steps.
    pub(crate) fn once_start(&self) -> Option<ScenarioPosition> {
        self.once_start
    }

    /// Returns the first step of an arrival. Repeated calls give the same result.
    #[inline]
    pub(crate) fn first_step(&self, arrival: u64) -> u16 {
        self.first_step.unwrap_or_else(|| {
            let place = self.routes.begin(&mut self.routes.chance(arrival));
            self.routes.visit(place).step
        })
    }

    /// Returns the random generator of a user, or of an arrival.
    pub(crate) fn chance(&self, number: u64) -> Chance {
        self.routes.chance(number)
    }

    /// Begins an iteration of the user with this number: chooses its scenario and draws its values. Returns its first step.
    pub(crate) fn begin(&mut self, number: u32, user: &mut User, intended_ns: u64) -> u16 {
        self.values.end_iteration(number);
        user.place = match self.once_start.filter(|_| !user.has_run_once_steps) {
            Some(once_start) => once_start,
            None => self.choose(&mut user.chance, &mut user.chooser),
        };
        (user.begun_ns, user.lag_ns) = (intended_ns, 0);
        let ScenarioPosition { scenario, visit } = user.place;
        let values = &mut user.values;
        let mut set = |variable: u16, value: &[u8]| values.set(variable, value);
        for source in &self.needs[usize::from(scenario)][usize::from(visit)] {
            self.values.draw(*source, number, &mut user.chance, || Clock::real_time_ns() as u64, &mut set);
        }
        match self.draws_pauses {
            true => user.pauses = user.chance.branch(),
            false => user.chance.skip_branch(),
        }
        self.routes.visit(user.place).step
    }

    fn choose(&self, chance: &mut Chance, chooser: &mut Option<Box<Xoroshiro>>) -> ScenarioPosition {
        match chooser {
            Some(chooser) => self.routes.begin_by_integer_weights(chooser),
            None => self.routes.begin(chance),
        }
    }

    /// Returns the first step of a user's next iteration. Repeated calls give the same result.
    pub(crate) fn next_step(&self, user: &User) -> u16 {
        if let Some(once_start) = self.once_start.filter(|_| !user.has_run_once_steps) {
            return self.routes.visit(once_start).step;
        }
        self.first_step.unwrap_or_else(|| {
            let place = self.choose(&mut user.chance.clone(), &mut user.chooser.clone());
            self.routes.visit(place).step
        })
    }

    /// Creates the user with this number, counted over all workers.
    pub(crate) fn user(&self, job: &Job, number: u64) -> User {
        let chooser = matches!(job.load, Load::Closed(_)).then(|| job.choosers.get(number as usize).copied());
        // Draws belong to the arrival, whichever user runs it.
        let chance = match (&job.load, self.once_start) {
            (Load::Open(_), Some(_)) => self.routes.once_chance(number),
            _ => self.routes.chance(number),
        };
        let user = User::new(chance, chooser.flatten());
        User { has_run_once_steps: self.once_start.is_none(), ..user }
    }

    /// Returns the step at a position of a scenario.
    pub(crate) fn visit(&self, place: ScenarioPosition) -> &Visit {
        self.routes.visit(place)
    }

    /// Returns the position after the user's present one if every condition holds. `None` at the end of the iteration.
    pub(crate) fn place_after(&self, user: &User) -> Option<ScenarioPosition> {
        self.routes.after(user.place, |_| true)
    }

    /// Returns the position after the user's present one, with conditions evaluated. `None` at the end of the iteration.
    pub(crate) fn after(&self, user: &User) -> Option<ScenarioPosition> {
        self.routes
            .after(user.place, |condition| condition.holds(user.status, |variable| user.values.get(variable)))
    }
}
