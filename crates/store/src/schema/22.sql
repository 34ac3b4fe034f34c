-- Version 22 of the store: TLS handshakes that resumed a session. It adds to version 21.

-- Number of resumed handshakes, warm-up included; null in a run that was kept before, which resumed none.
ALTER TABLE ending ADD COLUMN resumed_handshakes INTEGER;
