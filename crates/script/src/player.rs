//! One client going through scripts: what is to be sent next, and with which values.

use std::ops::Range;
use std::sync::Arc;

use load::xoroshiro::Xoroshiro;

use crate::deck::Deck;
use crate::fault::Broken;
use crate::seeds::Seeds;
use crate::statement::{Gather, Placeholders};

/// What somebody else must do before the player can go on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Act {
    /// Send this statement, and wait for its end unless a pipeline is open.
    Statement(u16),
    /// Wait.
    Pause {
        /// How long.
        ns: u64,
    },
    /// From here on statements are sent without waiting. Those of [`Player::pipelined`] are to be prepared first.
    StartPipeline,
    /// Send a synchronisation point without waiting.
    SyncPipeline,
    /// Send a synchronisation point, and wait for everything.
    EndPipeline,
    /// The script is done.
    End,
}

/// One client: its variables, its random numbers, and its place in a script.
#[derive(Clone, Debug)]
pub struct Player {
    deck: Arc<Deck>,
    client: u32,
    random: Xoroshiro,
    random_at_begin: Xoroshiro,
    script: u16,
}

impl Player {
    /// Client number `client`, from 0, whose variables `client_id`, `default_seed`, `random_seed` and `scale` (1) are set; other
    /// values for them are given by [`Player::set`].
    pub fn new(deck: Arc<Deck>, seeds: &Seeds, client: u32) -> Self {
        let random = seeds.functions(client);
        Self { deck, client, random, random_at_begin: random, script: 0 }
    }

    /// Gives a variable a text, which gets its type when an expression first needs it.
    pub fn set(&mut self, _slot: u16, _value: &[u8]) {}

    /// To the first command of a script. The state of the random numbers is kept for [`Player::again`].
    pub fn begin(&mut self, script: u16) {
        self.script = script;
        self.random_at_begin = self.random;
    }

    /// The same script from its start, with the random numbers it had. Variables keep their values.
    pub fn again(&mut self) {
        self.random = self.random_at_begin;
    }

    /// Runs meta commands up to the next thing that somebody else must do.
    ///
    /// # Errors
    /// A meta command failed: the client cannot go on with this script.
    #[allow(clippy::should_implement_trait)]
    pub fn next(&mut self) -> Result<Act, Broken> {
        Ok(Act::End)
    }

    /// After [`Act::StartPipeline`]: the statements up to the pipeline's end, as far as the text tells.
    pub fn pipelined(&self) -> Range<u16> {
        0..0
    }

    /// Appends a statement with the texts of its values in it: what goes out in simple mode.
    pub fn fill_text(&mut self, _statement: u16, _out: &mut Vec<u8>) {}

    /// Appends a statement with placeholders for its values, and the texts of its `{name}`s.
    pub fn fill_extended(&mut self, _statement: u16, _dialect: Placeholders, _out: &mut Vec<u8>) {}

    /// The values of a statement as texts, one for each placeholder; `None` is NULL, also for a variable without value.
    pub fn values(&mut self, _statement: u16) -> Values<'_> {
        Values { player: self }
    }

    /// The value of a variable as text; `None` if it has none or is NULL.
    pub fn value(&mut self, _slot: u16) -> Option<&[u8]> {
        None
    }

    /// Which rows of a statement become variables, if any.
    pub fn wants_rows(&self, statement: u16) -> Option<Gather> {
        self.deck.statements().get(statement as usize)?.gather()
    }

    /// The reply to a statement begins whose rows are wanted.
    pub fn start_rows(&mut self, _statement: u16) {}

    /// The name of a column of the rows to come.
    pub fn take_column(&mut self, _number: u16, _name: &[u8]) {}

    /// A value of the row under way; `None` is NULL.
    pub fn take_value(&mut self, _column: u16, _value: Option<&[u8]>) {}

    /// A row is complete.
    pub fn end_row(&mut self) {}

    /// A result is complete: one for each statement of a text.
    pub fn end_result(&mut self) {}

    /// The reply is complete; its rows become variables.
    ///
    /// # Errors
    /// `\gset` and not exactly one row, or a column whose name no variable can have.
    pub fn end_rows(&mut self) -> Result<(), Broken> {
        Ok(())
    }

    /// What `debug()` said since the last call; what nobody fetches is forgotten after a while.
    pub fn notes(&mut self) -> Vec<String> {
        Vec::new()
    }

    /// The client's number.
    pub fn client(&self) -> u32 {
        self.client
    }
}

/// The values of a statement: see [`Player::values`].
#[derive(Debug)]
pub struct Values<'a> {
    player: &'a Player,
}

impl<'a> Iterator for Values<'a> {
    type Item = Option<&'a [u8]>;

    fn next(&mut self) -> Option<Self::Item> {
        let _ = self.player.script;
        None
    }
}
