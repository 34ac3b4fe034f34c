//! Connections that users share at endpoints, for one run: in lists of facts and in JSON.

use judge::EndpointPool;
use serde::Serialize;

use crate::text::visible;
use crate::units::{count, decimal};
use crate::view::View;

/// Pool of an endpoint, in JSON. Times are microseconds.
#[derive(Serialize)]
pub(crate) struct PoolObject {
    endpoint: String,
    connections: u64,
    busy_mean: f64,
    busy_share: f64,
    waited_mean_us: f64,
    service_mean_us: f64,
}

/// Pool of each endpoint that has one, for JSON.
pub(crate) fn objects(view: &View<'_>) -> Vec<PoolObject> {
    let object = |pool: &EndpointPool| PoolObject {
        endpoint: visible(&pool.endpoint),
        connections: pool.connections,
        busy_mean: pool.busy,
        busy_share: pool.busy_share(),
        waited_mean_us: pool.waited_ns / 1e3,
        service_mean_us: pool.service_ns / 1e3,
    };
    view.pools.iter().map(object).collect()
}

/// Formats each endpoint's pool for a list of facts: `stock: 1.99 of 2 connections busy; waits for one 353 ms, replies 50.8 ms (means)`.
pub(crate) fn lines(view: &View<'_>) -> Vec<String> {
    let line = |pool: &EndpointPool| {
        format!(
            "{}: {} of {} connections busy; waits for one {}, replies {} (means)",
            visible(&pool.endpoint),
            decimal(pool.busy, 2),
            count(pool.connections),
            units::shown::duration(pool.waited_ns),
            units::shown::duration(pool.service_ns)
        )
    };
    view.pools.iter().map(line).collect()
}
