// A web server on node:http. Each request runs the steps of the command line in order.
// Usage: node server.js PORT STEP… [-- BACKGROUND-STEP…]…
// A step is NAME[=NUMBER][:STEP]; some steps run another one:
//   sleep=MS, cpu=MS, block=MS (the event loop sleeps), regex=LENGTH (backtracks), json=COUNT (parses a growing text again and again)
//   flush (fsync in the event loop), derive=ROUNDS (pbkdf2 in the thread pool), scan=MIB (the pool reads the file SCAN_FILE)
//   call=PORT (over at most CONNECTIONS connections), spawn (a process), garbage=KIB, thread=MS (computes in the one worker thread)
//   slots=N:
// Each group of steps after `--` runs again and again. KEEP is thousands of small objects that stay alive; PROCESSES serve the port.
"use strict";
const childProcess = require("node:child_process");
const cluster = require("node:cluster");
const crypto = require("node:crypto");
const fs = require("node:fs");
const http = require("node:http");
const os = require("node:os");
const { Worker } = require("node:worker_threads");

const number = (name, otherwise) => Number(process.env[name] ?? otherwise);
const kept = Array.from({ length: number("KEEP", 0) * 1000 }, (_, i) => ({ i, text: `object ${i}` }));
let sink;

function compute(ms) {
    const end = performance.now() + ms;
    while (performance.now() < end) for (let i = 0; i < 1000; i++) sink = i;
}

function call(port) {
    const agent = new http.Agent({ keepAlive: true, maxSockets: number("CONNECTIONS", Infinity) });
    return () =>
        new Promise((done, failed) => {
            const request = http.get({ host: "127.0.0.1", port, agent }, (reply) => reply.resume().on("end", done));
            request.on("error", failed);
        });
}

function slots(count, inner) {
    const waiting = [];
    let free = count;
    return async () => {
        if (free > 0) free--;
        else await new Promise((done) => waiting.push(done));
        await inner();
        if (waiting.length > 0) waiting.shift()();
        else free++;
    };
}

function thread(ms) {
    const source = `const { parentPort } = require("node:worker_threads");
        parentPort.on("message", (id) => { const end = performance.now() + ${ms}; while (performance.now() < end); parentPort.postMessage(id); });`;
    const worker = new Worker(source, { eval: true });
    const waiting = new Map();
    let last = 0;
    worker.on("message", (id) => (waiting.get(id)(), waiting.delete(id)));
    return () => new Promise((done) => (waiting.set(++last, done), worker.postMessage(last)));
}

function json(count) {
    let text = "[";
    for (let i = 0; i < count; i++) {
        text += (i ? "," : "") + '{"n":1}';
        sink = JSON.parse(text + "]");
    }
}

function garbage(kib) {
    for (let i = 0; i < kib * 16; i++) kept[i % (kept.length || 1)] = { i, text: `object ${i}` };
}

function step(word) {
    const [, name, text = "0", rest] = word.match(/^([a-z]+)(?:=(\d+))?(?::(.*))?$/) ?? [];
    const amount = Number(text);
    const file = name === "flush" ? fs.openSync(`${os.tmpdir()}/tenbin-blind-${process.pid}`, "w") : undefined;
    const steps = {
        sleep: () => () => new Promise((done) => setTimeout(done, amount)),
        cpu: () => () => compute(amount),
        block: () => () => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, amount),
        regex: () => () => (sink = /^(a+)+$/.test("a".repeat(amount) + "b")),
        json: () => () => json(amount),
        flush: () => () => (fs.writeSync(file, "x"), fs.fsyncSync(file)),
        derive: () => () => new Promise((done) => crypto.pbkdf2("password", "salt", amount, 32, "sha256", done)),
        scan: () => () => new Promise((done) => fs.readFile(process.env.SCAN_FILE, done)),
        call: () => call(amount),
        spawn: () => () => new Promise((done) => childProcess.spawn("true").on("exit", done)),
        garbage: () => () => garbage(amount),
        thread: () => thread(amount),
        slots: () => slots(amount, step(rest)),
    };
    if (!steps[name]) throw new Error(`no step ${word}`);
    return steps[name]();
}

function main() {
    const words = process.argv.slice(3);
    const groups = words.join(" ").split(" -- ").map((group) => group.split(" ").filter(Boolean).map(step));
    for (const group of groups.slice(1)) {
        (async () => {
            for (;;) {
                for (const one of group) await one();
                await new Promise(setImmediate);
            }
        })();
    }
    const server = http.createServer(async (request, response) => {
        for (const one of groups[0]) await one();
        response.end("ok\n");
    });
    server.listen({ port: Number(process.argv[2]), host: "127.0.0.1", backlog: 1024 });
}

const processes = number("PROCESSES", 1);
if (processes > 1 && cluster.isPrimary) {
    for (let i = 0; i < processes; i++) cluster.fork();
} else {
    main();
}
