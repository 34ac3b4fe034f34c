//! Capability flags of client and server. MariaDB's own flags are above the 32 bits of MySQL.

/// A set of capability flags.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Capabilities(pub(super) u64);

impl Capabilities {
    /// Set by MySQL, and by MariaDB before 10.2. Without it, there are capabilities above bit 31.
    pub(super) const MYSQL: Self = Self(1);
    pub(super) const LONG_FLAG: Self = Self(1 << 2);
    pub(super) const CONNECT_WITH_DB: Self = Self(1 << 3);
    /// The server may request local files (`LOAD DATA LOCAL INFILE`).
    pub(super) const LOCAL_FILES: Self = Self(1 << 7);
    pub(super) const PROTOCOL_41: Self = Self(1 << 9);
    pub(super) const TLS: Self = Self(1 << 11);
    pub(super) const TRANSACTIONS: Self = Self(1 << 13);
    /// Challenges of the log-in have 20 bytes.
    pub(super) const SECURE_CONNECTION: Self = Self(1 << 15);
    pub(super) const MULTI_STATEMENTS: Self = Self(1 << 16);
    pub(super) const MULTI_RESULTS: Self = Self(1 << 17);
    pub(super) const PREPARED_MULTI_RESULTS: Self = Self(1 << 18);
    /// Authentication plugins have names.
    pub(super) const PLUGIN_AUTH: Self = Self(1 << 19);
    pub(super) const CONNECT_ATTRIBUTES: Self = Self(1 << 20);
    /// The response to the challenge may be longer than 255 bytes.
    pub(super) const LONG_PLUGIN_ANSWER: Self = Self(1 << 21);
    /// Rows end with an OK packet, and there is no EOF packet between definitions and rows.
    pub(super) const DEPRECATE_EOF: Self = Self(1 << 24);
    /// MariaDB: definitions of columns are sent again only if they have changed.
    pub(super) const CACHE_METADATA: Self = Self(1 << 36);

    pub(super) const fn has(self, other: Self) -> bool {
        self.0 & other.0 == other.0
    }

    pub(super) const fn with(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    pub(super) const fn with_if(self, condition: bool, other: Self) -> Self {
        if condition { self.with(other) } else { self }
    }

    pub(super) const fn intersection(self, other: Self) -> Self {
        Self(self.0 & other.0)
    }

    /// The lower 32 bits, defined by MySQL.
    pub(super) const fn lower(self) -> [u8; 4] {
        (self.0 as u32).to_le_bytes()
    }

    /// The upper 32 bits, defined by MariaDB.
    pub(super) const fn upper(self) -> [u8; 4] {
        ((self.0 >> 32) as u32).to_le_bytes()
    }
}
