//! Creates a self-signed P-256 certificate that is valid for two days.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use anyhow::{Context as _, ensure};

use harness::child;
use harness::interrupt::Interrupt;

const TIMEOUT: Duration = Duration::from_secs(20);

/// Paths of certificate and key, in PEM format.
#[derive(Debug)]
pub(crate) struct Certificate {
    pub(crate) certificate: PathBuf,
    pub(crate) key: PathBuf,
}

/// Creates certificate and key in `folder`.
///
/// # Errors
///
/// If openssl fails. The message is its output.
pub(crate) fn make(folder: &Path, openssl: &Path, interrupt: &Interrupt) -> anyhow::Result<Certificate> {
    let made = Certificate { certificate: folder.join("certificate.pem"), key: folder.join("key.pem") };
    let mut command = Command::new(openssl);
    command
        .args([
            "req",
            "-x509",
            "-newkey",
            "ec",
            "-pkeyopt",
            "ec_paramgen_curve:P-256",
            "-nodes",
            "-days",
            "2",
        ])
        .args(["-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1"])
        .arg("-keyout")
        .arg(&made.key)
        .arg("-out")
        .arg(&made.certificate);
    let output =
        child::run(&mut command, TIMEOUT, interrupt).map_err(anyhow::Error::msg).context("no certificate")?;
    ensure!(output.status.success(), "no certificate: openssl says {}", output.stderr.trim());
    Ok(made)
}
