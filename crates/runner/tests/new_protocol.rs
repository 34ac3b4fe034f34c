//! New protocol: this file has everything that the parser's test, the engine, and the runner need, except one line in a list.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::Arc;
use std::thread;

use plan::{Action, Draft, LoadSpec, OwnedAction, Requests};
use runner::{PublicLoads, Share};
use wire::step::{self, Key, Kind, Step, StepDefinition, Text, Value, WrittenStep};
use wire::testing::{End, Sample, feed_three_ways};
use wire::{
    Closing, Compile, Conversation, ErrorClass, Next, Open, PeerFault, Progress, Protocol, Rejection, Reply,
    Scheme, Script, Stage,
};

use crate::shares::count;

/// Echo (RFC 862): a step sends its body, and the server returns its bytes.
static ECHO: Protocol = Protocol {
    name: "echo",
    sentence: "What is sent comes back.",
    schemes: &[Scheme { name: "echo", port: 7, is_secure: false }],
    alpn: &[],
    compile: Compile::Steps(&STEPS),
    open: Open::Conversation(|| {
        let mut conversation = Echo { texts: [b"hello".to_vec()].into() }.open(0);
        conversation.begin(0);
        Box::new(conversation)
    }),
    samples,
};

/// A step is its text: `echo: hello`.
static STEPS: StepDefinition = StepDefinition {
    noun: "echo",
    says: "the text that is sent and comes back",
    url: "echo://127.0.0.1:7",
    query: "?echo=hello",
    keys: &[Key { name: "echo", sentence: "The text.", example: "hello", kind: Kind::Text }],
    body: None,
    reply: None,
    log_in: None,
    pipeline_max: 1,
    workload: None,
    records: None,
    read: |written| {
        let text = written.value.text().map(|text| text.template.clone());
        Ok(Arc::new(EchoStep(text.unwrap_or_default())))
    },
    compile: |load| {
        let texts = step::compile_each(load.steps, |step: &EchoStep| Ok(step.0.clone()))?;
        Ok(Box::new(Echo { texts: texts.into() }))
    },
};

#[derive(Debug)]
struct EchoStep(Vec<u8>);

impl Step for EchoStep {
    fn title(&self) -> String {
        "echo".to_owned()
    }

    fn message(&self) -> &[u8] {
        &self.0
    }
}

struct Echo {
    texts: Arc<[Vec<u8>]>,
}

impl Script for Echo {
    type Conversation = EchoConversation;

    fn open(&self, _number: u32) -> EchoConversation {
        EchoConversation { texts: Arc::clone(&self.texts), step: 0, heard: None }
    }

    fn needs(&self, _step: u16, _variable: u16) -> bool {
        false
    }

    fn inspects_replies(&self, _step: u16) -> bool {
        false
    }
}

struct EchoConversation {
    texts: Arc<[Vec<u8>]>,
    step: usize,
    /// Bytes received so far; `None` while no reply is expected.
    heard: Option<usize>,
}

impl Conversation for EchoConversation {
    fn set(&mut self, _variable: u16, _value: &[u8]) {}

    fn begin(&mut self, step: u16) -> Next {
        (self.step, self.heard) = (step.into(), Some(0));
        Next::Send
    }

    fn outgoing(&self) -> &[u8] {
        &self.texts[self.step]
    }

    fn received(&mut self, bytes: &[u8]) -> Result<Progress, PeerFault> {
        let rest = self.heard.map_or(&[][..], |heard| &self.texts[self.step][heard..]);
        let used = bytes.len().min(rest.len());
        if bytes[..used] != rest[..used] || (self.heard.is_none() && !bytes.is_empty()) {
            return Err(PeerFault::new(ErrorClass::ProtocolError, 0, OTHER));
        }
        if used < rest.len() || rest.is_empty() {
            self.heard = self.heard.map(|heard| heard + used);
            return Ok(Progress::NeedMore);
        }
        self.heard = None;
        let received_bytes = self.texts[self.step].len() as u64;
        Ok(Progress::Replied {
            used,
            reply: Reply { status: 0, rejection: None, reusable: true, idle_max_s: 0, received_bytes },
        })
    }

    fn peer_closed(&mut self) -> Closing {
        match self.heard.take() {
            None | Some(0) => Closing::Empty,
            Some(_) => Closing::Incomplete,
        }
    }

    fn stage(&self) -> Stage {
        match self.heard {
            None => Stage::Idle,
            Some(0) => Stage::FirstByte,
            Some(_) => Stage::Body,
        }
    }

    fn explain(&self, _refusal: Rejection) -> String {
        String::new()
    }

    fn forget(&mut self) {
        self.heard = None;
    }
}

const OTHER: &str = "other bytes came than were sent";

fn samples() -> Vec<Sample> {
    let samples = [
        ("the same", "hello", End::Replied { status: 0, reusable: true }),
        ("a part", "hel", End::Incomplete),
        ("others", "hallo", End::Fault(ErrorClass::ProtocolError, OTHER)),
    ];
    samples.map(|(name, bytes, end)| Sample { name, bytes: bytes.into(), end }).into()
}

fn echo(mut stream: TcpStream) -> std::io::Result<()> {
    let mut bytes = [0; 1024];
    loop {
        match stream.read(&mut bytes)? {
            0 => return Ok(()),
            count => stream.write_all(&bytes[..count])?,
        }
    }
}

#[test]
fn new_protocol_passes_samples_and_runs_a_load() {
    for sample in (ECHO.samples)() {
        feed_three_ways(ECHO.open, &sample).unwrap_or_else(|what| panic!("{what}"));
    }
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let url = format!("http://{}/", listener.local_addr().expect("an address"));
    thread::spawn(move || {
        listener.incoming().flatten().for_each(|stream| drop(thread::spawn(move || echo(stream))));
    });
    let load = LoadSpec { users: Some(4.into()), requests: Some(200.into()), ..LoadSpec::default() };
    let draft = Draft { url, load, ..Draft::default() };
    let mut plan = draft.check().expect("a plan");
    // Sets what the scheme of the URL would set if the protocol were listed.
    let peers = plan.endpoint().peers().to_vec();
    plan.endpoints[0].load = Box::new(Requests { protocol: &ECHO, peers });
    let text = "what a user writes";
    let value = Value::Text(Text { written: text.to_owned(), template: text.into() });
    let step = (STEPS.read)(&WrittenStep::of("echo", &value)).expect("a step");
    let action = OwnedAction { protocol: Some(&ECHO), step, host: String::new(), keep_alive: true };
    plan.steps[0].action = Action::Owned(action);
    let prepared = runner::prepare(&plan, &PublicLoads::Refused).expect("nothing is in the way");
    let (counts, ended) = count(prepared, Share::WHOLE);
    assert_eq!((counts.sent, counts.ok, ended), (200, 200, 200), "{counts:?}");
}
