//! MySQL log-in: authentication plugins, TLS, and error messages of rejected log-ins.

use std::sync::Arc;

use crate::mysql_server::{MARIADB, MYSQL_8, OLD, SUCCESS, TLS, greeting, logged_in, login, packets};
use wire::mysql::Session;
use wire::sql::{InsecureAuth, Login, Session as _, TlsMode};
use wire::{ErrorClass, Greeting, PeerFault};

const SEED: &[u8; 20] = b"12345678901234567890";

fn native() -> Vec<u8> {
    greeting(MYSQL_8, "8.0.36", "mysql_native_password", SEED)
}

/// Feeds packets, split into pieces of `size`. Returns the last greeting or the first error, and the bytes that were sent after each
/// [`Greeting::Send`] and [`Greeting::Secure`].
fn meet(
    session: &mut Session,
    from_server: &[Vec<u8>],
    size: usize,
) -> (Result<Greeting, PeerFault>, Vec<Vec<u8>>) {
    let mut sent = Vec::new();
    let mut greeting = session.greet();
    for packet in from_server {
        let mut rest = packet.as_slice();
        while !rest.is_empty() {
            let piece = &rest[..size.min(rest.len())];
            greeting = match session.greeted(piece) {
                Ok((used, greeting)) => {
                    rest = &rest[used..];
                    greeting
                }
                Err(fault) => return (Err(fault), sent),
            };
            match greeting {
                Greeting::Send => sent.push(session.outgoing().to_vec()),
                Greeting::Secure => {
                    greeting = session.secured();
                    sent.push(session.outgoing().to_vec());
                }
                _ => {}
            }
        }
    }
    (Ok(greeting), sent)
}

/// Runs [`meet`] with whole packets and byte by byte, and asserts equal results.
fn both(
    open: impl Fn() -> Session,
    from_server: &[Vec<u8>],
) -> (Result<Greeting, PeerFault>, Vec<Vec<u8>>, Session) {
    let mut session = open();
    let (whole, sent) = meet(&mut session, from_server, usize::MAX);
    let (single, sent_too) = meet(&mut open(), from_server, 1);
    let kind = |end: &Result<Greeting, PeerFault>| match end {
        Ok(greeting) => format!("{greeting:?}"),
        Err(fault) => format!("{} {}", fault.class, fault.sentence),
    };
    assert_eq!((kind(&whole), &sent), (kind(&single), &sent_too));
    (whole, sent, session)
}

fn with(login: Login) -> impl Fn() -> Session {
    let login = Arc::new(login);
    move || Session::new(Arc::clone(&login), [5; 18])
}

fn fault_of(login: Login, from_server: &[Vec<u8>]) -> PeerFault {
    let (end, ..) = both(with(login), from_server);
    let fault = end.expect_err("a fault");
    assert!(!fault.message().contains("secret"), "{}", fault.message());
    fault
}

#[test]
fn logs_in_with_native_password() {
    let mut login = login("secret");
    login.database = Some("shop".to_owned());
    let (end, sent, session) = both(with(login), &[native(), packets(2, &[SUCCESS])]);
    assert_eq!(end, Ok(Greeting::Done));
    let answer = &sent[0];
    let text = String::from_utf8_lossy(answer).into_owned();
    assert_eq!(answer[3], 1, "the number after the greeting's");
    assert_eq!(&answer[36..39], b"me\0");
    assert_eq!(answer[39], 20);
    assert!(text.contains("shop\0mysql_native_password\0"), "{text:?}");
    assert!(text.contains("\x0cprogram_name\x06tenbin"), "{text:?}");
    assert_eq!(
        (session.server_version(), session.is_mariadb(), session.connection_id()),
        ("8.0.36", false, 7)
    );
    assert!(session.outgoing().is_empty(), "nothing of the log-in stays behind");
}

#[test]
fn detects_mariadb_and_requests_its_capabilities() {
    let hello = greeting(MARIADB, "5.5.5-10.11.14-MariaDB-log", "mysql_native_password", SEED);
    let (end, sent, session) = both(with(login("secret")), &[hello, packets(2, &[SUCCESS])]);
    assert_eq!(end, Ok(Greeting::Done));
    assert_eq!((session.server_version(), session.is_mariadb()), ("10.11.14-MariaDB-log", true));
    assert_eq!((sent[0][4] & 1, sent[0][32]), (0, 1 << 4), "bit 0 is not set, bit 36 is");
}

