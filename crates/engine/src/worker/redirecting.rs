//! Redirections: an exchange continues at another peer of its step, as in a cluster whose slots have moved.

use record::ErrorClass;
use wire::Redirect;

use super::Worker;
use crate::exchange::{Attempt, Exchange};

/// Max redirections of one exchange. Clients of Redis Cluster follow 5 to 16.
const REDIRECTS_MAX: u8 = 16;

impl Worker<'_> {
    /// Begins the exchange of a user again at the peer that a reply named. Its time counts from its first attempt.
    #[cold]
    pub(super) fn on_redirected(&mut self, number: u32, redirect: &Redirect, at_ns: u64) {
        // Commands that follow from replies must be sent when these arrive.
        self.late_reading = None;
        let Some(exchange) = self.users[number as usize].exchange else { return };
        let first = self.steps[usize::from(exchange.step)].peer;
        let peer = first + redirect.peer;
        let lane = self.users[number as usize].lane;
        let redirections = self.users[number as usize].redirections;
        let is_followed = redirections.count() < REDIRECTS_MAX;
        let chosen = self.dispatch.choose(&self.links, peer, lane).filter(|_| is_followed);
        let Some(target) = chosen.filter(|target| *target != exchange.link) else {
            return self.leave_redirected(number, &exchange, redirect, at_ns);
        };
        self.note_redirected(&exchange, redirect);
        self.leave_link(number, &exchange);
        let link = &mut self.links[target as usize];
        let is_up = link.is_up();
        link.step = exchange.step;
        link.carried.add(number);
        self.totals[link.number as usize].has_request = true;
        link.has_unbegun |= !is_up;
        let user = &mut self.users[number as usize];
        user.exchange = Some(Exchange {
            link: target,
            is_begun: false,
            attempt: Attempt::Second,
            sent_bytes: 0,
            first_byte_ns: 0,
            ..exchange
        });
        user.redirections = redirections.incremented(redirect.is_once);
        self.dispatch.update(&self.links, target);
        if is_up {
            self.start(number, at_ns);
        } else {
            let latest_ns = exchange.begun_ns.saturating_add(self.job.timeout_ns);
            self.set_deadline(number, at_ns.saturating_add(self.job.opening_timeout_ns()).min(latest_ns));
            self.dial(target, at_ns);
        }
        self.fill_room(self.links[exchange.link as usize].peer, at_ns);
    }

    /// Ends an exchange that was redirected too often, or to the peer that redirected it.
    fn leave_redirected(&mut self, number: u32, exchange: &Exchange, redirect: &Redirect, at_ns: u64) {
        let link = &mut self.links[exchange.link as usize];
        (link.served, link.failures) = (link.served.saturating_add(1), 0);
        self.on_failed(number, &redirect.fault, at_ns);
    }

    /// Takes an exchange off the link that redirected it. The link stays open, unless its sockets carry one exchange each.
    fn leave_link(&mut self, number: u32, exchange: &Exchange) {
        let link = &mut self.links[exchange.link as usize];
        link.carried.remove(number);
        (link.served, link.failures) = (link.served.saturating_add(1), 0);
        if !link.keeps_alive() && link.carried.is_empty() {
            self.close(exchange.link);
        }
        self.dispatch.update(&self.links, exchange.link);
    }

    /// Counts a redirection in the account of the step, and in that of the address that redirected.
    fn note_redirected(&mut self, exchange: &Exchange, redirect: &Redirect) {
        let class = if redirect.is_once { ErrorClass::AskFollowed } else { ErrorClass::MovedFollowed };
        let link = &self.links[exchange.link as usize];
        let first = self.address_accounts.get(usize::from(exchange.step));
        let account = first.and_then(|first| first.at(link.peer, link.address));
        for account in [Some(usize::from(exchange.step)), account].into_iter().flatten() {
            let errors = &mut self.accounts[account].recorder.tally(exchange.intended_ns).errors;
            errors.note(class, 0, || redirect.fault.said.clone().unwrap_or_default());
        }
    }

    /// Passes to the routes of the load whether a peer can be reached.
    #[cold]
    pub(super) fn note_reachable(&self, number: u32, is_reachable: bool) {
        if let Some(routes) = self.routes {
            routes.note_reachable(self.links[number as usize].peer, is_reachable);
        }
    }

    /// Announces a redirection of one exchange to the channel of its link.
    #[cold]
    pub(super) fn announce_redirect(&mut self, number: u32) {
        let user = &mut self.users[number as usize];
        let Some(exchange) = &user.exchange else { return };
        self.links[exchange.link as usize].channel.announce_redirect();
        user.redirections = user.redirections.announced();
    }
}
