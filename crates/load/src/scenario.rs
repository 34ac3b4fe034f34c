//! What one user does, step by step, and which of several scenarios an iteration follows.

use alloc::string::String;
use alloc::vec;
use alloc::vec::Vec;

use crate::chance::Chance;
use crate::closed::ThinkTime;
use crate::condition::{Condition, Guard};
use crate::xoroshiro::Xoroshiro;

/// Tells the draws of iterations from other draws of the same seed.
const STREAM: u64 = 0x6974_6572_6174_696f;

/// Tells the draws before the first iteration from those of iterations.
const ENTRANCE: u64 = 0x656e_7472_616e_6365;

/// Everything that users do; at least one scenario.
#[derive(Clone, Debug, PartialEq)]
pub struct Scenarios {
    /// In the order in which they were written.
    pub list: Vec<Scenario>,
}

/// What one user does in one iteration.
#[derive(Clone, Debug, PartialEq)]
pub struct Scenario {
    /// Its name.
    pub name: String,
    /// How often it is followed, in proportion to the shares of the others.
    pub share: f64,
    /// What each user does before its first iteration, one after the other.
    pub once: Vec<Visit>,
    /// Its steps.
    pub order: Order,
}

/// Which steps an iteration has; at least one.
#[derive(Clone, Debug, PartialEq)]
pub enum Order {
    /// All of them, one after the other.
    InTurn(Vec<Visit>),
    /// One of them, drawn by weight.
    Mix(Vec<(Visit, f64)>),
}

/// One step within an iteration.
#[derive(Clone, Debug, PartialEq)]
pub struct Visit {
    /// The number of the step.
    pub step: u16,
    /// The pause after it, also after the last one.
    pub think: ThinkTime,
    /// When it is left out, the outermost first. The first visit of all has none.
    pub guards: Vec<Guard>,
}

impl Visit {
    /// A visit of every iteration.
    pub fn of(step: u16, think: ThinkTime) -> Self {
        Self { step, think, guards: Vec::new() }
    }
}

impl Scenarios {
    /// One scenario: step 0 and nothing else.
    pub fn single() -> Self {
        let order = Order::InTurn(vec![Visit::of(0, ThinkTime::None)]);
        Self { list: vec![Scenario { name: String::new(), share: 1.0, once: Vec::new(), order }] }
    }

    /// Every visit of every scenario, those before the first iteration included.
    pub fn visits(&self) -> impl Iterator<Item = &Visit> {
        self.list.iter().flat_map(|scenario| scenario.once.iter().chain(scenario.order.visits()))
    }

    /// What each user does before its first iteration.
    pub fn once(&self) -> impl Iterator<Item = &Visit> {
        self.list.iter().flat_map(|scenario| &scenario.once)
    }

    /// Whether users leave steps out, or do some before their first iteration: their values outlive requests then.
    pub fn has_memory(&self) -> bool {
        self.visits().any(|visit| !visit.guards.is_empty()) || self.once().next().is_some()
    }

    /// How many steps there are, if their numbers have no gaps.
    pub fn steps(&self) -> usize {
        self.visits().map(|visit| usize::from(visit.step) + 1).max().unwrap_or(0)
    }

    /// Whether an iteration is one request and no pause, always the same.
    pub fn is_single(&self) -> bool {
        match self.list.as_slice() {
            [Scenario { once, order: Order::InTurn(visits), .. }] => {
                once.is_empty() && matches!(visits.as_slice(), [Visit { think: ThinkTime::None, .. }])
            }
            _ => false,
        }
    }

    /// Whether any iteration has more than one step, so that a reply leads to the next request.
    pub fn has_sequels(&self) -> bool {
        let has_several =
            |scenario: &Scenario| matches!(&scenario.order, Order::InTurn(visits) if visits.len() > 1);
        self.list.iter().any(|scenario| has_several(scenario) || !scenario.once.is_empty())
    }
}

impl Order {
    /// Its visits, weights apart.
    pub fn visits(&self) -> impl Iterator<Item = &Visit> {
        let (in_turn, mix): (&[Visit], &[(Visit, f64)]) = match self {
            Self::InTurn(visits) => (visits, &[]),
            Self::Mix(visits) => (&[], visits),
        };
        in_turn.iter().chain(mix.iter().map(|(visit, _)| visit))
    }
}

/// Where in its scenario an iteration is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ScenarioPosition {
    /// The scenario's number.
    pub scenario: u16,
    /// The visit's number within it.
    pub visit: u16,
}

/// Which way iterations go: drawn from a seed, so that the same seed gives the same ways.
#[derive(Clone, Debug)]
pub struct Routes {
    seed: u64,
    shares: Shares,
    /// By scenario, and at the end what is done once.
    scenarios: Vec<Route>,
}

#[derive(Clone, Debug)]
struct Route {
    visits: Vec<Visit>,
    /// Of a mix.
    weights: Option<Shares>,
}

impl Routes {
    /// The ways through these scenarios.
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

    /// Where a user begins before its first iteration; `None`: there is nothing to do before it.
    pub fn entrance(&self) -> Option<ScenarioPosition> {
        let number = self.scenarios.len().checked_sub(1)?;
        let has_visits = self.scenarios.get(number).is_some_and(|route| !route.visits.is_empty());
        has_visits.then_some(ScenarioPosition { scenario: number as u16, visit: 0 })
    }

    /// Draws of a user for what it does before its first iteration.
    pub fn entrance_chance(&self, number: u64) -> Chance {
        Chance::stream(self.seed ^ ENTRANCE, number)
    }

    /// The draws of user or arrival `number`, counted over all workers: they depend on nothing else.
    pub fn chance(&self, number: u64) -> Chance {
        Chance::stream(self.seed ^ STREAM, number)
    }