#[test]
fn rejected_log_in_has_class_and_server_message() {
    for (payload, class, words) in [
        (
            &b"\xff\x15\x04#28000Access denied for user 'me'"[..],
            ErrorClass::LoginRefused,
            "1045 (28000): Access denied",
        ),
        (b"\xff\x19\x04#42000Unknown database 'x'", ErrorClass::LoginRefused, "1049"),
        (b"\xff\x10\x04#08004Too many connections", ErrorClass::TooManyConnections, "Too many connections"),
        (b"\xff\xb3\x04#42000me has already more", ErrorClass::TooManyConnections, "1203"),
        (b"\xff\x6f\x04Can't create a new thread", ErrorClass::OutOfResources, "1135 (HY000)"),
        (
            b"\xff\x17\x04#08S01WSREP has not yet prepared node",
            ErrorClass::ServerShutdown,
            "no connection now",
        ),
        (b"\xff\x1d\x04#08S01Shutdown in progress", ErrorClass::ServerShutdown, "Shutdown"),
    ] {
        let fault = fault_of(login("secret"), &[native(), packets(2, &[payload])]);
        assert_eq!(fault.class, class);
        assert!(fault.message().contains(words), "{}", fault.message());
    }
    // Some servers send the error instead of the greeting.
    for (payload, class) in [
        (&b"\xff\x10\x04Too many connections"[..], ErrorClass::TooManyConnections),
        (b"\xff\x69\x04Host 'h' is blocked", ErrorClass::LoginRefused),
        (b"\xff\x6a\x04Host 'h' is not allowed to connect", ErrorClass::LoginRefused),
    ] {
        assert_eq!(fault_of(login("secret"), &[packets(0, &[payload])]).class, class);
    }
}

#[test]
fn rejects_greeting_of_other_servers() {
    let not_mysql = "the server's greeting is not that of MySQL or MariaDB";
    let too_old = "the server speaks a protocol older than that of MySQL 4.1, which sends passwords unsafely";
    let short = packets(0, &[b"\x0a8.0.36\0\x01"]);
    let old = greeting(1 << 9, "4.0", "", SEED);
    for (bytes, class, sentence) in [
        (b"SSH-2.0-OpenSSH_9.2p1\r\n".to_vec(), ErrorClass::ProtocolError, not_mysql),
        (b"HTTP/1.1 400 Bad Request\r\n\r\n".to_vec(), ErrorClass::ProtocolError, not_mysql),
        (packets(0, &[b"\x0b9.9\0"]), ErrorClass::ProtocolError, not_mysql),
        (short, ErrorClass::ProtocolError, "the server's greeting is malformed"),
        (packets(0, &[b"\x093.23\0\x01\0\0\0abcdefgh"]), ErrorClass::LoginRefused, too_old),
        (old, ErrorClass::LoginRefused, too_old),
    ] {
        let fault = fault_of(login("secret"), &[bytes]);
        assert_eq!((fault.class, fault.sentence), (class, sentence));
    }
}

#[test]
fn follows_switch_to_known_auth_plugin() {
    let switch =
        |name: &str, seed: &[u8]| packets(2, &[&[&[0xfe], name.as_bytes(), &[0], seed, &[0]].concat()]);
    let ok = packets(4, &[SUCCESS]);
    for (name, seed, length) in [
        ("mysql_native_password", &SEED[..], 20),
        ("caching_sha2_password", &SEED[..], 32),
        ("client_ed25519", b"12345678901234567890123456789012", 64),
    ] {
        let (end, sent, _) = both(with(login("secret")), &[native(), switch(name, seed), ok.clone()]);
        assert_eq!(end, Ok(Greeting::Done), "{name}");
        assert_eq!((&sent[1][..4], sent[1].len()), (&[length, 0, 0, 3][..], 4 + usize::from(length)));
    }
    let empty = Login { user: "me".to_owned(), ..Login::default() };
    for (name, answer) in [("mysql_native_password", &[][..]), ("caching_sha2_password", &[0])] {
        let (_, sent, _) = both(with(empty.clone()), &[native(), switch(name, SEED), ok.clone()]);
        assert_eq!(sent[1][4..], *answer, "{name}");
    }
    for (payload, words) in [
        (switch("dialog", b""), "not known here: dialog"),
        (switch("mysql_old_password", SEED), "before MySQL 4.1"),
        (packets(2, &[&[0xfe]]), "before MySQL 4.1"),
        (switch("mysql_clear_password", b""), "in the clear: use TLS (ssl-mode=REQUIRED)"),
    ] {
        let fault = fault_of(login("secret"), &[native(), payload]);
        assert_eq!(fault.class, ErrorClass::LoginRefused);
        assert!(fault.message().contains(words), "{}", fault.message());
    }
    assert_eq!(
        fault_of(login("secret"), &[native(), switch("client_ed25519", b"short")]).class,
        ErrorClass::ProtocolError
    );
    let again = |number| packets(number, &[&[&b"\xfemysql_native_password\0"[..], SEED].concat()]);
    let endless: Vec<_> = [native()].into_iter().chain((1..20).map(|round| again(2 * round))).collect();
    assert_eq!(fault_of(login("secret"), &endless).class, ErrorClass::ProtocolError);
}

