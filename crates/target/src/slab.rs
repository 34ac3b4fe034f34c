//! Storage of connections by slot number, with a generation that distinguishes reused slots.

/// Identifies a connection. Becomes invalid when the connection is removed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Token {
    pub(crate) slot: u32,
    pub(crate) generation: u32,
}

impl Token {
    pub(crate) fn to_u64(self) -> u64 {
        u64::from(self.generation) << 32 | u64::from(self.slot)
    }

    pub(crate) fn from_u64(number: u64) -> Self {
        Self { slot: number as u32, generation: (number >> 32) as u32 }
    }
}

/// Values by token.
pub(crate) struct Slab<T> {
    entries: Vec<Entry<T>>,
    free: Vec<u32>,
}

struct Entry<T> {
    generation: u32,
    value: Option<T>,
}

impl<T> Slab<T> {
    pub(crate) fn new() -> Self {
        Self { entries: Vec::new(), free: Vec::new() }
    }

    pub(crate) fn insert(&mut self, value: T) -> Token {
        if let Some(slot) = self.free.pop() {
            let entry = &mut self.entries[slot as usize];
            entry.value = Some(value);
            return Token { slot, generation: entry.generation };
        }
        self.entries.push(Entry { generation: 0, value: Some(value) });
        Token { slot: (self.entries.len() - 1) as u32, generation: 0 }
    }

    pub(crate) fn get(&mut self, token: Token) -> Option<&mut T> {
        let entry = self.entries.get_mut(token.slot as usize)?;
        if entry.generation == token.generation { entry.value.as_mut() } else { None }
    }

    /// Returns the tokens of all values that satisfy `chosen`.
    pub(crate) fn tokens_where(&self, chosen: impl Fn(&T) -> bool) -> Vec<Token> {
        let tokens = self.entries.iter().enumerate().filter_map(|(slot, entry)| {
            let token = Token { slot: slot as u32, generation: entry.generation };
            entry.value.as_ref().filter(|value| chosen(value)).map(|_| token)
        });
        tokens.collect()
    }

    pub(crate) fn remove(&mut self, token: Token) -> Option<T> {
        self.get(token)?;
        let entry = &mut self.entries[token.slot as usize];
        entry.generation = entry.generation.wrapping_add(1);
        self.free.push(token.slot);
        entry.value.take()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stale_token_finds_nothing() {
        let mut slab = Slab::new();
        let old = slab.insert('a');
        assert_eq!(slab.remove(old), Some('a'));
        let new = slab.insert('b');
        assert_eq!(new.slot, old.slot);
        assert_eq!(slab.get(old), None);
        assert_eq!(slab.remove(old), None);
        assert_eq!(slab.tokens_where(|value| *value == 'b'), [new]);
        assert!(slab.tokens_where(|value| *value == 'a').is_empty());
        assert_eq!(slab.get(Token::from_u64(new.to_u64())), Some(&mut 'b'));
    }
}
