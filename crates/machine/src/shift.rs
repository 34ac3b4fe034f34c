//! Shift trials: move an array by one element within itself, with a plain loop, a vectorized loop, and memmove.
//!
//! A compiler replaces a loop that copies to a neighboring element with memmove or vector code, so all three trials would measure
//! the same code. `black_box(())` after each step prevents this, and costs no instruction. The plain loop moves one element per
//! step. The vectorized loop reads 16 per step before it writes any of them.

use std::cell::Cell;
use std::hint::black_box;

use crate::figure::Findings;
use crate::site::Site;
use crate::stopwatch::per_s;

/// Array size of published comparisons.
pub(crate) const PUBLISHED_BYTES: usize = 2_900_000;
/// Array size that fits into the smallest cache.
pub(crate) const SMALL_BYTES: usize = 16 << 10;
/// Minimum and maximum size of the array that exceeds the caches.
const LARGE_BYTES: (usize, usize) = (64 << 20, 256 << 20);
/// Number of elements that the vectorized loop reads before it writes.
const BLOCK: usize = 16;
/// Number of bytes moved between two clock reads.
const BATCH_BYTES: usize = 1 << 20;

/// Method of moving an array.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Method {
    Loop,
    Vector,
    Memmove,
}

impl Method {
    pub(crate) const ALL: [Self; 3] = [Self::Loop, Self::Vector, Self::Memmove];

    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Loop => "loop",
            Self::Vector => "vector",
            Self::Memmove => "memmove",
        }
    }
}

/// Direction in which elements are filled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Direction {
    /// Each element from the one above it, beginning with the first.
    Forward,
    /// Each element from the one below it, beginning with the last.
    Reverse,
}

impl Direction {
    pub(crate) const ALL: [Self; 2] = [Self::Forward, Self::Reverse];

    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Forward => "forward",
            Self::Reverse => "reverse",
        }
    }
}

/// Formats the key of the figure for a combination of method, direction, element, and size.
pub(crate) fn key(method: Method, direction: Direction, element: &str, bytes: usize) -> String {
    format!("shift.{}.{}.{element}.{bytes}", method.name(), direction.name())
}

/// Returns an array size that exceeds all caches: twice the size of the largest known cache, within [`LARGE_BYTES`].
pub(crate) fn large_bytes() -> usize {
    let size = |index: u32| {
        let path = format!("/sys/devices/system/cpu/cpu0/cache/index{index}/size");
        let text = std::fs::read_to_string(path).ok()?;
        text.trim().strip_suffix('K')?.parse::<usize>().ok().map(|kib| kib.saturating_mul(1024))
    };
    let largest = (0..8).filter_map(size).max().unwrap_or(0);
    largest.saturating_mul(2).next_power_of_two().clamp(LARGE_BYTES.0, LARGE_BYTES.1)
}

/// Measures all methods, directions, elements, and sizes.
pub(crate) fn measure(site: &Site<'_>, findings: &mut Findings) {
    for bytes in [SMALL_BYTES, PUBLISHED_BYTES, large_bytes()] {
        for method in Method::ALL {
            for direction in Direction::ALL {
                measure_one(site, findings, (method, direction), bytes, ("int32", i32::from));
                measure_one(site, findings, (method, direction), bytes, ("float", f32::from));
            }
        }
    }
}

/// Measures the published size only: `int32`, forward.
pub(crate) fn measure_brief(site: &Site<'_>, findings: &mut Findings) {
    for method in [Method::Loop, Method::Memmove] {
        measure_one(site, findings, (method, Direction::Forward), PUBLISHED_BYTES, ("int32", i32::from));
    }
}

fn measure_one<T: Copy + Default>(
    site: &Site<'_>,
    findings: &mut Findings,
    (method, direction): (Method, Direction),
    bytes: usize,
    (element, from): (&str, fn(u8) -> T),
) {
    let length = bytes / size_of::<T>();
    let mut array: Vec<T> = (0..length).map(|place| from((place % 251) as u8)).collect();
    let batch = (BATCH_BYTES / bytes).max(1) as u32;
    let samples = site.repeat(|| {
        let times = per_s(site.effort.slice / 8, batch, || shift(black_box(&mut array), method, direction));
        Ok(times * bytes as f64 / 1e9)
    });
    findings.note(key(method, direction, element, bytes), samples);
}