#[test]
fn sends_plain_password_only_if_private_or_allowed() {
    let hello = greeting(MYSQL_8, "8.0.36", "caching_sha2_password", SEED);
    let (known, wanted) = (packets(2, &[&[1, 3], SUCCESS]), packets(2, &[&[1, 4]]));
    let (end, sent, _) = both(with(login("secret")), &[hello.clone(), known]);
    assert_eq!((end, sent.len()), (Ok(Greeting::Done), 1));

    let fault = fault_of(login("secret"), &[hello.clone(), wanted.clone()]);
    assert_eq!(fault.class, ErrorClass::LoginRefused);
    assert!(fault.message().contains("an unverified key"));
    assert!(fault.message().contains("add get-server-public-key=true to the URL"));

    let private = || with(login("secret"))().on_private_transport();
    let (end, sent, _) = both(private, &[hello.clone(), wanted.clone(), packets(4, &[SUCCESS])]);
    assert_eq!((end, &sent[1][..]), (Ok(Greeting::Done), &b"\x07\0\0\x03secret\0"[..]));

    let weak = Login { weak: InsecureAuth { any_key: true, ..InsecureAuth::default() }, ..login("secret") };
    let (_, sent, _) = both(with(weak.clone()), &[hello.clone(), wanted.clone()]);
    assert_eq!(sent[1], b"\x01\0\0\x03\x02", "it asks for the server's key");
    let bad_key = packets(4, &[b"\x01-----BEGIN PUBLIC KEY-----\nAAAA\n-----END PUBLIC KEY-----\n"]);
    let fault = fault_of(weak.clone(), &[hello, wanted, bad_key]);
    assert_eq!(fault.sentence, "the server's public key for passwords cannot be used");
    let clear = packets(2, &[b"\xfemysql_clear_password\0"]);
    let fault = fault_of(weak, &[native(), clear.clone()]);
    assert!(fault.message().contains("add enable-cleartext-plugin=true to the URL"));
    let weak = Login { weak: InsecureAuth { clear: true, ..InsecureAuth::default() }, ..login("secret") };
    let (end, sent, _) = both(with(weak), &[native(), clear, packets(4, &[SUCCESS])]);
    assert_eq!((end, &sent[1][4..]), (Ok(Greeting::Done), &b"secret\0"[..]));
}

/// Public key whose private key is used only in tests.
const PEM: &[u8] = b"\x01-----BEGIN PUBLIC KEY-----
MIGfMA0GCSqGSIb3DQEBAQUAA4GNADCBiQKBgQC0kLh4HFupJ1h1BVYORmyktANN
1C41QUQthZZ105o0IWOSLiVY/jZCQonlBpoVYKRJT+H6SaLDAz+oMe00ggKyidwc
B7MLxW5B5hYgQvQAGfwwBLiNofrgFbHqcms1G+fl7kZ74/5kvo37BFSbZ49iewML
LgjPEs8VhRAI2JMPpQIDAQAB
-----END PUBLIC KEY-----
";

#[test]
fn encrypted_password_differs_each_time() {
    let hello = greeting(MYSQL_8, "8.0.36", "caching_sha2_password", SEED);
    let wanted = packets(2, &[&[1, 4]]);
    let weak = Arc::new(Login {
        weak: InsecureAuth { any_key: true, ..InsecureAuth::default() },
        ..login("secret")
    });
    let encrypted = |session: &mut Session| {
        let (end, sent) = meet(session, &[hello.clone(), wanted.clone(), packets(4, &[PEM])], usize::MAX);
        assert_eq!((end, sent[2].len()), (Ok(Greeting::Send), 4 + 128));
        sent[2].clone()
    };
    let (mut one, mut other) = (Session::new(Arc::clone(&weak), [5; 18]), Session::new(weak, [6; 18]));
    let all = [encrypted(&mut one), encrypted(&mut one), encrypted(&mut other)];
    assert!(all[0] != all[1] && all[0] != all[2] && all[1] != all[2], "the same challenge and password");
}

