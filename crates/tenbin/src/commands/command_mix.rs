//! Flags of commands on random keys, for the URL of a key-value store without a step.

use clap::Args;
use plan::{CommandMixSpec, KEY_DISTRIBUTIONS};

/// Commands, keys, and data.
#[derive(Args, Clone, Debug, Default)]
pub(crate) struct CommandMixFlags {
    /// Commands to send in equal shares, such as get or set,get,incr [default: set,get]
    #[arg(long, value_name = "LIST", help_heading = "Key-value stores", hide_short_help = true)]
    commands: Option<String>,
    /// Number of keys, from which each command takes a random one [default: 100000]
    #[arg(short = 'r', long, value_name = "N", help_heading = "Key-value stores", hide_short_help = true)]
    keys: Option<String>,
    /// Bytes of the value that a command stores [default: 3]
    #[arg(long, value_name = "SIZE", help_heading = "Key-value stores", hide_short_help = true)]
    data_size: Option<String>,
    #[arg(
        long,
        value_name = "KIND",
        help_heading = "Key-value stores",
        hide_short_help = true,
        help = distributions()
    )]
    key_distribution: Option<String>,
    /// Commands under way on each connection, each with its own times [default: 1]
    #[arg(short = 'P', long, value_name = "N", help_heading = "Key-value stores", hide_short_help = true)]
    pub(crate) pipeline: Option<String>,
}

impl CommandMixFlags {
    /// First of these flags that was given. `None` if there is none.
    pub(crate) fn given(&self) -> Option<&'static str> {
        let mix = self.spec().given().into_iter().find_map(|(flag, is_given)| is_given.then_some(flag));
        mix.or_else(|| self.pipeline.as_ref().map(|_| "--pipeline"))
    }

    pub(crate) fn spec(&self) -> CommandMixSpec {
        CommandMixSpec {
            commands: self.commands.clone(),
            keys: self.keys.clone(),
            data_size: self.data_size.clone(),
            key_distribution: self.key_distribution.clone(),
        }
    }
}

fn distributions() -> String {
    format!("Distribution of keys: {} [default: {}]", KEY_DISTRIBUTIONS.join(", "), KEY_DISTRIBUTIONS[0])
}
