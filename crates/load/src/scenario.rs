//! Scenarios: the steps of one user, and the choice of a scenario for each iteration.

use alloc::string::String;
use alloc::vec;
use alloc::vec::Vec;

use crate::chance::Chance;
use crate::closed::ThinkTime;
use crate::condition::{Condition, Guard};
use crate::xoroshiro::Xoroshiro;

/// Stream constant of the draws of iterations, which separates them from other draws of one seed.
const STREAM: u64 = 0x6974_6572_6174_696f;

/// Stream constant of the draws of steps before the first iteration.
const ONCE_STREAM: u64 = 0x656e_7472_616e_6365;

/// All scenarios of a load; at least one.
#[derive(Clone, Debug, PartialEq)]
pub struct Scenarios {
    /// Scenarios in plan order.
    pub list: Vec<Scenario>,
}

/// Steps of one user in one iteration.
#[derive(Clone, Debug, PartialEq)]
pub struct Scenario {
    /// Name of the scenario.
    pub name: String,
    /// Relative frequency among the scenarios.
    pub share: f64,
    /// Steps that each user does once before its first iteration, in order.
    pub once: Vec<Visit>,
    /// Steps of an iteration.
    pub order: Order,
}

/// Choice of the steps in an iteration; at least one.
#[derive(Clone, Debug, PartialEq)]
pub enum Order {
    /// All visits, in order.
    InTurn(Vec<Visit>),
    /// One visit, drawn by weight.
    Mix(Vec<(Visit, f64)>),
}

/// Step within an iteration.
#[derive(Clone, Debug, PartialEq)]
pub struct Visit {
    /// Number of the step.
    pub step: u16,
    /// Think time after the step, also after the last one.
    pub think: ThinkTime,
    /// Conditions of the visit, the outermost first. The visit is skipped if one is false. The first visit of a scenario has none.
    pub guards: Vec<Guard>,
}

impl Visit {
    /// Creates an unconditional visit.
    pub fn of(step: u16, think: ThinkTime) -> Self {
        Self { step, think, guards: Vec::new() }
    }
}

impl Scenarios {
    /// Creates a single scenario that consists of step 0.
    pub fn single() -> Self {
        let order = Order::InTurn(vec![Visit::of(0, ThinkTime::None)]);
        Self { list: vec![Scenario { name: String::new(), share: 1.0, once: Vec::new(), order }] }
    }

    /// Returns all visits of all scenarios, including those before the first iteration.
    pub fn visits(&self) -> impl Iterator<Item = &Visit> {
        self.list.iter().flat_map(|scenario| scenario.once.iter().chain(scenario.order.visits()))
    }

    /// Returns the visits that each user does once before its first iteration.
    pub fn once(&self) -> impl Iterator<Item = &Visit> {
        self.list.iter().flat_map(|scenario| &scenario.once)
    }

    /// Returns whether values must outlive a request, because users skip steps or do some before their first iteration.
    pub fn needs_kept_values(&self) -> bool {
        self.visits().any(|visit| !visit.guards.is_empty()) || self.once().next().is_some()
    }

    /// Returns the number of steps, if their numbers have no gaps.
    pub fn steps(&self) -> usize {
        self.visits().map(|visit| usize::from(visit.step) + 1).max().unwrap_or(0)
    }

    /// Returns whether every iteration is the same single request without a pause.
    pub fn is_single(&self) -> bool {
        match self.list.as_slice() {
            [Scenario { once, order: Order::InTurn(visits), .. }] => {
                once.is_empty() && matches!(visits.as_slice(), [Visit { think: ThinkTime::None, .. }])
            }
            _ => false,
        }
    }

    /// Returns whether an iteration can have more than one step, so that a reply leads to another request.
    pub fn has_later_steps(&self) -> bool {
        let has_several =
            |scenario: &Scenario| matches!(&scenario.order, Order::InTurn(visits) if visits.len() > 1);
        self.list.iter().any(|scenario| has_several(scenario) || !scenario.once.is_empty())
    }
}

impl Order {
    /// Returns all visits, without weights.
    pub fn visits(&self) -> impl Iterator<Item = &Visit> {
        let (in_turn, mix): (&[Visit], &[(Visit, f64)]) = match self {
            Self::InTurn(visits) => (visits, &[]),
            Self::Mix(visits) => (&[], visits),
        };
        in_turn.iter().chain(mix.iter().map(|(visit, _)| visit))
    }
}

/// Position of an iteration within its scenario.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ScenarioPosition {
    /// Number of the scenario.
    pub scenario: u16,
    /// Number of the visit within the scenario.
    pub visit: u16,
}

