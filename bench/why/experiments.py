#!/usr/bin/env python3
"""Experiments on systems whose limit is known, and on a system in which no change acts: what `tenbin run --why` confirms.

Run it from the root of the repository, on a machine with nothing else to do: about 10 min, and 35 min more with --trials 20. --minutes
begins nothing that would probably end later. --trials 20 --only none --minutes 9 --keep FILE makes as many of 20 trials as fit into 9 min,
adds them to FILE, and reports all that are in it: run it until there are 20.
"""

import argparse
import collections
import json
import math
import pathlib
import subprocess
import sys
import tempfile
import time

CASES = pathlib.Path(__file__).parent / "cases"
LOAD = "load: { users: %d, warm-up: 300ms, for: 2s, threads: 1 }\n"
POOL = "  app:\n    before: [ 'cc -O2 -pthread -o {dir}/pool {plan}/servers/pool.c' ]\n    start: '{dir}/pool {port} {workers} 20'\n    vary: { workers: [ 4 ] }\n    limits: [ workers ]\n"
THREADS = "    before: [ 'cc -O2 -pthread -o {dir}/threads {plan}/servers/threads.c' ]\n"

# Name, plan, resources that are confirmed, and resources that must not be.
PLANTED = [
    ("pool", LOAD % 16 + "systems:\n" + POOL, {"parameter"}, {"load", "machine_cpu", "generator"}),
    (
        "quota",
        LOAD % 8 + "systems:\n  app:\n" + THREADS + "    start: '{dir}/threads {port} cpu 2'\n    resources: { cpu: 0.4 }\n",
        {"cpu_quota"},
        {"load", "generator"},
    ),
    (
        "one core",
        LOAD % 8 + "systems:\n  app:\n" + THREADS + "    start: 'taskset -c 0 {dir}/threads {port} cpu 2'\n",
        {"one_core"},
        {"load", "generator"},
    ),
    (
        "few users",
        LOAD % 4 + "systems:\n  app:\n" + THREADS + "    start: '{dir}/threads {port} sleep 50'\n",
        {"load"},
        {"machine_cpu", "generator", "cpu_quota"},
    ),
    (
        "two limits",
        LOAD % 16 + "systems:\n" + POOL + "    resources: { cpu: 0.5 }\n",
        {"parameter"},
        {"load", "cpu_quota", "generator"},
    ),
]
# A pool of two that holds each request for 10 ms gives 200/s, whatever the users, the CPU time, the disks, and an unused parameter.
NOTHING = (
    "scenario: [ get: '/hold?dist=constant&mean_us=10000' ]\n"
    "load: { users: 8, warm-up: 100ms, for: 1s, threads: 1 }\n"
    "systems:\n  pool:\n    start: '{tenbin} target --listen 127.0.0.1:{port} --threads 2'\n"
    "    resources: { cpu: 1.5, io: { read-iops: 5000/s, write-iops: 5000/s } }\n"
    "    env: { COLOR: '{color}' }\n    vary: { color: [ 2 ] }\n    limits: [ color ]\n"
)


def experiment(tenbin, folder, plan):
    path = folder / "plan.yaml"
    path.write_text(plan if plan.startswith("scenario") else "scenario: [ get: / ]\n" + plan)
    (folder / "servers").exists() or (folder / "servers").symlink_to((CASES / "servers").resolve())
    command = [tenbin, "run", str(path), "--why", "--format", "json", "--store", str(folder / "store")]
    ended = subprocess.run(command, capture_output=True, text=True, timeout=900)
    return json.loads(ended.stdout)["diagnosis"] if ended.stdout.strip() else sys.exit(ended.stderr)


def resources(diagnosis, verdict):
    of = [one["tests"] for one in diagnosis["interventions"] if one["verdict"] == verdict]
    return {resource for tests in of for resource in tests}


def words(diagnosis):
    one = lambda of: f"{of['name']} ×{of['effect'] or 0:.2f} {of['verdict']}"
    return ", ".join(map(one, diagnosis["interventions"])) + f"; noise {diagnosis['controls']['spread'] or 0:.1%}"


def most_likely(found, trials):
    """The upper end of the exact one-sided 95 % interval of a share (Clopper and Pearson)."""
    low, high = 0.0, 1.0
    for _ in range(60):
        middle = (low + high) / 2
        at_most = sum(math.comb(trials, k) * middle**k * (1 - middle) ** (trials - k) for k in range(found + 1))
        low, high = (middle, high) if at_most > 0.05 else (low, middle)
    return high


def main():
    begun = time.monotonic()
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tenbin", default="target/release/tenbin")
    parser.add_argument("--trials", type=int, default=0, help="experiments in which nothing acts")
    parser.add_argument("--only", default="", help="names of planted limits, separated by commas")
    parser.add_argument("--minutes", type=float, default=60, help="no experiment begins that would probably end later")
    parser.add_argument("--keep", type=pathlib.Path, help="a file of trials, a line each, to which these are added")
    flags = parser.parse_args()
    longest = [0.0]

    def is_over():
        return time.monotonic() - begun + longest[0] > flags.minutes * 60

    def timed(plan):
        since = time.monotonic()
        diagnosis = experiment(flags.tenbin, folder, plan)
        longest[0] = max(longest[0], time.monotonic() - since)
        return diagnosis

    only = [name for name in flags.only.split(",") if name]
    folder = pathlib.Path(tempfile.mkdtemp())
    missed, false, confirmed, trials, verdicts = [], [], 0, [], collections.Counter()
    for name, plan, wanted, wrong in PLANTED:
        if only and name not in only or is_over():
            continue
        diagnosis = timed(plan)
        if diagnosis is None:
            missed.append(name)
            print(f"{name}: no experiment: the first run was invalid", flush=True)
            continue
        found = resources(diagnosis, "confirmed")
        confirmed += len(found)
        missed += [name] if wanted - found else []
        false += [name] if wrong & found else []
        print(f"{name}: {'right' if wanted <= found and not wrong & found else 'WRONG'}: {words(diagnosis)}", flush=True)
    made = []
    if flags.keep and flags.keep.exists():
        made = [json.loads(line) for line in flags.keep.read_text().splitlines()]
    for number, trial in enumerate(made, 1):
        false += [f"trial {number}"] if trial["found"] else []
        trials.append(bool(trial["found"]))
        verdicts.update(trial["verdicts"])
    for number in range(len(made) + 1, flags.trials + 1):
        if is_over():
            break
        diagnosis = timed(NOTHING)
        if diagnosis is None:
            print(f"nothing acts, {number} of {flags.trials}: no experiment: the first run was invalid", flush=True)
            continue
        found = resources(diagnosis, "confirmed") | resources(diagnosis, "contributing")
        of_trial = [one["verdict"] for one in diagnosis["interventions"]]
        false += [f"trial {number}"] if found else []
        trials.append(bool(found))
        verdicts.update(of_trial)
        if flags.keep:
            with flags.keep.open("a") as kept:
                kept.write(json.dumps({"found": sorted(found), "verdicts": of_trial}) + "\n")
        print(f"nothing acts, {number} of {flags.trials}: {'FALSE' if found else 'right'}: {words(diagnosis)}", flush=True)
    if trials:
        wrong, made = sum(trials), len(trials)
        counts = ", ".join(f"{count} {verdict}" for verdict, count in sorted(verdicts.items()))
        print(f"nothing acts: {wrong} of {made} trials found something (95 %: at most {most_likely(wrong, made):.1%}); changes: {counts}")
    print(f"missed: {missed or 'none'}; false: {false or 'none'}; confirmed resources: {confirmed}")
    sys.exit(bool(missed or false))


main()
