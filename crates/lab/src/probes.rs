//! What a system and its machine are doing, read once a second.
