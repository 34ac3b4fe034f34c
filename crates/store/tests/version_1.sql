-- A store of version 1 as SQLite dumps it, written by the program of that time: a run that ended, and one that was cut
-- short.
PRAGMA application_id = 1952804450;
PRAGMA user_version = 1;
PRAGMA foreign_keys=OFF;
BEGIN TRANSACTION;
CREATE TABLE run (
    number              INTEGER PRIMARY KEY,
    id                  TEXT NOT NULL UNIQUE,
    started_at_unix_ms  INTEGER NOT NULL,
    title               TEXT NOT NULL,
    plan_text           TEXT NOT NULL,
    plan                TEXT NOT NULL, -- JSON
    plan_hash           TEXT NOT NULL,
    tenbin_version      TEXT NOT NULL,
    host                TEXT NOT NULL, -- JSON
    load                TEXT NOT NULL, -- in words
    model               TEXT NOT NULL, -- closed, open
    warm_up_ns          INTEGER NOT NULL,
    planned_duration_ns INTEGER,
    stamps              TEXT NOT NULL, -- JSON list of sentences
    system              TEXT,          -- JSON
    variant             TEXT,
    study               TEXT,
    writer              TEXT NOT NULL  -- JSON: the process that writes it
) STRICT;
INSERT INTO run VALUES(1,'20261121-142501-mwtw',1795271101000,'http://127.0.0.1:8080/','100 users get / for 10 s','{"load":{"users":100},"ratio":0.1}','c0ffee','0.1.0','{"cpus":2}','100 users, closed','closed',2000000000,10000000000,'["TLS certificates were not verified (--insecure)"]',NULL,NULL,NULL,'{"pid":29929,"boot_id":"0f0e0d0c-0b0a-4908-8706-050403020100","start_ticks":1186646}');
INSERT INTO run VALUES(2,'20261121-142601-se1k',1795271161000,'http://127.0.0.1:8080/','100 users get / for 10 s','{"load":{"users":100},"ratio":0.1}','c0ffee','0.1.0','{"cpus":2}','100 users, closed','closed',2000000000,10000000000,'["TLS certificates were not verified (--insecure)"]',NULL,NULL,NULL,'{"pid":29929,"boot_id":"0f0e0d0c-0b0a-4908-8706-050403020100","start_ticks":1186646}');
CREATE TABLE step (
    run    INTEGER NOT NULL REFERENCES run (number) ON DELETE CASCADE,
    number INTEGER NOT NULL, -- from 0, in the order of the scenario
    name   TEXT NOT NULL,
    PRIMARY KEY (run, number)
) STRICT, WITHOUT ROWID;
INSERT INTO step VALUES(1,0,'front page');
INSERT INTO step VALUES(1,1,'search');
INSERT INTO step VALUES(2,0,'front page');
INSERT INTO step VALUES(2,1,'search');
CREATE TABLE ending (
    run              INTEGER PRIMARY KEY REFERENCES run (number) ON DELETE CASCADE,
    ended_at_unix_ms INTEGER NOT NULL,
    verdict          TEXT NOT NULL, -- complete, degraded, partial, aborted, invalid
    validity         TEXT NOT NULL, -- JSON
    generator        TEXT NOT NULL, -- JSON
    spread           TEXT,          -- JSON
    planned_left     INTEGER NOT NULL,
    notes            TEXT NOT NULL, -- JSON list of sentences
    resolved_ns      INTEGER,
    tls              TEXT,
    system           TEXT           -- JSON
) STRICT;
INSERT INTO ending VALUES(1,1795271113000,'degraded','{"verdict":"suspect","causes":[{"code":"generator_cpu","sentence":"a thread used 97 % of its core","remedy":"use more threads"}]}','{"cpu_user_s":0.30000000000000004,"cpu_sys_s":3.3,"rss_peak_bytes":12582912,"threads":2,"wake_lag_p99_us":28.000000000000004,"thread_cpu_share_max":null}','{"connections":100,"requests":[1.0,2.0,0.3333333333333333],"response_mean_ns":[0.1,0.2,0.3],"response_max_ns":null}',3,'["short"]',1234,'TLSv1.3 TLS13_AES_256_GCM_SHA384 X25519','{"cpu_s":9.25}');
CREATE TABLE part (
    number           INTEGER PRIMARY KEY,
    run              INTEGER NOT NULL,
    step             INTEGER NOT NULL,
    second           INTEGER NOT NULL, -- since the load began
    phase            INTEGER NOT NULL, -- 0 warm-up, 1 measured
    planned          INTEGER NOT NULL,
    sent             INTEGER NOT NULL,
    not_sent         INTEGER NOT NULL,
    ok               INTEGER NOT NULL,
    refused          INTEGER NOT NULL,
    failed           INTEGER NOT NULL,
    timed_out        INTEGER NOT NULL,
    unfinished       INTEGER NOT NULL,
    received_bytes   INTEGER NOT NULL,
    sent_bytes       INTEGER NOT NULL,
    connections      INTEGER NOT NULL, -- established
    first_sent_ns    INTEGER,          -- since the load began
    last_finished_ns INTEGER,          -- since the load began
    other_errors     INTEGER NOT NULL, -- whose kind is not in table error
    histograms       BLOB NOT NULL,
    FOREIGN KEY (run, step) REFERENCES step (run, number) ON DELETE CASCADE
) STRICT;
INSERT INTO part VALUES(1,1,0,0,0,51,50,1,10,10,10,10,10,5000,700,2,70,88048,7,X'0ac0b802edb802e1b6180002e2310701030ac1b802eeb802ebb6180002e23107010314c2b802f0b802f4ed300002e2310c01080afab702a7b802a5b1180003df3102010601020afbb702a8b802afb1180003df31010107010214fcb702aab802fce2300003df3102010d01050a4646bc050001460a0a4646bc050001460a144646f80a000146141eeae901eae901ece6360001ce2e1e01d8ad03d8ad03d8ad030001b6350101b88506b88506b8850600018a3c01');
INSERT INTO part VALUES(2,1,0,2,1,51,50,1,10,10,10,10,10,5000,700,2,2000000070,2000088960,7,X'0ac0b802c4bf0294d818000ae231010301030103010301030103010301040103010ad4b802d8bf02dcd918000ae2310103010301040103010301030103010301030114e8b80280c00290b8310010e331020301010102010101020101010201010102010101030203020302030101010afab702febe02d8d218000adf31010301040103010301030103010301030103010a8eb80292bf02a0d418000ae0310103010301030103010401030103010301030114a2b802babf0298ad31000fe13102030203020301010102010101020101010201010102010101030203020a4646bc050001460a0a4646bc050001460a144646f80a000146141eeae901eae901ece6360001ce2e1e01d8ad03d8ad03d8ad030001b6350101b88506b88506b8850600018a3c01');
INSERT INTO part VALUES(3,1,1,3,1,51,50,1,10,10,10,10,10,5000,700,2,3000000070,3014488000,7,X'0ac0b802a0b5ba06e0a4b020000ae23101fd2901ed0701880501ee0201ee02019f0201b70101b70101b701010aa0e01480ddcc06a0b2e721000ab04a01d41301da0601bf0401ee0201ef0201fa0101b70101b70101b7010114808827c0acf106808df4470014e25101c90401e90901930101ca0401920101e302014a01a502014901a50201430192010125019201012501920101250193010124010afab702dab4ba06a49fb020000adf3101802a01ed0701880501ee0201ee02019f0201b70101b70101b701010adadf14badccc06e4ace721000aaf4a01d51301da0601bf0401ee0201ef0201fa0101b70101b70101b7010114ba8727faabf1068882f4470014e15101ca0401e90901930101ca0401920101e302014a01a502014901a50201430192010125019201012501920101250193010124010a4646bc050001460a0a4646bc050001460a144646f80a000146141eeae901eae901ece6360001ce2e1e01d8ad03d8ad03d8ad030001b6350101b88506b88506b8850600018a3c01');
INSERT INTO part VALUES(4,2,0,0,0,51,50,1,10,10,10,10,10,5000,700,2,70,88048,7,X'0ac0b802edb802e1b6180002e2310701030ac1b802eeb802ebb6180002e23107010314c2b802f0b802f4ed300002e2310c01080afab702a7b802a5b1180003df3102010601020afbb702a8b802afb1180003df31010107010214fcb702aab802fce2300003df3102010d01050a4646bc050001460a0a4646bc050001460a144646f80a000146141eeae901eae901ece6360001ce2e1e01d8ad03d8ad03d8ad030001b6350101b88506b88506b8850600018a3c01');
CREATE TABLE status (
    part     INTEGER NOT NULL REFERENCES part (number) ON DELETE CASCADE,
    position INTEGER NOT NULL, -- order of first appearance
    status   INTEGER NOT NULL,
    count    INTEGER NOT NULL,
    PRIMARY KEY (part, position)
) STRICT, WITHOUT ROWID;
INSERT INTO status VALUES(1,0,200,10);
INSERT INTO status VALUES(2,0,200,10);
INSERT INTO status VALUES(3,0,200,10);
INSERT INTO status VALUES(4,0,200,10);
CREATE TABLE error (
    part     INTEGER NOT NULL REFERENCES part (number) ON DELETE CASCADE,
    position INTEGER NOT NULL, -- order of first appearance
    class    TEXT NOT NULL,
    code     INTEGER NOT NULL,
    message  TEXT NOT NULL,    -- may quote the peer
    count    INTEGER NOT NULL,
    PRIMARY KEY (part, position)
) STRICT, WITHOUT ROWID;
INSERT INTO error VALUES(1,0,'status',503,'HTTP 503‮',1);
INSERT INTO error VALUES(1,1,'reset',104,'the peer reset the connection',1);
INSERT INTO error VALUES(2,0,'status',503,'HTTP 503‮',1);
INSERT INTO error VALUES(2,1,'reset',104,'the peer reset the connection',1);
INSERT INTO error VALUES(3,0,'status',503,'HTTP 503‮',1);
INSERT INTO error VALUES(3,1,'reset',104,'the peer reset the connection',1);
INSERT INTO error VALUES(4,0,'status',503,'HTTP 503‮',1);
INSERT INTO error VALUES(4,1,'reset',104,'the peer reset the connection',1);
CREATE TABLE request (
    part           INTEGER NOT NULL REFERENCES part (number) ON DELETE CASCADE,
    position       INTEGER NOT NULL,
    outcome        TEXT NOT NULL, -- ok, refused, failed, timed_out, unfinished
    status         INTEGER NOT NULL,
    connection     INTEGER NOT NULL,
    intended_ns    INTEGER NOT NULL,
    sent_ns        INTEGER NOT NULL,
    first_byte_ns  INTEGER,
    finished_ns    INTEGER NOT NULL,
    connect_ns     INTEGER NOT NULL,
    received_bytes INTEGER NOT NULL,
    sent_bytes     INTEGER NOT NULL,
    PRIMARY KEY (part, position)
) STRICT, WITHOUT ROWID;
INSERT INTO request VALUES(1,0,'ok',200,0,0,70,30000,40000,9,100,14);
INSERT INTO request VALUES(1,1,'refused',0,1,1000,1070,31000,41001,9,100,14);
INSERT INTO request VALUES(1,2,'failed',0,2,2000,2070,NULL,42002,9,100,14);
INSERT INTO request VALUES(2,0,'ok',200,0,2000000000,2000000070,2000030000,2000040000,9,100,14);
INSERT INTO request VALUES(2,1,'refused',0,1,2000001000,2000001070,2000031000,2000041020,9,100,14);
INSERT INTO request VALUES(2,2,'failed',0,2,2000002000,2000002070,NULL,2000042040,9,100,14);
INSERT INTO request VALUES(3,0,'ok',200,0,3000000000,3000000070,3000030000,3000040000,9,100,14);
INSERT INTO request VALUES(3,1,'refused',0,1,3000001000,3000001070,3000031000,3000341000,9,100,14);
INSERT INTO request VALUES(3,2,'failed',0,2,3000002000,3000002070,NULL,3000642000,9,100,14);
INSERT INTO request VALUES(4,0,'ok',200,0,0,70,30000,40000,9,100,14);
INSERT INTO request VALUES(4,1,'refused',0,1,1000,1070,31000,41001,9,100,14);
INSERT INTO request VALUES(4,2,'failed',0,2,2000,2070,NULL,42002,9,100,14);
CREATE INDEX run_by_start ON run (started_at_unix_ms, number);
CREATE INDEX part_by_second ON part (run, second, phase, step);
COMMIT;
