//! Integration tests of all protocols that need no separate process, in one program.

mod channel_samples;
mod greetings;
mod http1_captures;
mod http1_cookies;
mod http1_limits;
mod http1_never_panics;
mod http1_redirects;
mod http1_rejections;
mod http1_templates;
mod mysql_log_in;
mod mysql_never_panics;
mod mysql_server;
mod mysql_statements;
mod pieces;
mod postgres_never_panics;
mod postgres_server;
mod postgres_start_up;
mod postgres_statements;
mod redis;
mod redis_cluster;
mod tcp;
mod three_ways;