/// Moves an array by one element. The last element in the direction of filling is unchanged.
fn shift<T: Copy + Default>(array: &mut [T], method: Method, direction: Direction) {
    let distance = 1;
    if array.len() <= distance {
        return;
    }
    let kept = array.len() - distance;
    match (method, direction) {
        (Method::Memmove, Direction::Forward) => array.copy_within(distance.., 0),
        (Method::Memmove, Direction::Reverse) => array.copy_within(..kept, distance),
        (Method::Loop, direction) => {
            let cells = Cell::from_mut(array).as_slice_of_cells();
            match direction {
                Direction::Forward => loop_forward(&cells[..kept], &cells[distance..]),
                Direction::Reverse => loop_reverse(&cells[distance..], &cells[..kept]),
            }
        }
        (Method::Vector, direction) => {
            let cells = Cell::from_mut(array).as_slice_of_cells();
            match direction {
                Direction::Forward => vector_forward(&cells[..kept], &cells[distance..]),
                Direction::Reverse => vector_reverse(&cells[distance..], &cells[..kept]),
            }
        }
    }
}

#[inline(never)]
fn loop_forward<T: Copy>(to: &[Cell<T>], from: &[Cell<T>]) {
    to.iter().zip(from).for_each(|(to, from)| move_one(to, from));
}

#[inline(never)]
fn loop_reverse<T: Copy>(to: &[Cell<T>], from: &[Cell<T>]) {
    to.iter().zip(from).rev().for_each(|(to, from)| move_one(to, from));
}

#[inline(never)]
fn vector_forward<T: Copy + Default>(to: &[Cell<T>], from: &[Cell<T>]) {
    let whole = to.len() - to.len() % BLOCK;
    to.chunks_exact(BLOCK).zip(from.chunks_exact(BLOCK)).for_each(|(to, from)| move_block(to, from));
    loop_forward(&to[whole..], &from[whole..]);
}

#[inline(never)]
fn vector_reverse<T: Copy + Default>(to: &[Cell<T>], from: &[Cell<T>]) {
    let rest = to.len() % BLOCK;
    let blocks = to[rest..].chunks_exact(BLOCK).zip(from[rest..].chunks_exact(BLOCK));
    blocks.rev().for_each(|(to, from)| move_block(to, from));
    loop_reverse(&to[..rest], &from[..rest]);
}

#[inline(always)]
fn move_one<T: Copy>(to: &Cell<T>, from: &Cell<T>) {
    to.set(from.get());
    black_box(());
}

#[inline(always)]
fn move_block<T: Copy + Default>(to: &[Cell<T>], from: &[Cell<T>]) {
    let mut block = [T::default(); BLOCK];
    block.iter_mut().zip(from).for_each(|(kept, from)| *kept = from.get());
    to.iter().zip(block).for_each(|(to, kept)| to.set(kept));
    black_box(());
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_method_moves_all_elements_by_one() {
        for length in [0, 1, 2, 15, 16, 17, 18, 33, 1_000] {
            let before: Vec<i32> = (0..length).collect();
            for method in Method::ALL {
                let mut forward = before.clone();
                shift(&mut forward, method, Direction::Forward);
                let last = before.last().copied();
                let expected: Vec<i32> = before.iter().skip(1).copied().chain(last).collect();
                assert_eq!(forward, expected, "{method:?}, {length}");
                let mut reverse = before.clone();
                shift(&mut reverse, method, Direction::Reverse);
                let first = before.first().copied();
                let expected: Vec<i32> =
                    first.into_iter().chain(before.iter().copied()).take(before.len()).collect();
                assert_eq!(reverse, expected, "{method:?}, {length}");
            }
        }
    }

    #[test]
    fn large_array_exceeds_the_caches_and_is_bounded() {
        assert!((LARGE_BYTES.0..=LARGE_BYTES.1).contains(&large_bytes()));
    }
}
