//! Start of PostgreSQL connections: TLS, log-in, rejections, and bytes that must not be trusted.

use std::sync::Arc;

use crate::postgres_server::{error, log_in, message, notice, ready};
use wire::postgres::Session;
use wire::sql::{InsecureAuth, Login, Secret, Session as _, TlsMode, Transaction};
use wire::{Cancel, ErrorClass, Greeting, PeerFault};

const PASSWORD: &str = "pencil";

fn login() -> Login {
    Login { user: "mei".into(), password: Some(Secret(PASSWORD.into())), ..Login::default() }
}

fn session(login: Login) -> Session {
    Session::new(Arc::new(login), [7; 18])
}

/// Reply of a session to an authentication request.
fn asked(login: Login, bytes: &[u8]) -> Result<Vec<u8>, PeerFault> {
    let mut session = session(login);
    assert_eq!(session.greet(), Greeting::Send);
    let (used, greeting) = session.greeted(bytes)?;
    assert_eq!((used, greeting), (bytes.len(), Greeting::Send));
    Ok(session.outgoing().to_vec())
}

#[test]
fn start_up_sends_user_database_and_parameters() {
    let mut session = session(Login {
        database: Some("shop".into()),
        settings: vec![("application_name".into(), "mine".into()), ("search_path".into(), "a\0b".into())],
        ..login()
    });
    assert_eq!(session.greet(), Greeting::Send);
    let text = b"\0\x03\0\0user\0mei\0database\0shop\0client_encoding\0UTF8\0application_name\0mine\0search_path\0a\0\0";
    let expected = [&(text.len() as u32 + 4).to_be_bytes()[..], text].concat();
    assert_eq!(session.outgoing().escape_ascii().to_string(), expected.escape_ascii().to_string());
}

#[test]
fn trust_log_in_reads_parameters_and_cancel_key() {
    let mut session = session(Login { password: None, ..login() });
    session.greet();
    let setting = message(b'S', b"server_version\x0015.14 (Debian)\0");
    let other = message(b'S', b"TimeZone\0UTC\0");
    let key = message(b'K', b"\x01\x02\x03\x04\x05\x06\x07\x08");
    let rest = [log_in(0, b""), setting, notice(), other, key, message(b'Z', b"T")].concat();
    assert_eq!(session.greeted(&rest).unwrap(), (rest.len(), Greeting::Done));
    assert_eq!(session.server_version(), Some("15.14 (Debian)"));
    assert_eq!((session.setting("TimeZone"), session.async_message_count()), (None, 3));
    assert_eq!(session.transaction(), Transaction::Open);
    let Some(Cancel::Bytes(cancel)) = session.cancel() else { panic!("the server gave a key") };
    assert_eq!(cancel, *b"\0\0\0\x10\x04\xd2\x16\x2e\x01\x02\x03\x04\x05\x06\x07\x08");
    assert_eq!(session.farewell(), b"X\0\0\0\x04");
    session.forget();
    assert!(session.cancel().is_none());
}

#[test]
fn tls_starts_only_after_server_accepts() {
    let begin = |tls, answer: &[u8]| {
        let mut session = session(Login { tls, ..login() });
        assert_eq!(session.greet(), Greeting::Send);
        assert_eq!(session.outgoing(), b"\0\0\0\x08\x04\xd2\x16\x2f");
        let greeting = session.greeted(answer).map_err(|fault| (fault.class, fault.message()))?;
        Ok::<_, (ErrorClass, String)>((greeting, session))
    };
    for mode in [TlsMode::IfOffered, TlsMode::Required] {
        let (greeting, mut session) = begin(mode, b"S").unwrap();
        assert_eq!(greeting, (1, Greeting::Secure));
        assert_eq!(session.secured(), Greeting::Send);
        assert_eq!(session.outgoing()[4..8], [0, 3, 0, 0]);
        let slipped_in = [b"S".to_vec(), log_in(0, b""), ready()].concat();
        assert_eq!(begin(mode, &slipped_in).unwrap_err().0, ErrorClass::ProtocolError);
        let lie = error("FATAL", "28000", "send your password to evil.example");
        let (class, words) = begin(mode, &lie).unwrap_err();
        assert!(class == ErrorClass::ProtocolError && !words.contains("evil"), "{words}");
        assert_eq!(begin(mode, b"HTTP/1.1 400").unwrap_err().0, ErrorClass::ProtocolError);
    }
    let (greeting, session) = begin(TlsMode::IfOffered, b"N").unwrap();
    assert_eq!(greeting, (1, Greeting::Send));
    assert_eq!(session.outgoing()[4..8], [0, 3, 0, 0]);
    assert_eq!(begin(TlsMode::IfOffered, b"NR").unwrap_err().0, ErrorClass::ProtocolError);
    assert_eq!(begin(TlsMode::Required, b"N").unwrap_err().0, ErrorClass::LoginRefused);
}

