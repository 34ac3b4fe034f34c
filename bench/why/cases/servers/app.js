// A web server in Node.js. Usage: node app.js PORT WORK [NUMBER]
//   cpu MS     computes
//   flush      has a file flushed to the disk, which the threads of libuv do
//   pbkdf2 N   derives a key in so many rounds, which the threads of libuv do
//   hold MS    waits
"use strict";
const crypto = require("node:crypto");
const fs = require("node:fs");
const http = require("node:http");
const os = require("node:os");

const [port, work, number] = [Number(process.argv[2]), process.argv[3], Number(process.argv[4])];
const file = work === "flush" ? fs.openSync(`${os.tmpdir()}/tenbin-why-${process.pid}`, "w") : undefined;

function compute(ms) {
    const end = performance.now() + ms;
    let sum = 0;
    while (performance.now() < end) for (let i = 0; i < 1000; i++) sum += i;
    return sum;
}

const works = {
    cpu: (done) => done(compute(number)),
    flush: (done) => fs.fsync(file, done),
    pbkdf2: (done) => crypto.pbkdf2("password", "salt", number, 32, "sha256", done),
    hold: (done) => setTimeout(done, number),
};
http.createServer((request, response) => works[work](() => response.end("ok\n"))).listen(port, "127.0.0.1");
