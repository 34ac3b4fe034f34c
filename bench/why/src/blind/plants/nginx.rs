//! Plants in nginx, Redis, and memcached.

use super::Language::C;
use super::Part::{Before, Nginx, Peer, Server, System};
use super::{Plant, WAITS};

const PROXY: &str = "proxy_http_version 1.1; proxy_set_header Connection ''; proxy_pass http://stock;";
const STOCK: &str = "upstream stock { server 127.0.0.1:{port.stock}; keepalive 64; }";

pub(super) const PLANTS: &[Plant] = &[
    Plant::new("nginx-rsa-handshakes", "Every request has a connection of its own, with a handshake and a key of 4,096 bits.")
        .on(&[
            Before("openssl req -x509 -newkey rsa:4096 -nodes -keyout {dir}/key.pem -out {dir}/cert.pem -days 2 -subj /CN=localhost"),
            Nginx(&[
                ("main", "worker_processes 1;"),
                ("listen", "ssl"),
                ("server", "ssl_certificate {dir}/cert.pem; ssl_certificate_key {dir}/key.pem;"),
                ("location", "return 200 ok;"),
            ]),
            System("url: 'https://127.0.0.1:{port}'"),
            System("insecure: true"),
        ])
        .load("users: 8, keep-alive: [[false|true]]")
        .right(&["one_core", "*:handshake/tls"])
        .vague(&["machine_cpu", "connections"]),
    Plant::new("nginx-sticky-backend", "A hash sends all requests to one of two backends, which serves four at a time.")
        .on(&[
            Peer("red", C, "tenant=4 sleep=20000 leave"),
            Peer("blue", C, "tenant=4 sleep=20000 leave"),
            Nginx(&[
                ("main", "worker_processes 1;"),
                ("http", "upstream stock { [[ip_hash;|]] server 127.0.0.1:{port.red}; server 127.0.0.1:{port.blue}; keepalive 64; }"),
                ("location", PROXY),
            ]),
        ])
        .right(&["dependency", "pool", "*:backend/upstream"])
        .vague(&["waiting", "lock"]),
    Plant::new("nginx-upstream-connections", "nginx opens a connection for each request to a backend that accepts one every 5 ms; a report computes.")
        .on(&[
            Peer("stock", C, "accept=5000"),
            Peer("report", C, "sleep=0 [[h:-- cpu=20000 sleep=20000|]]"),
            Nginx(&[
                ("main", "worker_processes 1;"),
                ("http", "upstream stock { server 127.0.0.1:{port.stock}; [[|keepalive 64;]] }"),
                ("location", PROXY),
            ]),
        ])
        .herring()
        .right(&["listen_queue", "dependency"])
        .vague(&["connections", "waiting", "pool"]),
    Plant::new("nginx-gzip", "One worker packs 300 KB of text for each request, at level 9.")
        .on(&[
            Before("sh -c 'seq 1 50000 > {dir}/text.txt'"),
            Nginx(&[
                ("main", "worker_processes 1;"),
                ("http", "gzip [[on|off]]; gzip_comp_level 9; gzip_types text/plain; types { text/plain txt; }"),
            ]),
        ])
        .scenario("scenario: [ { get: /text.txt, headers: { Accept-Encoding: gzip } } ]")
        .load("users: 8")
        .right(&["one_core"])
        .vague(&["machine_cpu"]),
    Plant::new("nginx-limit-conn", "nginx serves four requests of a client at once, and answers the others 503.")
        .on(&[
            Peer("stock", C, "sleep=20000"),
            Nginx(&[
                ("main", "worker_processes 1;"),
                ("http", "limit_conn_zone $binary_remote_addr zone=clients:1m; upstream stock { server 127.0.0.1:{port.stock}; keepalive 64; }"),
                ("location", "limit_conn clients [[4|64]]; proxy_http_version 1.1; proxy_set_header Connection ''; proxy_pass http://stock;"),
            ]),
        ])
        .load("rate: 400/s")
        .right(&["connection_limit", "connections", "rate_limit", "request_queue", "errors:503/limit"])
        .vague(&["errors", "pool"]),
    Plant::new("nginx-limit-rate-report", "nginx delays requests to 200 a second; a process next to it keeps a core busy.")
        .on(&[
            Peer("report", C, "sleep=0 [[h:-- cpu=100000|]]"),
            Nginx(&[
                ("main", "worker_processes 1;"),
                ("http", "limit_req_zone $binary_remote_addr zone=clients:1m rate=[[200|5000]]r/s;"),
                ("location", "limit_req zone=clients burst=100; try_files /nginx.conf =404;"),
            ]),
        ])
        .herring()
        .right(&["rate_limit"])
        .vague(&["waiting"]),
    Plant::new("nginx-auth-request", "Each request is first checked by a service with two slots of 15 ms; the access log is written without a buffer.")
        .on(&[
            Peer("stock", C, "tenant=[[2|64]] sleep=15000 leave"),
            Nginx(&[
                ("main", "worker_processes 1;"),
                ("http", "upstream stock { server 127.0.0.1:{port.stock}; keepalive 64; } access_log [[h:{dir}/access.log combined|off]];"),
                ("server", "location = /auth { internal; proxy_http_version 1.1; proxy_set_header Connection ''; proxy_pass http://stock; }"),
                ("location", "auth_request /auth; try_files /nginx.conf =404;"),
            ]),
        ])
        .herring()
        .right(&["dependency", "*:upstream"])
        .vague(&["waiting", "pool"]),
    Plant::new("nginx-limit-and-backend", "nginx delays requests to 200 a second, and the backend has four slots of 20 ms.")
        .on(&[
            Peer("stock", C, "tenant=[[b:4|64]] sleep=20000 leave"),
            Nginx(&[
                ("main", "worker_processes 1;"),
                ("http", "limit_req_zone $binary_remote_addr zone=clients:1m rate=[[200|5000]]r/s; upstream stock { server 127.0.0.1:{port.stock}; keepalive 64; }"),
                ("location", "limit_req zone=clients burst=100; proxy_http_version 1.1; proxy_set_header Connection ''; proxy_pass http://stock;"),
            ]),
        ])
        .load("users: 24")
        .two(&["rate_limit"], &["dependency"])
        .vague(&["waiting", "pool"]),
    Plant::new("nginx-open", "200 requests a second are answered from memory; a process next to nginx computes half of the time.")
        .on(&[
            Peer("report", C, "sleep=0 -- cpu=20000 sleep=20000"),
            Nginx(&[("main", "worker_processes 1;"), ("location", "return 200 ok;")]),
        ])
        .load("rate: [[200|400]]/s")
        .users(),
    Plant::new("nginx-far-backend", "The backend is 40 ms away, and there are 6 users.")
        .on(&[
            Peer("stock", C, "sleep=0"),
            System("proxies: { far: { to: '127.0.0.1:{port.stock}', round-trip: 40ms } }"),
            Nginx(&[
                ("main", "worker_processes 1;"),
                ("http", "upstream stock { server 127.0.0.1:{port.far}; keepalive 64; }"),
                ("location", PROXY),
            ]),
        ])
        .load("users: [[6|12]]")
        .users()
        .right(&["load", "dependency"])
        .vague(&["waiting"]),
    Plant::new("redis-script", "A script keeps the one thread of Redis busy; a process next to it writes to the disk.")
        .on(&[
            Server("redis", "redis-server --port {port} --save '' --dir {dir}"),
            super::BACKUP,
            System("url: 'redis://127.0.0.1:{port}'"),
        ])
        .scenario("scenario: [ { redis: [ EVAL, 'for i = 1, [[100000|100]] do local x = i * i end return 1', '0' ] } ]")
        .load("users: 8")
        .herring()
        .right(&["one_core"])
        .vague(&["machine_cpu", "disk"]),
    Plant::new("redis-append-always", "Every write is flushed to the append-only file.")
        .on(&[
            Server("redis", "redis-server --port {port} --save '' --dir {dir} --appendonly yes --appendfsync [[always|no]]"),
            System("url: 'redis://127.0.0.1:{port}'"),
        ])
        .scenario("scenario: [ { redis: 'INCR next' } ]")
        .load("users: 4")
        .right(&["disk", "database_log", "store_log"])
        .vague(&["waiting", "one_core"]),
    Plant::new("redis-blocking-pop", "Users wait for 50 ms for an element of a list that stays empty.")
        .on(&[
            Server("redis", "redis-server --port {port} --save '' --hz 100 --dir {dir}"),
            System("url: 'redis://127.0.0.1:{port}'"),
        ])
        .scenario("scenario: [ { redis: 'BLPOP jobs [[0.05|0.01]]' } ]")
        .load("users: 8")
        .waiting()
        .right(&["load", "waiting", "*:blpop/timer"])
        .vague(&["dependency"]),
    Plant::new("memcached-connections", "memcached takes fewer than 20 connections, and there are 40 users.")
        .on(&[
            Server("memcached", "memcached -u root -l 127.0.0.1 -p {port} -t 1 -c [[20|200]]"),
            System("url: 'memcached://127.0.0.1:{port}'"),
        ])
        .scenario("scenario: [ { memcached: 'get nothing', expect: { type: miss } } ]")
        .load("users: 40, think: 10ms")
        .right(&["connection_limit", "connections", "listen_queue"])
        .vague(&["errors", "pool"]),
    Plant::new("nginx-backend-bucket", "nginx waits for a backend behind a leaky bucket, and the log of the backend is long.")
        .on(&[
            Peer("stock", C, "bucket=[[150|3000]] [[h:log=500|]]"),
            Nginx(&[("main", "worker_processes 1;"), ("http", STOCK), ("location", PROXY)]),
        ])
        .herring()
        .right(&["rate_limit", "dependency"])
        .vague(WAITS),
];
