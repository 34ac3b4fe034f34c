//! Executes one script once with one client.

use std::sync::Arc;

use sql::script::{Allow, Language, Player, PlayerAction, ScriptSet, Seeds};

/// Result of an execution.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Execution {
    /// Values passed to `debug`, without their position.
    pub(crate) values: Vec<String>,
    /// Statements as sent in simple mode, and other actions by name.
    pub(crate) acts: Vec<String>,
    /// Error that ended it early. `None` if it completed.
    pub(crate) broken: Option<String>,
}

/// A client with a deck of one valid script, and with these variables.
pub(crate) fn player(text: &str, language: Language, seed: u64, variables: &[(&str, &str)]) -> Player {
    let mut all_scripts = ScriptSet::new();
    let slots: Vec<_> = variables
        .iter()
        .map(|(name, value)| (all_scripts.variable(name).expect("a legal name"), *value))
        .collect();
    if let Err(faults) = all_scripts.add("s", text.as_bytes(), language, Allow::Nothing) {
        panic!("{text}: {}", faults[0]);
    }
    let mut player = Player::new(Arc::new(all_scripts), &Seeds::new(seed, 1), 0);
    slots.into_iter().for_each(|(slot, value)| player.set(slot, value.as_bytes()));
    player
}

/// Executes the player's script once.
pub(crate) fn play(player: &mut Player) -> Execution {
    let mut played = Execution::default();
    player.begin(0);
    loop {
        let act = player.next();
        let notes = player.notes().into_iter();
        played
            .values
            .extend(notes.map(|note| note.split_once(": ").expect("a place and a value").1.to_owned()));
        match act {
            Ok(PlayerAction::End) => return played,
            Ok(PlayerAction::Statement(number)) => {
                let mut text = Vec::new();
                player.fill_text(number, &mut text);
                played.acts.push(String::from_utf8(text).expect("scripts are UTF-8"));
            }
            Ok(other) => played.acts.push(format!("{other:?}")),
            Err(broken) => {
                played.broken = Some(broken.to_string());
                return played;
            }
        }
    }
}
