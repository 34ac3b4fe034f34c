//! Redis and compatible stores.

mod discovery;
mod hot_keys;
mod slow_log;
mod watch;

use std::slice;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use engine::{AskError, Peer, RequestClient};
use loading::{Answer, Error};
use wire::redis::{Part, Redis, RedisConversation};
use wire::{Conversation as _, Script as _};

use super::Store;
use crate::consent::PublicLoads;
use crate::database_watch::{OpenSession, QuerySession};
use crate::prepare::{self, Refusal};

/// Time limit for connecting, for the log-in, and for each answer.
const TIMEOUT: Duration = Duration::from_secs(3);

pub(super) const STORE: Store = Store {
    protocol: "redis",
    watch: |is_instrumented| Box::new(watch::RedisWatch::new(is_instrumented)),
    open,
    discover: discovery::discover,
};

/// Prepares sessions with the log-in of the load.
fn open(endpoint: &plan::Endpoint, secrets: &plan::Secrets) -> Result<Box<OpenSession>, Refusal> {
    let found = discovery::discover(endpoint, secrets)?;
    let endpoint = found.as_ref().unwrap_or(endpoint);
    let (mut peers, _) = prepare::peers(slice::from_ref(endpoint), &PublicLoads::Refused)?;
    let peer = Peer { keep_alive: true, ..peers.swap_remove(0) };
    let access = endpoint.peer().access.filled(secrets);
    Ok(Box::new(move |is_given_up| {
        let commands = Redis::with_saved_replies(&watch::QUESTIONS, &access).map_err(Error::Options)?;
        let interview = RequestClient::open(peer.clone(), commands.open(0), TIMEOUT);
        let interview = interview.map_err(|error| Error::Connect { reason: error.to_string() })?;
        Ok(Box::new(Session {
            interview,
            peer: peer.clone(),
            commands,
            is_given_up: Arc::clone(is_given_up),
        }))
    }))
}

/// Connection that sends the commands of [`watch::QUESTIONS`], and the way to another one for samples.
struct Session {
    interview: RequestClient<RedisConversation>,
    peer: Peer,
    commands: Redis,
    /// Ends a sample early.
    is_given_up: Arc<AtomicBool>,
}

impl QuerySession for Session {
    /// Lines of the reply as rows: `name:value` has two fields, other lines and items have one.
    fn ask(&mut self, question: &str) -> Result<Answer, Error> {
        if question == hot_keys::QUESTION {
            return hot_keys::sample(&self.peer, &self.commands, &self.is_given_up);
        }
        let doing = || "asking the server about itself".to_owned();
        let step = watch::QUESTIONS.iter().position(|(known, _)| *known == question);
        let Some(step) = step else { return Err(Error::Options(format!("unknown question {question:?}"))) };
        self.interview.ask(step as u16).map_err(|unanswered| match unanswered {
            AskError::Rejected(said) => Error::Refused { doing: doing(), said },
            AskError::Broken(reason) => Error::Broken { doing: doing(), reason },
        })?;
        let mut text = String::new();
        self.interview.conversation().saved(&mut |variable, value| {
            if usize::from(variable) == step {
                text = String::from_utf8_lossy(value).into_owned();
            }
        });
        let parts = if watch::QUESTIONS[step].1 == Part::Items { 1 } else { 2 };
        let fields = |line: &str| line.splitn(parts, ':').map(|field| Some(field.to_owned())).collect();
        Ok(text.lines().map(fields).collect())
    }
}
