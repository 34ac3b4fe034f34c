//! `--control`: Unix socket at which a running proxy takes orders, one JSON object per line.

use std::fs::{self, Permissions};
use std::io::{self, BufRead, BufReader, Read, Write};
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::sync::mpsc::{self, Sender};
use std::thread;
use std::time::Duration;

use proxy::{Jitter, Running, Settings};
use serde_json::{Map, Value, json};

use super::{ProxyEvent, bandwidth, counters_json, delay, delay_of_both, drop_kind, duration};

/// Max bytes of an order, which is one line.
const LINE_BYTES_MAX: u64 = 64 << 10;
/// Time-out of each read and write, after which the next client gets its turn.
const TIMEOUT: Duration = Duration::from_secs(5);

/// Control socket. Its file is removed when this is dropped.
pub(super) struct Control {
    path: PathBuf,
}

impl Drop for Control {
    fn drop(&mut self) {
        // Another process may have removed it already.
        let _ = fs::remove_file(&self.path);
    }
}

/// Listens, and passes on each line with a channel for its answer.
pub(super) fn listen(path: &Path, events: Sender<ProxyEvent>) -> io::Result<Control> {
    let listener = UnixListener::bind(path)?;
    let control = Control { path: path.to_owned() };
    fs::set_permissions(path, Permissions::from_mode(0o600))?;
    thread::Builder::new().name("control".to_owned()).spawn(move || {
        for stream in listener.incoming() {
            // A connection that breaks off must not affect the next one.
            let _ = stream.and_then(|stream| serve_client(&stream, &events));
        }
    })?;
    Ok(control)
}

fn serve_client(stream: &UnixStream, events: &Sender<ProxyEvent>) -> io::Result<()> {
    stream.set_read_timeout(Some(TIMEOUT))?;
    stream.set_write_timeout(Some(TIMEOUT))?;
    let mut reader = BufReader::new(stream);
    loop {
        let mut line = String::new();
        if reader.by_ref().take(LINE_BYTES_MAX).read_line(&mut line)? == 0 {
            return Ok(());
        }
        let (sender, answer) = mpsc::channel();
        if events.send(ProxyEvent::Order(line, sender)).is_err() {
            return Ok(());
        }
        let Ok(answer) = answer.recv() else { return Ok(()) };
        (&mut &*stream).write_all(answer.as_bytes())?;
    }
}

/// Settings at the start of the proxy, and their changes by orders.
pub(super) struct State {
    base: Settings,
    changed: Option<Settings>,
    is_cut: bool,
}

impl State {
    pub(super) fn new(base: Settings) -> Self {
        Self { base, changed: None, is_cut: false }
    }

    /// Obeys the order in a line, and returns the line of the answer.
    pub(super) fn execute(&mut self, line: &str, running: &Running) -> String {
        let answer = match self.order(line, running) {
            Ok(answer) => answer.unwrap_or_else(|| json!({ "ok": true })),
            Err(error) => json!({ "ok": false, "error": error }),
        };
        format!("{answer}\n")
    }

    fn order(&mut self, line: &str, running: &Running) -> Result<Option<Value>, String> {
        let order: Map<String, Value> =
            serde_json::from_str(line).map_err(|error| format!("the order is not a JSON object: {error}"))?;
        match order.get("order").and_then(Value::as_str) {
            Some("change") => self.changed = Some(changed(self.base, &order)?),
            Some("restore") => self.changed = None,
            Some("cut") => self.is_cut = true,
            Some("mend") => self.is_cut = false,
            Some("reset") => {
                running.reset_all();
                return Ok(None);
            }
            Some("stall") => {
                let lasting = text(&order, "for")?.ok_or("`stall` needs `for`")?;
                running.stall(duration(lasting)?);
                return Ok(None);
            }
            Some("counters") => return Ok(Some(counters_json(&running.counters(), "counters"))),
            other => {
                let known = "change, restore, cut, mend, reset, stall, counters";
                return Err(format!("{:?} is no order; write one of {known}", other.unwrap_or_default()));
            }
        }
        running.change(Settings { is_cut: self.is_cut, ..self.changed.unwrap_or(self.base) });
        Ok(None)
    }
}

fn text<'a>(order: &'a Map<String, Value>, key: &str) -> Result<Option<&'a str>, String> {
    let value = order.get(key);
    value.map(|value| value.as_str().ok_or_else(|| format!("`{key}` is not a text"))).transpose()
}

/// Settings at the start of the proxy, changed by the keys of the order.
fn changed(base: Settings, order: &Map<String, Value>) -> Result<Settings, String> {
    let mut settings = base;
    for key in order.keys() {
        let Some(value) = text(order, key)? else { continue };
        match key.as_str() {
            "order" => {}
            "delay" => settings.delay = delay(value)?,
            "round-trip" => settings.delay = delay_of_both(value)?,
            "jitter" => {
                let spread = settings.jitter.map(|jitter| jitter.spread).unwrap_or_default();
                settings.jitter = Some(Jitter { by: delay(value)?, spread });
            }
            "bandwidth" => settings.bandwidth = Some(bandwidth(value)?),
            "drop-new" => settings.new_connections = drop_kind(value)?,
            other => return Err(format!("`{other}` cannot be changed")),
        }
    }
    Ok(settings)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn order(text: &str) -> Result<Settings, String> {
        changed(Settings::default(), &serde_json::from_str(text).expect("JSON"))
    }

    #[test]
    fn order_changes_only_the_settings_it_names() {
        let settings =
            order(r#"{"order":"change","round-trip":"50ms","bandwidth":"1MB/s","drop-new":"close"}"#);
        let settings = settings.expect("settings");
        assert_eq!(settings.delay, Duration::from_millis(25));
        assert_eq!(settings.bandwidth.map(u64::from), Some(1_000_000));
        assert_eq!(settings.new_connections, proxy::NewConnections::Close);
        for wrong in [r#"{"delay":5}"#, r#"{"delay":"soon"}"#, r#"{"seed":"1"}"#, r#"{"drop-new":"all"}"#] {
            assert!(order(wrong).is_err(), "{wrong}");
        }
    }
}