/// Routes of iterations through the scenarios, drawn from a seed. Equal seeds give equal routes.
#[derive(Clone, Debug)]
pub struct Routes {
    seed: u64,
    shares: Shares,
    /// Routes by scenario, followed by the steps that are done once.
    scenarios: Vec<Route>,
}

#[derive(Clone, Debug)]
struct Route {
    visits: Vec<Visit>,
    /// Cumulated weights of a mix. `None` if the visits are done in turn.
    weights: Option<Shares>,
}

impl Routes {
    /// Compiles the scenarios.
    pub fn new(scenarios: &Scenarios, seed: u64) -> Self {
        let route = |scenario: &Scenario| Route {
            visits: scenario.order.visits().cloned().collect(),
            weights: match &scenario.order {
                Order::InTurn(_) => None,
                Order::Mix(visits) => Some(Shares::new(visits.iter().map(|(_, weight)| *weight))),
            },
        };
        let once = Route { visits: scenarios.once().cloned().collect(), weights: None };
        Self {
            seed,
            shares: Shares::new(scenarios.list.iter().map(|scenario| scenario.share)),
            scenarios: scenarios.list.iter().map(route).chain([once]).collect(),
        }
    }

    /// Returns the position of a user's first step before its first iteration. `None` if there are no such steps.
    pub fn once_start(&self) -> Option<ScenarioPosition> {
        let number = self.scenarios.len().checked_sub(1)?;
        let has_visits = self.scenarios.get(number).is_some_and(|route| !route.visits.is_empty());
        has_visits.then_some(ScenarioPosition { scenario: number as u16, visit: 0 })
    }

    /// Returns the stream for the steps of user `number` before its first iteration.
    pub fn once_chance(&self, number: u64) -> Chance {
        Chance::stream(self.seed ^ ONCE_STREAM, number)
    }

    /// Returns the random stream of user or arrival `number`, counted over all workers. Depends only on the seed and this number.
    pub fn chance(&self, number: u64) -> Chance {
        Chance::stream(self.seed ^ STREAM, number)
    }

    /// Draws the first position of the next iteration.
    pub fn begin(&self, chance: &mut Chance) -> ScenarioPosition {
        let scenario = self.shares.draw(chance);
        let weights = self.scenarios.get(scenario).and_then(|route| route.weights.as_ref());
        let visit = weights.map_or(0, |weights| weights.draw(chance));
        ScenarioPosition { scenario: scenario as u16, visit: visit as u16 }
    }

    /// Draws the first position of the next iteration like pgbench: by integer weights, with one draw from the user's own stream
    /// per choice.
    pub fn begin_by_integer_weights(&self, chooser: &mut Xoroshiro) -> ScenarioPosition {
        let scenario = self.shares.draw_by_integer_weights(chooser);
        let weights = self.scenarios.get(scenario).and_then(|route| route.weights.as_ref());
        let visit = weights.map_or(0, |weights| weights.draw_by_integer_weights(chooser));
        ScenarioPosition { scenario: scenario as u16, visit: visit as u16 }
    }

    /// Returns the visit at a position.
    ///
    /// # Panics
    ///
    /// If the position does not come from [`Routes::begin`] or [`Routes::after`].
    pub fn visit(&self, place: ScenarioPosition) -> &Visit {
        &self.scenarios[usize::from(place.scenario)].visits[usize::from(place.visit)]
    }

    /// Returns the position after `place`. Skips visits with a guard for which `holds` is false. `None` at the end of the iteration.
    pub fn after(
        &self,
        place: ScenarioPosition,
        holds: impl Fn(&Condition) -> bool,
    ) -> Option<ScenarioPosition> {
        let route =
            self.scenarios.get(usize::from(place.scenario)).filter(|route| route.weights.is_none())?;
        let mut next = place.visit.checked_add(1)?;
        loop {
            let visit = route.visits.get(usize::from(next))?;
            let Some(denied) = visit.guards.iter().find(|guard| !holds(&guard.condition)) else {
                return Some(ScenarioPosition { visit: next, ..place });
            };
            next = next.checked_add(denied.visits.max(1))?;
        }
    }
}

/// Cumulated shares to draw from.
#[derive(Clone, Debug)]
struct Shares(Vec<f64>);

impl Shares {
    fn new(shares: impl Iterator<Item = f64>) -> Self {
        let sums = shares.scan(0.0, |sum, share| {
            *sum += if share > 0.0 { share } else { 0.0 };
            Some(*sum)
        });
        Self(sums.collect())
    }