#[test]
fn sends_weak_password_forms_only_if_allowed() {
    let (cleartext, md5) = (log_in(3, b""), log_in(5, b"salt"));
    let weak = Login { weak: InsecureAuth::ALL, ..login() };
    assert_eq!(asked(weak.clone(), &cleartext).unwrap(), message(b'p', b"pencil\0"));
    // Test vector from another program.
    let answer = asked(weak.clone(), &md5).unwrap();
    assert_eq!(answer.len(), 1 + 4 + "md5".len() + 32 + 1);
    assert_eq!(answer, message(b'p', b"md518301d2a2dd2325d5c0978f6e988d306\0"));
    let (only_clear, only_md5) = (
        InsecureAuth { clear: true, ..InsecureAuth::default() },
        InsecureAuth { md5: true, ..InsecureAuth::default() },
    );
    for (mode, other, way_out) in
        [(&cleartext, only_md5, "require_auth=password"), (&md5, only_clear, "require_auth=md5")]
    {
        let fault = asked(login(), mode).unwrap_err();
        assert!(fault.message().contains(way_out), "{}", fault.message());
        let fault = asked(Login { weak: other, ..login() }, mode).unwrap_err();
        assert_eq!(fault.class, ErrorClass::LoginRefused);
        assert!(fault.message().contains("TLS") && !fault.message().contains(PASSWORD));
        assert_eq!(
            asked(Login { password: None, ..weak.clone() }, mode).unwrap_err().class,
            ErrorClass::LoginRefused
        );
        let mut secure = session(Login { tls: TlsMode::Required, ..login() });
        secure.greet();
        secure.greeted(b"S").unwrap();
        secure.secured();
        assert_eq!(secure.greeted(mode).unwrap().1, Greeting::Send, "TLS hides it");
        assert_eq!(secure.greeted(mode).unwrap_err().class, ErrorClass::ProtocolError, "asked twice");
    }
}

#[test]
fn rejects_unsupported_log_ins_by_name() {
    for (bytes, words) in [
        (log_in(7, b""), "GSSAPI"),
        (log_in(9, b""), "SSPI"),
        (log_in(99, b""), "number 99"),
        (log_in(10, b"SCRAM-SHA-256-PLUS\0\0"), "SCRAM-SHA-256"),
    ] {
        let fault = asked(login(), &bytes).unwrap_err();
        assert_eq!(fault.class, ErrorClass::LoginRefused);
        assert!(fault.message().contains(words), "{}", fault.message());
    }
}

/// Starts SCRAM, and returns the client's nonce.
fn in_scram(session: &mut Session) -> String {
    session.greet();
    let mechanisms = log_in(10, b"SCRAM-SHA-256-PLUS\0SCRAM-SHA-256\0\0");
    assert_eq!(session.greeted(&mechanisms).unwrap(), (mechanisms.len(), Greeting::Send));
    let sent = String::from_utf8_lossy(session.outgoing()).into_owned();
    assert!(sent.contains("SCRAM-SHA-256\0\0\0\0 n,,n=,r="), "{sent:?}");
    sent.split("r=").nth(1).unwrap().to_owned()
}

#[test]
fn scram_nonce_differs_and_server_must_prove_password() {
    let mut session = session(login());
    let first = in_scram(&mut session);
    let second = in_scram(&mut session);
    assert!(first.len() == 24 && first != second);
    let challenge = log_in(11, format!("r={second}more,s=c2FsdA==,i=4096").as_bytes());
    assert_eq!(session.greeted(&challenge).unwrap().1, Greeting::Send);
    assert!(session.outgoing().starts_with(b"p\0\0\0"));
    assert!(!String::from_utf8_lossy(session.outgoing()).contains(PASSWORD));
    let fault = session.greeted(&log_in(0, b"")).unwrap_err();
    assert_eq!(fault.class, ErrorClass::LoginRefused, "{}", fault.message());

    in_scram(&mut session);
    let fault = session.greeted(&log_in(12, b"v=AAAA")).unwrap_err();
    assert_eq!(fault.class, ErrorClass::ProtocolError);
    let nonce = in_scram(&mut session);
    let hostile = log_in(11, format!("r={nonce}more,s=c2FsdA==,i=2147483648").as_bytes());
    let fault = session.greeted(&hostile).unwrap_err();
    assert!(fault.message().contains("2147483648") && fault.class == ErrorClass::LoginRefused);
}

#[test]
fn temporary_rejections_do_not_end_the_load() {
    for (sqlstate, class) in [
        ("28P01", ErrorClass::LoginRefused),
        ("28000", ErrorClass::LoginRefused),
        ("3D000", ErrorClass::LoginRefused),
        ("42704", ErrorClass::LoginRefused),
        ("53300", ErrorClass::TooManyConnections),
        ("53200", ErrorClass::OutOfResources),
        ("57P03", ErrorClass::ServerShutdown),
        ("57P01", ErrorClass::ServerShutdown),
        ("XX000", ErrorClass::SqlError),
    ] {
        for before in [vec![], log_in(0, b"")] {
            let bytes = [before, error("FATAL", sqlstate, "said by the server")].concat();
            let fault = asked(login(), &bytes).unwrap_err();
            assert_eq!(fault.class, class, "{sqlstate}");
            assert!(fault.message().ends_with(&format!("{sqlstate}: said by the server")));
        }
    }
}

#[test]
fn debug_output_hides_password() {
    let mut session = session(Login { weak: InsecureAuth::ALL, ..login() });
    session.greet();
    session.greeted(&log_in(3, b"")).unwrap();
    assert!(!format!("{session:?}").contains(PASSWORD));
    let bytes = [log_in(0, b""), ready()].concat();
    assert_eq!(session.greeted(&bytes).unwrap(), (bytes.len(), Greeting::Done));
    assert!(session.outgoing().is_empty(), "it is not sent again");
}
