//! Work queue shared by several connections.

use std::sync::{Mutex, PoisonError};
use std::thread;

use crate::error::Error;

/// Processes all items with several workers. Each worker opens its connection on its first item, and passes it to `keep` at the
/// end. After an error no further item is begun, and the first error is returned.
pub(crate) fn work<T: Send, W>(
    workers: u32,
    items: impl Iterator<Item = T> + Send,
    open: impl Fn() -> Result<W, Error> + Sync,
    keep: impl Fn(W) + Sync,
    run: impl Fn(&mut W, T) -> Result<(), Error> + Sync,
) -> Result<(), Error> {
    let row = Mutex::new(items);
    let first_error = Mutex::new(None);
    let next = || {
        let is_over = first_error.lock().unwrap_or_else(PoisonError::into_inner).is_some();
        if is_over { None } else { row.lock().unwrap_or_else(PoisonError::into_inner).next() }
    };
    let one = || -> Result<(), Error> {
        let Some(mut item) = next() else { return Ok(()) };
        let mut worker = open()?;
        loop {
            run(&mut worker, item)?;
            match next() {
                Some(following) => item = following,
                None => break,
            }
        }
        keep(worker);
        Ok(())
    };
    let stop = |error| {
        first_error.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(error);
    };
    let work = || one().unwrap_or_else(stop);
    thread::scope(|scope| {
        for _ in 0..workers {
            let builder = thread::Builder::new().name("load-rows".to_owned());
            if let Err(error) = builder.spawn_scoped(scope, work) {
                stop(Error::thread(error));
                break;
            }
        }
    });
    first_error.into_inner().unwrap_or_else(PoisonError::into_inner).map_or(Ok(()), Err)
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicU32, Ordering};

    use super::*;

    #[test]
    fn every_item_is_processed_once() {
        let sum = AtomicU32::new(0);
        work(
            3,
            1..=100,
            || Ok(()),
            |()| {},
            |(), item| {
                sum.fetch_add(item, Ordering::Relaxed);
                Ok(())
            },
        )
        .unwrap();
        assert_eq!(sum.into_inner(), 5050);
    }

    #[test]
    fn no_item_is_begun_after_an_error() {
        let done = AtomicU32::new(0);
        let error = || Error::Options("no".into());
        let ended = work(
            1,
            1..=100,
            || Ok(()),
            |()| {},
            |(), item| {
                done.fetch_add(1, Ordering::Relaxed);
                if item == 3 { Err(error()) } else { Ok(()) }
            },
        );
        assert_eq!(ended, Err(error()));
        assert_eq!(done.into_inner(), 3);
        assert_eq!(work(2, 1..=9, || Err::<(), _>(error()), |()| {}, |(), _| Ok(())), Err(error()));
    }
}
