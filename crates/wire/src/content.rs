//! Content of a reply beyond its status: size, coding, rows, and cache. Comparisons check that systems do equal work.

/// Content coding of a body (RFC 9110, 8.4).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Coding {
    /// Identity coding.
    #[default]
    Identity,
    /// `gzip` or `x-gzip`.
    Gzip,
    /// `deflate`.
    Deflate,
    /// `br`.
    Brotli,
    /// `zstd`.
    Zstd,
    /// An unknown coding, or several codings.
    Other,
}

impl Coding {
    /// All codings, in the order of their discriminants.
    pub const ALL: [Self; 6] =
        [Self::Identity, Self::Gzip, Self::Deflate, Self::Brotli, Self::Zstd, Self::Other];

    /// Name in the header `Content-Encoding`; `other` for an unknown coding.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Identity => "identity",
            Self::Gzip => "gzip",
            Self::Deflate => "deflate",
            Self::Brotli => "br",
            Self::Zstd => "zstd",
            Self::Other => "other",
        }
    }
}

/// Answer of a cache between client and server, according to the headers of a reply.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum CacheUse {
    /// Unknown, because no header mentions a cache.
    #[default]
    Unknown,
    /// A cache answered.
    Hit,
    /// A cache passed the request on.
    Miss,
}

/// Content of a complete reply, as far as its protocol defines it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Content {
    /// Bytes of the content as sent, without headers and framing. `None` if the protocol's own encoding varies with settings, as
    /// in SQL.
    pub size_bytes: Option<u64>,
    /// Bytes of the content after decoding. `None` without a coding, and for replies that are not sampled.
    pub decoded_bytes: Option<u64>,
    /// Rows that all statements of a transaction returned or changed. `None` for protocols without rows.
    pub rows: Option<u64>,
    /// Content coding.
    pub coding: Coding,
    /// Whether a cache answered, if known.
    pub cache: CacheUse,
}
