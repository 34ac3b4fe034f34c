//! A small TLS server with certificates of its own making, good and bad.
