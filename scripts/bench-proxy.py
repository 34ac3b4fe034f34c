"""Tables of what bench-proxy.sh measured."""

import json
import sys
from pathlib import Path

folder = Path(sys.argv[1])
DELAY_US = 20_000


def run(name):
    text = (folder / f"{name}.json").read_text()
    return json.loads(text) if text.strip() else sys.exit(f"error: {name}: the load gave no result")


def proxy(name):
    return json.loads((folder / f"{name}-proxy.json").read_text().splitlines()[-1])


def doubts(*runs):
    codes = sorted({cause["code"] for run in runs for cause in run["validity"]["causes"]})
    return ", ".join(codes) or "none"


def us(value):
    return "n/a" if value is None else f"{value:.0f} us"


print("Delay of 20 ms at 5,000 requests/s: service time through the proxy - 20 ms - direct, per percentile")
print(f"{'connections':>11}  {'p50':>9}  {'p99':>9}  {'late p50':>9}  {'late p99':>9}  {'ok/s':>7}  doubts")
for connections in (300, 2000):
    name = f"delay-{connections}"
    direct, through, late = run(f"{name}-direct"), run(f"{name}-through"), proxy(name)["late"]
    off = [
        None if None in (has := (through["service_time_us"][p], direct["service_time_us"][p])) else has[0] - has[1] - DELAY_US
        for p in ("p50", "p99")
    ]
    print(
        f"{connections:>11}  {us(off[0]):>9}  {us(off[1]):>9}  {us(late['p50_us']):>9}  {us(late['p99_us']):>9}"
        f"  {through['throughput_per_s']:>7.0f}  {doubts(direct, through)}"
    )

print()
print("Ceiling: 64 users, closed, no delay")
print(f"{'body':>11}  {'direct/s':>9}  {'proxy/s':>9}  {'direct MB/s':>11}  {'proxy MB/s':>11}  {'ratio':>6}  {'CPU us/request':>14}  doubts")
for size in (0, 65536):
    name = f"ceiling-{size}"
    direct, through, end = run(f"{name}-direct"), run(f"{name}-through"), proxy(name)
    rates = [one["throughput_per_s"] for one in (direct, through)]
    megabytes = [one["received_bytes"] / one["window"]["length_s"] / 1e6 for one in (direct, through)]
    cpu_us = end["cpu_s"] * 1e6 / max(1, through["outcomes"]["ok"])
    print(
        f"{size:>11}  {rates[0]:>9.0f}  {rates[1]:>9.0f}  {megabytes[0]:>11.0f}  {megabytes[1]:>11.0f}"
        f"  {rates[1] / max(1, rates[0]):>6.2f}  {cpu_us:>14.1f}  {doubts(direct, through)}"
    )