    /// Where the next iteration of these draws begins.
    pub fn begin(&self, chance: &mut Chance) -> ScenarioPosition {
        let scenario = self.shares.draw(chance);
        let weights = self.scenarios.get(scenario).and_then(|route| route.weights.as_ref());
        let visit = weights.map_or(0, |weights| weights.draw(chance));
        ScenarioPosition { scenario: scenario as u16, visit: visit as u16 }
    }

    /// Where the next iteration of a user begins who chooses as pgbench does: by weights as whole numbers, with one draw from
    /// the user's own stream for each choice.
    pub fn begin_whole(&self, chooser: &mut Xoroshiro) -> ScenarioPosition {
        let scenario = self.shares.draw_whole(chooser);
        let weights = self.scenarios.get(scenario).and_then(|route| route.weights.as_ref());
        let visit = weights.map_or(0, |weights| weights.draw_whole(chooser));
        ScenarioPosition { scenario: scenario as u16, visit: visit as u16 }
    }

    /// The visit at a place.
    ///
    /// # Panics
    ///
    /// When the place is not one that [`Routes::begin`] or [`Routes::after`] gave.
    pub fn visit(&self, place: ScenarioPosition) -> &Visit {
        &self.scenarios[usize::from(place.scenario)].visits[usize::from(place.visit)]
    }

    /// The place after this one; `None` at the end of the iteration. Places are left out whose guards `holds` denies.
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

/// Running sums of shares, to draw from.
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

    /// A number in proportion to its share. One choice takes no draw.
    fn draw(&self, chance: &mut Chance) -> usize {
        let (&[.., total], 2..) = (self.0.as_slice(), self.0.len()) else { return 0 };
        let point = chance.unit() * total;
        // Rounding can make the point the total itself; shares of nothing at the end must not be drawn for that.
        let last = self.0.partition_point(|sum| *sum < total);
        self.0.partition_point(|sum| *sum <= point).min(last)
    }

    /// As [`Shares::draw`], with shares as whole numbers.
    fn draw_whole(&self, chooser: &mut Xoroshiro) -> usize {
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
    fn a_single_scenario_has_one_step_and_no_draws() {
        let single = Scenarios::single();
        assert!(single.is_single() && !single.has_sequels());
        assert_eq!(single.steps(), 1);
        let routes = Routes::new(&single, 7);
        let (mut chance, mut untouched) = (routes.chance(3), routes.chance(3));
        let place = routes.begin(&mut chance);
        assert_eq!((routes.visit(place).step, after(&routes, place)), (0, None));
        assert_eq!(chance.unit(), untouched.unit());
    }

    #[test]
    fn steps_in_turn_follow_one_another() {
        let order = Order::InTurn(vec![visit(2), visit(0), visit(1)]);
        let scenarios = Scenarios { list: vec![scenario(1.0, order)] };
        assert!(scenarios.has_sequels() && !scenarios.is_single());
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
    fn guarded_visits_are_left_out_together() {
        let condition = |variable| Condition { subject: Subject::Variable(variable), test: Test::Present };
        let guarded = |step, guards: &[(u16, u16)]| Visit {
            guards: guards
                .iter()
                .map(|(name, visits)| Guard { condition: condition(*name), visits: *visits })
                .collect(),
            ..visit(step)
        };
        // 0, then if a: ( 1, if b: 2, 3 ), then 4, then if b: 5.
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
    fn what_is_done_once_comes_before_every_iteration_and_in_none() {
        let log_in =
            |step| Scenario { once: vec![visit(step)], ..scenario(1.0, Order::InTurn(vec![visit(9)])) };
        let scenarios =
            Scenarios { list: vec![log_in(0), scenario(1.0, Order::InTurn(vec![visit(8)])), log_in(1)] };
        assert!(scenarios.has_memory() && scenarios.has_sequels() && !scenarios.is_single());
        assert_eq!(scenarios.steps(), 10);
        let routes = Routes::new(&scenarios, 7);
        let first = routes.entrance().expect("there is something to do");
        let second = after(&routes, first).expect("another one");
        assert_eq!((routes.visit(first).step, routes.visit(second).step), (0, 1));
        assert_eq!(after(&routes, second), None);
        for number in 0..100 {
            assert!(routes.begin(&mut routes.chance(number)).scenario < first.scenario);
        }
        assert_eq!(Routes::new(&Scenarios::single(), 7).entrance(), None);
    }

    #[test]
    fn shares_and_weights_are_kept_and_nothing_is_drawn_for_none() {
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
            // The first draw of each arrival: neighbouring arrivals must not hang together.
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
    fn whole_weights_are_walked_through_as_pgbench_walks() {
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
            let step = routes.visit(routes.begin_whole(&mut chooser)).step;
            assert_eq!(usize::from(step), expected);
            seen[expected] += 1;
        }
        assert!(seen[0] > 200 && seen[1] == 0 && seen[2] > 50, "{seen:?}");
        // A single choice takes no draw, and weights of nothing are survived.
        Routes::new(&Scenarios::single(), 7).begin_whole(&mut chooser);
        assert_eq!(chooser, same);
        let nothing = Order::Mix(vec![(visit(0), 0.0), (visit(1), f64::NAN)]);
        let routes = Routes::new(&Scenarios { list: vec![scenario(1.0, nothing)] }, 7);
        assert_eq!(routes.visit(routes.begin_whole(&mut chooser)).step, 0);
    }

    #[test]
    fn an_arrival_goes_the_same_way_whenever_it_is_asked() {
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
    fn shares_that_make_no_sense_are_survived() {
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
