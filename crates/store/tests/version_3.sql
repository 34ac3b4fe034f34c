-- A store of version 3 as SQLite dumps it, written by the program of that time: a run of transactions on its own, and a study
-- of which one run was measured.
PRAGMA application_id = 1952804450;
PRAGMA user_version = 3;
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
, place INTEGER REFERENCES place (number) ON DELETE CASCADE, system_version TEXT, latency_limit_ns INTEGER, connects_each INTEGER NOT NULL DEFAULT 0) STRICT;
INSERT INTO run VALUES(1,'20261121-142501-dpb9',1795271101000,'http://127.0.0.1:8080/','100 users get / for 10 s','{"load":{"users":100},"ratio":0.1}','c0ffee','0.1.0','{"cpus":2}','100 users, closed','closed',2000000000,10000000000,'["TLS certificates were not verified (--insecure)"]',NULL,NULL,NULL,'{"pid":5139,"boot_id":"44cb1cf2-14d4-4e03-b808-bb005908d8d1","start_ticks":4808793}',NULL,'puma 8.0.0',50000000,1);
INSERT INTO run VALUES(2,'20261121-142601-vx50',1795271161000,'http://127.0.0.1:8080/','100 users get / for 10 s','{"load":{"users":100},"ratio":0.1}','c0ffee','0.1.0','{"cpus":2}','100 users, closed','closed',2000000000,10000000000,'["TLS certificates were not verified (--insecure)"]',NULL,NULL,NULL,'{"pid":5139,"boot_id":"44cb1cf2-14d4-4e03-b808-bb005908d8d1","start_ticks":4808793}',1,'puma 8.0.0',NULL,0);
CREATE TABLE step (
    run    INTEGER NOT NULL REFERENCES run (number) ON DELETE CASCADE,
    number INTEGER NOT NULL, -- from 0, in the order of the scenario
    name   TEXT NOT NULL, unit TEXT NOT NULL DEFAULT 'requests', part_of INTEGER,
    PRIMARY KEY (run, number)
) STRICT, WITHOUT ROWID;
INSERT INTO step VALUES(1,0,'front page','transactions',NULL);
INSERT INTO step VALUES(1,1,'search','transactions',NULL);
INSERT INTO step VALUES(1,2,'SELECT 1','requests',0);
INSERT INTO step VALUES(1,3,'COMMIT','requests',1);
INSERT INTO step VALUES(2,0,'front page','requests',NULL);
INSERT INTO step VALUES(2,1,'search','requests',NULL);
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
, not_available TEXT NOT NULL DEFAULT '[]') STRICT;
INSERT INTO ending VALUES(1,1795271113000,'degraded','{"verdict":"suspect","causes":[{"code":"generator_cpu","sentence":"a thread used 97 % of its core","remedy":"use more threads"}]}','{"cpu_user_s":0.30000000000000004,"cpu_sys_s":3.3,"rss_peak_bytes":12582912,"threads":2,"wake_lag_p99_us":28.000000000000004,"thread_cpu_share_max":null}','{"connections":100,"requests":[1.0,2.0,0.3333333333333333],"response_mean_ns":[0.1,0.2,0.3],"response_max_ns":null}',3,'["short"]',1234,'TLSv1.3 TLS13_AES_256_GCM_SHA384 X25519','{"cpu_s":9.25}','[["pressure","the kernel was built without it"]]');
INSERT INTO ending VALUES(2,1795271113000,'degraded','{"verdict":"suspect","causes":[{"code":"generator_cpu","sentence":"a thread used 97 % of its core","remedy":"use more threads"}]}','{"cpu_user_s":0.30000000000000004,"cpu_sys_s":3.3,"rss_peak_bytes":12582912,"threads":2,"wake_lag_p99_us":28.000000000000004,"thread_cpu_share_max":null}','{"connections":100,"requests":[1.0,2.0,0.3333333333333333],"response_mean_ns":[0.1,0.2,0.3],"response_max_ns":null}',3,'["short"]',1234,'TLSv1.3 TLS13_AES_256_GCM_SHA384 X25519','{"cpu_s":9.25}','[["pressure","the kernel was built without it"]]');
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
INSERT INTO part VALUES(1,1,0,0,0,51,50,1,10,10,10,10,10,5000,700,2,70,88000,7,X'0ac0b802c0b80280b5180001e2310a0ac0b802c0b80280b5180001e2310a14c0b802c0b80280ea300001e231140afab702fab702c4af180001df310a0afab702fab702c4af180001df310a14fab702fab70288df300001df31140a4646bc050001460a0a4646bc050001460a144646f80a000146141eeae901eae901ece6360001ce2e1e01d8ad03d8ad03d8ad030001b6350101b88506b88506b8850600018a3c01');
INSERT INTO part VALUES(2,1,0,2,1,51,50,1,10,10,10,10,10,5000,700,2,2000000070,2000088960,7,X'0ac0b802c4bf0294d818000ae231010301030103010301030103010301040103010ad4b802d8bf02dcd918000ae2310103010301040103010301030103010301030114e8b80280c00290b8310010e331020301010102010101020101010201010102010101030203020302030101010afab702febe02d8d218000adf31010301040103010301030103010301030103010a8eb80292bf02a0d418000ae0310103010301030103010401030103010301030114a2b802babf0298ad31000fe13102030203020301010102010101020101010201010102010101030203020a4646bc050001460a0a4646bc050001460a144646f80a000146141eeae901eae901ece6360001ce2e1e01d8ad03d8ad03d8ad030001b6350101b88506b88506b8850600018a3c01');
INSERT INTO part VALUES(3,1,1,3,1,51,50,1,10,10,10,10,10,5000,700,2,3000000070,3014488000,7,X'0ac0b802a0b5ba06e0a4b020000ae23101fd2901ed0701880501ee0201ee02019f0201b70101b70101b701010aa0e01480ddcc06a0b2e721000ab04a01d41301da0601bf0401ee0201ef0201fa0101b70101b70101b7010114808827c0acf106808df4470014e25101c90401e90901930101ca0401920101e302014a01a502014901a50201430192010125019201012501920101250193010124010afab702dab4ba06a49fb020000adf3101802a01ed0701880501ee0201ee02019f0201b70101b70101b701010adadf14badccc06e4ace721000aaf4a01d51301da0601bf0401ee0201ef0201fa0101b70101b70101b7010114ba8727faabf1068882f4470014e15101ca0401e90901930101ca0401920101e302014a01a502014901a50201430192010125019201012501920101250193010124010a4646bc050001460a0a4646bc050001460a144646f80a000146141eeae901eae901ece6360001ce2e1e01d8ad03d8ad03d8ad030001b6350101b88506b88506b8850600018a3c01');
INSERT INTO part VALUES(4,1,3,3,1,51,50,1,10,10,10,10,10,5000,700,2,3000000070,3000088336,7,X'0ac0b802fbba02a7c118000ae231010101010101010101010101010101010101010ac7b80282bb02edc118000ae2310101010101010101010101010101010101020114ceb80290bb02ac8531000be2310201020102010201010102010101020102010201020afab702b5ba02ebbb18000adf31010101020101010101010101010101010101010a81b802bcba02b1bc18000ae031010101010101010101010101010101010101011488b802caba02b4fa30000be0310201020102010201020102010101020101010201020a4646bc050001460a0a4646bc050001460a144646f80a000146141eeae901eae901ece6360001ce2e1e01d8ad03d8ad03d8ad030001b6350101b88506b88506b8850600018a3c01');
INSERT INTO part VALUES(5,2,0,2,1,51,50,1,10,10,10,10,10,5000,700,2,2000000070,2000088960,7,X'0ac0b802c4bf0294d818000ae231010301030103010301030103010301040103010ad4b802d8bf02dcd918000ae2310103010301040103010301030103010301030114e8b80280c00290b8310010e331020301010102010101020101010201010102010101030203020302030101010afab702febe02d8d218000adf31010301040103010301030103010301030103010a8eb80292bf02a0d418000ae0310103010301030103010401030103010301030114a2b802babf0298ad31000fe13102030203020301010102010101020101010201010102010101030203020a4646bc050001460a0a4646bc050001460a144646f80a000146141eeae901eae901ece6360001ce2e1e01d8ad03d8ad03d8ad030001b6350101b88506b88506b8850600018a3c01');
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
INSERT INTO status VALUES(5,0,200,10);
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
INSERT INTO error VALUES(5,0,'status',503,'HTTP 503‮',1);
INSERT INTO error VALUES(5,1,'reset',104,'the peer reset the connection',1);
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
INSERT INTO request VALUES(1,1,'refused',0,1,1000,1070,31000,41000,9,100,14);
INSERT INTO request VALUES(1,2,'failed',0,2,2000,2070,NULL,42000,9,100,14);
INSERT INTO request VALUES(2,0,'ok',200,0,2000000000,2000000070,2000030000,2000040000,9,100,14);
INSERT INTO request VALUES(2,1,'refused',0,1,2000001000,2000001070,2000031000,2000041020,9,100,14);
INSERT INTO request VALUES(2,2,'failed',0,2,2000002000,2000002070,NULL,2000042040,9,100,14);
INSERT INTO request VALUES(3,0,'ok',200,0,3000000000,3000000070,3000030000,3000040000,9,100,14);
INSERT INTO request VALUES(3,1,'refused',0,1,3000001000,3000001070,3000031000,3000341000,9,100,14);
INSERT INTO request VALUES(3,2,'failed',0,2,3000002000,3000002070,NULL,3000642000,9,100,14);
INSERT INTO request VALUES(4,0,'ok',200,0,3000000000,3000000070,3000030000,3000040000,9,100,14);
INSERT INTO request VALUES(4,1,'refused',0,1,3000001000,3000001070,3000031000,3000041007,9,100,14);
INSERT INTO request VALUES(4,2,'failed',0,2,3000002000,3000002070,NULL,3000042014,9,100,14);
INSERT INTO request VALUES(5,0,'ok',200,0,2000000000,2000000070,2000030000,2000040000,9,100,14);
INSERT INTO request VALUES(5,1,'refused',0,1,2000001000,2000001070,2000031000,2000041020,9,100,14);
INSERT INTO request VALUES(5,2,'failed',0,2,2000002000,2000002070,NULL,2000042040,9,100,14);
CREATE TABLE study (
    number             INTEGER PRIMARY KEY,
    id                 TEXT NOT NULL UNIQUE,
    started_at_unix_ms INTEGER NOT NULL,
    title              TEXT NOT NULL,
    question           TEXT,
    source             TEXT NOT NULL,    -- the plan file as it was
    plan_hash          TEXT NOT NULL,
    tenbin_version     TEXT NOT NULL,
    host               TEXT NOT NULL,    -- JSON
    seed               INTEGER NOT NULL, -- 64 bits, of which the highest is the sign here
    is_quick           INTEGER NOT NULL, -- 0, 1
    compare_by         TEXT NOT NULL,    -- a metric
    higher_is_better   INTEGER NOT NULL, -- 0, 1
    matters            REAL NOT NULL,    -- the smallest difference that matters, as a share
    blocks             INTEGER NOT NULL,
    gates              TEXT NOT NULL,    -- JSON list of texts
    stamps             TEXT NOT NULL,    -- JSON list of sentences
    writer             TEXT NOT NULL     -- JSON: the process that writes it
) STRICT;
INSERT INTO study VALUES(1,'s-20261121-142501-69g3',1795271101000,'app servers''; DROP TABLE study; --',NULL,replace('load: { users: 100 }\n','\n',char(10)),'c0ffee','0.1.0','{"cpus":2}',-1,1,'throughput',1,0.3000000000000000444,2,'["p(99)<200ms"]','["quick: it shows that the plan works, and no more"]','{"pid":5139,"boot_id":"44cb1cf2-14d4-4e03-b808-bb005908d8d1","start_ticks":4808793}');
CREATE TABLE study_ending (
    study            INTEGER PRIMARY KEY REFERENCES study (number) ON DELETE CASCADE,
    ended_at_unix_ms INTEGER NOT NULL,
    verdict          TEXT NOT NULL -- complete, degraded, partial, aborted, invalid
) STRICT;
INSERT INTO study_ending VALUES(1,0,'partial');
CREATE TABLE place (
    number   INTEGER PRIMARY KEY,
    study    INTEGER NOT NULL REFERENCES study (number) ON DELETE CASCADE,
    position INTEGER NOT NULL, -- from 0, in the order of the study
    block    INTEGER NOT NULL, -- from 0
    system   TEXT NOT NULL,
    variant  TEXT NOT NULL,    -- the setting of its knobs in words
    knobs    TEXT NOT NULL,    -- JSON list of pairs of texts
    load     TEXT NOT NULL,    -- its name
    UNIQUE (study, position)
) STRICT;
INSERT INTO place VALUES(1,1,0,0,'puma','workers=1','[["workers","1"]]','steady');
INSERT INTO place VALUES(2,1,1,0,'puma','workers=8','[["workers","8"]]','steady');
INSERT INTO place VALUES(3,1,2,0,'unicorn','','[]','steady');
INSERT INTO place VALUES(4,1,3,1,'puma','workers=1','[["workers","1"]]','steady');
INSERT INTO place VALUES(5,1,4,1,'puma','workers=8','[["workers","8"]]','steady');
INSERT INTO place VALUES(6,1,5,1,'unicorn','','[]','steady');
CREATE TABLE failure (
    run     INTEGER PRIMARY KEY REFERENCES ending (run) ON DELETE CASCADE,
    stage   TEXT NOT NULL,
    process TEXT,
    what    TEXT NOT NULL,
    way_out TEXT NOT NULL
) STRICT;
CREATE TABLE reading_kind (
    run     INTEGER NOT NULL REFERENCES run (number) ON DELETE CASCADE,
    number  INTEGER NOT NULL, -- from 0
    subject TEXT NOT NULL,    -- machine, system, generator, or a process
    metric  TEXT NOT NULL,
    label   TEXT NOT NULL,    -- such as core0; may be empty
    PRIMARY KEY (run, number)
) STRICT, WITHOUT ROWID;
INSERT INTO reading_kind VALUES(1,0,'machine','cpu_user_s','core0');
INSERT INTO reading_kind VALUES(1,1,'machine','cpu_user_s','core1');
CREATE TABLE readings (
    number INTEGER PRIMARY KEY,
    run    INTEGER NOT NULL REFERENCES run (number) ON DELETE CASCADE,
    second INTEGER NOT NULL, -- since the load began
    packed BLOB NOT NULL
) STRICT;
INSERT INTO readings VALUES(1,1,2,X'00083fd33333333333340100');
CREATE TABLE output (
    number        INTEGER PRIMARY KEY,
    run           INTEGER NOT NULL REFERENCES run (number) ON DELETE CASCADE,
    process       TEXT NOT NULL,
    text          BLOB NOT NULL,
    dropped_bytes INTEGER NOT NULL
) STRICT;
CREATE TABLE gate (
    run      INTEGER NOT NULL REFERENCES run (number) ON DELETE CASCADE,
    position INTEGER NOT NULL, -- from 0, in the order of the plan
    text     TEXT NOT NULL,
    step     TEXT,             -- null: all steps
    observed REAL,             -- null: could not be told
    bound    REAL NOT NULL,
    unit     TEXT NOT NULL,
    holds    INTEGER NOT NULL, -- 0, 1
    PRIMARY KEY (run, position)
) STRICT, WITHOUT ROWID;
INSERT INTO gate VALUES(1,0,'p(99)<200ms',NULL,150000000.0,200000000.0,'ns',1);
INSERT INTO gate VALUES(1,1,'search: errors<0.1%','search',0.3000000000000000444,0.0010000000000000000208,'share',0);
INSERT INTO gate VALUES(1,2,'p(99)<1s from 10s to 20s',NULL,NULL,1000000000.0,'ns',0);
CREATE INDEX run_by_start ON run (started_at_unix_ms, number);
CREATE INDEX part_by_second ON part (run, second, phase, step);
CREATE INDEX study_by_start ON study (started_at_unix_ms, number);
CREATE INDEX run_by_place ON run (place);
CREATE INDEX readings_by_second ON readings (run, second);
CREATE INDEX output_by_run ON output (run);
COMMIT;