#[test]
fn debug_output_hides_password() {
    let hello = greeting(MYSQL_8, "8.0.36", "caching_sha2_password", SEED);
    let private = with(login("secret"))().on_private_transport();
    let (_, sent, session) =
        both(|| with(login("secret"))().on_private_transport(), &[hello, packets(2, &[&[1, 4]])]);
    assert!(sent[1].ends_with(b"secret\0"), "the password is about to go out");
    let shown = format!("{private:?} {session:?}");
    let bytes = format!("{:?}", b"secret").trim_matches(['[', ']']).to_owned();
    assert!(!shown.contains("secret") && !shown.contains(&bytes), "{shown}");
}

#[test]
fn tls_starts_after_request() {
    let hello = greeting(MYSQL_8 | TLS, "8.0.36", "mysql_native_password", SEED);
    for tls in [TlsMode::IfOffered, TlsMode::Required] {
        let secure = Login { tls, ..login("secret") };
        let (end, sent, _) = both(with(secure), &[hello.clone(), packets(3, &[SUCCESS])]);
        assert_eq!(end, Ok(Greeting::Done));
        let (request, answer) = (&sent[0], &sent[1]);
        assert_eq!((request.len(), request[3], answer[3]), (36, 1, 2));
        assert_eq!(request[4..36], answer[4..36], "both begin alike");
        assert_eq!(request[5] & 8, 8, "the bit of TLS is set");
    }
    let early = [&hello[..], b"\x07\0\0\x02"].concat();
    let secure = Login { tls: TlsMode::IfOffered, ..login("secret") };
    let mut session = with(secure.clone())();
    session.greet();
    assert_eq!(session.greeted(&early), Ok((hello.len() - 1, Greeting::Send)));
    let fault = session.greeted(&early[hello.len() - 1..]).expect_err("a fault");
    assert!(fault.message().contains("unencrypted bytes arrived"), "{}", fault.message());

    let (end, sent, _) = both(with(secure), &[native(), packets(2, &[SUCCESS])]);
    assert_eq!((end, sent[0].len() > 36), (Ok(Greeting::Done), true), "without TLS, if there is none");
    let required = Login { tls: TlsMode::Required, ..login("secret") };
    assert_eq!(fault_of(required, &[native()]).class, ErrorClass::LoginRefused);
    let (_, sent, _) = both(with(login("secret")), &[hello]);
    assert!(sent[0].len() > 36, "unasked, there is none");
}

#[test]
fn sets_session_variables_before_first_statement() {
    let mut login = login("secret");
    let setting = |name: &str, value: &str| (name.to_owned(), value.to_owned());
    login.settings = vec![setting("sql_mode", "AN'SI"), setting("lock_wait_timeout", "5")];
    let welcome = packets(2, &[SUCCESS]);
    let (end, sent, session) =
        both(with(login.clone()), &[native(), welcome.clone(), packets(1, &[SUCCESS])]);
    assert_eq!(end, Ok(Greeting::Done));
    let statement = "\x03SET SESSION sql_mode = _utf8mb4 x'414e275349', SESSION lock_wait_timeout = 5";
    assert_eq!((sent[1][3], String::from_utf8_lossy(&sent[1][4..])), (0, statement.into()));
    assert!(session.outgoing().is_empty());
    let refused = packets(1, &[b"\xff\xa9\x04#HY000Unknown system variable"]);
    assert_eq!(
        fault_of(login.clone(), &[native(), welcome.clone(), refused]).class,
        ErrorClass::LoginRefused
    );
    login.settings = vec![setting("a; drop table b", "1")];
    let fault = fault_of(login, &[native(), welcome]);
    assert_eq!(fault.message(), "a setting of the session has a name that is none");
}

#[test]
fn session_can_reconnect() {
    for capabilities in [MYSQL_8, MARIADB, OLD] {
        let mut session = logged_in(capabilities);
        session.forget();
        assert_eq!((session.connection_id(), session.outgoing()), (0, &[][..]));
        let (end, _) = meet(&mut session, &[native(), packets(2, &[SUCCESS])], 5);
        assert_eq!(end, Ok(Greeting::Done));
    }
}
