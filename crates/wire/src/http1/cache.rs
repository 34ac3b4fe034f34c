//! Headers of caches that show whether the cache answered: `Age`, `X-Cache`, `Cache-Status`, and two of single vendors.

use httparse::Header;

use crate::content::CacheUse;

/// Whether a header of 3, 7, 12, 14, or 15 characters may be a cache header, judged by its first two characters. Keeps other headers of
/// these lengths, such as `Content-Type`, off the slow path.
#[inline]
pub(super) fn may_be_cache_header(name: &str) -> bool {
    let [first, second, ..] = name.as_bytes() else { return false };
    matches!((first | 0x20, second | 0x20), (b'a', b'g') | (b'x', b'-') | (b'c', b'a' | b'f'))
}

/// Cache use after one more header. A hit of any cache counts, because the server then did not do the work.
#[cold]
pub(super) fn cache_use_after(header: &Header<'_>, before: CacheUse) -> CacheUse {
    let is = |name: &str| header.name.eq_ignore_ascii_case(name);
    let value = header.value.trim_ascii();
    let says = |word: &[u8]| value.windows(word.len()).any(|part| part.eq_ignore_ascii_case(word));
    let now = match () {
        // Only stored responses have an age (RFC 9111, 5.1).
        () if is("Age") => CacheUse::Hit,
        () if is("X-Cache") || is("X-Cache-Status") || is("CF-Cache-Status") => match () {
            () if says(b"hit") || says(b"stale") || says(b"revalidated") => CacheUse::Hit,
            () if value.is_empty() => before,
            () => CacheUse::Miss,
        },
        // RFC 9211: the parameter `hit` of a cache in the list.
        () if is("Cache-Status") => match () {
            () if value.split(|byte| b";,".contains(byte)).any(|part| part.trim_ascii() == b"hit") => {
                CacheUse::Hit
            }
            () if value.is_empty() => before,
            () => CacheUse::Miss,
        },
        () => before,
    };
    if before == CacheUse::Hit { before } else { now }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_hits_and_misses_of_common_caches() {
        use CacheUse::{Hit, Miss, Unknown};
        for (name, value, expected) in [
            ("Age", "0", Hit),
            ("age", "86400", Hit),
            ("X-Cache", "HIT from proxy", Hit),
            ("x-cache", "Miss from cloudfront", Miss),
            ("X-Cache", "MISS, HIT", Hit),
            ("X-Cache-Status", "STALE", Hit),
            ("CF-Cache-Status", "DYNAMIC", Miss),
            ("cf-cache-status", "hit", Hit),
            ("Cache-Status", "Origin; fwd=uri-miss, CDN; hit", Hit),
            ("Cache-Status", "Origin; fwd=uri-miss", Miss),
            ("Cache-Status", "", Unknown),
        ] {
            let header = Header { name, value: value.as_bytes() };
            assert!(may_be_cache_header(name), "{name}");
            assert_eq!(cache_use_after(&header, Unknown), expected, "{name}: {value}");
            assert_eq!(cache_use_after(&header, Hit), Hit, "{name}: {value}");
        }
        for name in ["Via", "Content-Type", "Accept-Ranges", "X", ""] {
            assert!(!may_be_cache_header(name), "{name}");
        }
        let unrelated = Header { name: "Cache-Contro", value: b"hit" };
        assert_eq!(cache_use_after(&unrelated, Unknown), Unknown);
    }
}