    /// Draws an index in proportion to its share. A single choice costs no draw.
    fn draw(&self, chance: &mut Chance) -> usize {
        let (&[.., total], 2..) = (self.0.as_slice(), self.0.len()) else { return 0 };
        let point = chance.unit() * total;
        // The point may round to the total. Trailing zero shares must not be drawn because of that.
        let last = self.0.partition_point(|sum| *sum < total);
        self.0.partition_point(|sum| *sum <= point).min(last)
    }

    /// Like [`Shares::draw`], with integer shares.
    fn draw_by_integer_weights(&self, chooser: &mut Xoroshiro) -> usize {
        let (&[.., total], 2..) = (self.0.as_slice(), self.0.len()) else { return 0 };
        let point = chooser.range(0, (total as u64).saturating_sub(1));
        let last = self.0.partition_point(|sum| *sum < total);
        self.0.partition_point(|sum| *sum as u64 <= point).min(last)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::condition::{Subject, Test};

    fn visit(step: u16) -> Visit {
        Visit::of(step, ThinkTime::None)
    }

    fn scenario(share: f64, order: Order) -> Scenario {
        Scenario { name: String::new(), share, once: Vec::new(), order }
    }

    fn after(routes: &Routes, place: ScenarioPosition) -> Option<ScenarioPosition> {
        routes.after(place, |_| true)
    }

    #[test]
    fn single_scenario_has_one_step_and_costs_no_draw() {
        let single = Scenarios::single();
        assert!(single.is_single() && !single.has_later_steps());
        assert_eq!(single.steps(), 1);
        let routes = Routes::new(&single, 7);
        let (mut chance, mut untouched) = (routes.chance(3), routes.chance(3));
        let place = routes.begin(&mut chance);
        assert_eq!((routes.visit(place).step, after(&routes, place)), (0, None));
        assert_eq!(chance.unit(), untouched.unit());
    }

    #[test]
    fn steps_in_turn_run_in_order() {
        let order = Order::InTurn(vec![visit(2), visit(0), visit(1)]);
        let scenarios = Scenarios { list: vec![scenario(1.0, order)] };
        assert!(scenarios.has_later_steps() && !scenarios.is_single());
        let routes = Routes::new(&scenarios, 7);
        let mut place = Some(routes.begin(&mut routes.chance(0)));
        let mut steps = Vec::new();
        while let Some(here) = place {
            steps.push(routes.visit(here).step);
            place = after(&routes, here);
        }
        assert_eq!(steps, [2, 0, 1]);
    }

    #[test]
    fn guarded_visits_are_skipped_together() {
        let condition = |variable| Condition { subject: Subject::Variable(variable), test: Test::Present };
        let guarded = |step, guards: &[(u16, u16)]| Visit {
            guards: guards
                .iter()
                .map(|(name, visits)| Guard { condition: condition(*name), visits: *visits })
                .collect(),
            ..visit(step)
        };
        // Step 0; if a: 1, if b: 2, 3; then 4; if b: 5.
        let order = Order::InTurn(vec![
            visit(0),
            guarded(1, &[(0, 3)]),
            guarded(2, &[(1, 1)]),
            visit(3),
            visit(4),
            guarded(5, &[(1, 1)]),
        ]);
        let routes = Routes::new(&Scenarios { list: vec![scenario(1.0, order)] }, 7);
        let steps = |present: &[u16]| {
            let holds = |condition: &Condition| match condition.subject {
                Subject::Variable(variable) => present.contains(&variable),
                Subject::Status => false,
            };
            let mut place = Some(ScenarioPosition::default());
            let mut steps = Vec::new();
            while let Some(here) = place {
                steps.push(routes.visit(here).step);
                place = routes.after(here, holds);
            }
            steps
        };
        assert_eq!(steps(&[0, 1]), [0, 1, 2, 3, 4, 5]);
        assert_eq!(steps(&[0]), [0, 1, 3, 4]);
        assert_eq!(steps(&[1]), [0, 4, 5]);
        assert_eq!(steps(&[]), [0, 4]);
    }

    #[test]
    fn once_steps_come_before_all_iterations() {
        let log_in =
            |step| Scenario { once: vec![visit(step)], ..scenario(1.0, Order::InTurn(vec![visit(9)])) };
        let scenarios =
            Scenarios { list: vec![log_in(0), scenario(1.0, Order::InTurn(vec![visit(8)])), log_in(1)] };
        assert!(scenarios.needs_kept_values() && scenarios.has_later_steps() && !scenarios.is_single());
        assert_eq!(scenarios.steps(), 10);
        let routes = Routes::new(&scenarios, 7);
        let first = routes.once_start().expect("there is something to do");
        let second = after(&routes, first).expect("another one");
        assert_eq!((routes.visit(first).step, routes.visit(second).step), (0, 1));
        assert_eq!(after(&routes, second), None);
        for number in 0..100 {
            assert!(routes.begin(&mut routes.chance(number)).scenario < first.scenario);
        }
        assert_eq!(Routes::new(&Scenarios::single(), 7).once_start(), None);
    }

    #[test]
    fn draws_follow_shares_and_weights() {
        let mix = Order::Mix(vec![(visit(0), 3.0), (visit(1), 1.0), (visit(2), 0.0)]);
        let list = vec![
            scenario(80.0, mix),
            scenario(20.0, Order::InTurn(vec![visit(3)])),
            scenario(0.0, Order::InTurn(vec![visit(4)])),
        ];
        let scenarios = Scenarios { list };
        let mut seen = [0u32; 5];
        let n = 50_000u32;
        let routes = Routes::new(&scenarios, 42);
        for number in 0..u64::from(n) {
            // First draw of each arrival: neighboring arrivals must not be correlated.
            let place = routes.begin(&mut routes.chance(number));
            assert_eq!(after(&routes, place), None);
            seen[usize::from(routes.visit(place).step)] += 1;
        }
        for (step, share) in [0.6, 0.2, 0.0, 0.2, 0.0].into_iter().enumerate() {
            let (mean, deviation) = (share * f64::from(n), libm::sqrt(f64::from(n) * share * (1.0 - share)));
            let off = (f64::from(seen[step]) - mean).abs();
            assert!(off <= 4.0 * deviation, "step {step}: {seen:?}");
        }
    }

    #[test]
    fn integer_weights_match_pgbench() {
        let mix = Order::Mix(vec![(visit(0), 3.0), (visit(1), 0.0), (visit(2), 1.0)]);
        let routes = Routes::new(&Scenarios { list: vec![scenario(1.0, mix)] }, 7);
        let (mut chooser, mut same) = (Xoroshiro::seed(5), Xoroshiro::seed(5));
        let mut seen = [0u32; 3];
        for _ in 0..400 {
            let mut point = same.range(0, 3) as i64;
            let mut expected = 0;
            for (number, weight) in [3, 0, 1].into_iter().enumerate() {
                expected = number;
                point -= weight;
                if point < 0 {
                    break;
                }
            }
            let step = routes.visit(routes.begin_by_integer_weights(&mut chooser)).step;
            assert_eq!(usize::from(step), expected);
            seen[expected] += 1;
        }
        assert!(seen[0] > 200 && seen[1] == 0 && seen[2] > 50, "{seen:?}");
        // A single choice costs no draw, and zero weights do not panic.
        Routes::new(&Scenarios::single(), 7).begin_by_integer_weights(&mut chooser);
        assert_eq!(chooser, same);
        let nothing = Order::Mix(vec![(visit(0), 0.0), (visit(1), f64::NAN)]);
        let routes = Routes::new(&Scenarios { list: vec![scenario(1.0, nothing)] }, 7);
        assert_eq!(routes.visit(routes.begin_by_integer_weights(&mut chooser)).step, 0);
    }

    #[test]
    fn route_of_an_arrival_is_reproducible() {
        let mix = Order::Mix(vec![(visit(0), 1.0), (visit(1), 1.0)]);
        let scenarios = Scenarios { list: vec![scenario(1.0, mix.clone()), scenario(2.0, mix)] };
        let way = |seed| -> Vec<ScenarioPosition> {
            let routes = Routes::new(&scenarios, seed);
            (0..100).map(|number| routes.begin(&mut routes.chance(number))).collect()
        };
        assert_eq!(way(1), way(1));
        assert_ne!(way(1), way(2));
    }

    #[test]
    fn invalid_shares_do_not_panic() {
        for shares in [[0.0, 0.0], [f64::NAN, f64::NAN], [-1.0, -2.0], [f64::INFINITY, 1.0]] {
            let list = shares.map(|share| scenario(share, Order::InTurn(vec![visit(0)]))).to_vec();
            let routes = Routes::new(&Scenarios { list }, 1);
            for number in 0..100 {
                let place = routes.begin(&mut routes.chance(number));
                assert_eq!(routes.visit(place).step, 0);
            }
        }
    }
}
