//! Loads on systems that accept requests, and loads of external load generators.

use wire::step::Unit;
use wire::{Protocol, step};

use crate::check::Target;
use crate::draft::Draft;
use crate::endpoint::{EndpointLoad, Peer};
use crate::fault::Fault;
use crate::file;
use crate::plan::{OwnedAction, Plan};
use crate::request;
use crate::spec::{Field, LoadSpec};
use crate::study::LaunchEndpoint;
use crate::system_kind::SystemKind;
use crate::ycsb::{RecordLayout, RecordsOfKind};

/// Systems that accept requests.
pub(crate) static SYSTEMS: SystemKind = SystemKind {
    has_url: |url| protocol_of_url(url).is_some_and(|protocol| protocol.steps().is_some()),
    takes_step: |step| step.entries().iter().any(|entry| step::protocol_of(&entry.key).is_some()),
    protocol_of_step: |step| {
        let owner = file::owner_of_step(step);
        Some(owner.unwrap_or(step::requests()))
    },
    protocol_of_url,
    read_step: file::read_request,
    unit: Unit::Request,
    words: None,
    path_noun: "path",
    answers: &[],
    keeps_writes: false,
    has_connect_timeout: false,
    url_fault: request::url_fault,
    shown: |url| Ok(url.to_owned()),
    first_plan_misfit: None,
    target: Target::from_request_flags,
    front: |place| Ok(alone(place, LoadSpec::default())?.front),
    plan_of_steps: |place, _, load, unit| {
        // Values that apply only to sessions are for other steps of the plan.
        alone(
            place,
            match unit.has_sessions() {
                true => LoadSpec { pool: None, room_check: None, latency_limit_ns: None, ..load.clone() },
                false => load.clone(),
            },
        )
    },
    plan_of_tool: alone,
    plan_of_traffic: |launch, _, spec| alone(&launch.front(), spec.clone()),
    may_be_second: false,
    check_url: file::check_requests_url,
    records: RecordsOfKind {
        operations: |url, layout| {
            protocol_of_url(url)?.steps()?.records.filter(|_| layout == RecordLayout::Columns)
        },
        has_tables: false,
        section: "",
        flags: &["--keys", Field::TABLE_SIZE.flag],
    },
    placeholder_url: |scheme| format!("{scheme}://127.0.0.1"),
    in_process: |_| None,
};

/// Protocol of a URL, by its scheme. `None` if no protocol has it.
pub(crate) fn protocol_of_url(url: &str) -> Option<&'static Protocol> {
    wire::find_scheme(url.split_once("://")?.0).map(|(protocol, _)| protocol)
}

/// Requests in a protocol. Connections are spread over the addresses.
#[derive(Clone, Debug)]
pub struct Requests {
    /// Protocol of the requests.
    pub protocol: &'static Protocol,
    /// Addresses of the system, at least one.
    pub peers: Vec<Peer>,
}

impl EndpointLoad for Requests {
    fn peers(&self) -> &[Peer] {
        &self.peers
    }

    fn clone_box(&self) -> Box<dyn EndpointLoad> {
        Box::new(self.clone())
    }

    fn add_address(&mut self, place: &LaunchEndpoint) -> Result<Option<String>, Vec<Fault>> {
        let plan = alone(place, LoadSpec::default())?;
        let host = request::site(&place.url, &plan).map(|site| site.host);
        self.peers.push(plan.front);
        Ok(host)
    }

    fn protocol(&self) -> Option<&'static Protocol> {
        Some(self.protocol)
    }

    fn insecure_flag(&self) -> Option<&'static str> {
        Some("--insecure")
    }

    fn write_reason(&self, _number: u16, action: &OwnedAction, is_kept: bool) -> Option<String> {
        (is_kept && !action.step.is_safe()).then(|| format!("the load has requests with {}", action.method()))
    }

    fn parts(&self, plan: &Plan, endpoint: u16) -> Vec<sql::Part> {
        step_parts(plan, endpoint)
    }
}

/// Load of an external load generator.
#[derive(Clone, Debug)]
pub struct ExternalLoad {
    /// Addresses of the system, at least one.
    pub peers: Vec<Peer>,
}

impl EndpointLoad for ExternalLoad {
    fn peers(&self) -> &[Peer] {
        &self.peers
    }

    fn clone_box(&self) -> Box<dyn EndpointLoad> {
        Box::new(self.clone())
    }

    /// Adds nothing, because the command of the load generator has its own addresses.
    fn add_address(&mut self, _place: &LaunchEndpoint) -> Result<Option<String>, Vec<Fault>> {
        Ok(None)
    }

    /// `None`, because the load generator defines the steps.
    fn write_reason(&self, _number: u16, _action: &OwnedAction, _is_kept: bool) -> Option<String> {
        None
    }

    fn parts(&self, plan: &Plan, endpoint: u16) -> Vec<sql::Part> {
        step_parts(plan, endpoint)
    }
}

/// Parts that steps define, such as requests that redirects lead to.
fn step_parts(plan: &Plan, endpoint: u16) -> Vec<sql::Part> {
    let steps = plan.steps_at(endpoint).filter_map(|(number, step)| Some((number, step.owned()?)));
    let named = |(of, action): (u16, &OwnedAction)| {
        action.step.parts().into_iter().map(move |name| sql::Part { name, of })
    };
    steps.flat_map(named).collect()
}

/// Plan of a load on a system that accepts requests. If the protocol reads steps from queries, the plan has an example step.
pub(crate) fn alone(place: &LaunchEndpoint, load: LoadSpec) -> Result<Plan, Vec<Fault>> {
    Draft {
        url: url_with_step(&place.url),
        unix_socket: place.socket.clone(),
        tls: place.tls.clone(),
        load,
        ..Draft::default()
    }
    .check()
}

/// URL with an example step if its protocol reads steps from queries. Other steps, or recorded ones, replace it.
pub fn url_with_step(url: &str) -> String {
    let scheme = url.split_once("://").map_or("", |(scheme, _)| scheme);
    let own = wire::find_scheme(scheme).and_then(|(protocol, _)| protocol.own_steps());
    own.map_or_else(
        || url.to_owned(),
        |own| match url.contains('?') {
            true => format!("{url}&{}", own.query.trim_start_matches('?')),
            false => format!("{url}{}", own.query),
        },
    )
}
