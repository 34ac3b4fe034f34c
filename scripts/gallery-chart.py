#!/usr/bin/env python3
"""Draws the compared figure of a study as bars: median, and a line from the smallest to the largest run.

Usage: tenbin report NAME --format json | gallery-chart.py >chart.svg
"""

import html
import json
import math
import sys

WIDTH, LABELS, VALUES, ROW = 760, 300, 90, 26
# Above this ratio of the largest to the smallest median, the bars are logarithmic.
LINEAR_MAX_RATIO = 20
STYLE = (
    "text { font: 13px sans-serif; fill: #222 } rect { fill: #4a7fb5 } line { stroke: #222 }"
    " @media (prefers-color-scheme: dark) { text { fill: #ddd } line { stroke: #ddd } }"
)


def shown(value, unit):
    if unit == "bytes":
        power = min(int(math.log(value, 1024)) if value >= 1 else 0, 3)
        return f"{value / 1024**power:.3g} {['B', 'KiB', 'MiB', 'GiB'][power]}"
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"


def main():
    study = json.load(sys.stdin)
    comparison = study["comparison"]
    rows = [row for row in comparison["ranking"] if row["median"]]
    loads = {row["load"] for row in rows}
    smallest, largest = min(row["min"] or row["median"] for row in rows), max(row["max"] for row in rows)
    is_log = max(row["median"] for row in rows) > LINEAR_MAX_RATIO * min(row["median"] for row in rows)
    room = WIDTH - LABELS - VALUES
    floor = 10 ** math.floor(math.log10(smallest)) if is_log and smallest > 0 else 0

    def x(value):
        if is_log:
            return LABELS + room * max(math.log(max(value, floor) / floor), 0) / math.log(largest / floor)
        return LABELS + room * value / largest

    scale = ", logarithmic" if is_log else ""
    title = f"{study['study']['question']} {comparison['metric']}{scale}: median, smallest, and largest run"
    height = 30 + ROW * len(rows) + 6
    print(f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" role="img">')
    print(f"<title>{html.escape(title)}</title><style>{STYLE}</style>")
    print(f'<text x="0" y="16">{html.escape(comparison["metric"] + scale)}</text>')
    for number, row in enumerate(rows):
        y = 30 + ROW * number
        name = " ".join(part for part in (row["system"], row["variant"]) if part)
        name = f"{row['load']}: {name}" if len(loads) > 1 else name
        middle = y + ROW // 2 - 3
        print(f'<text x="0" y="{middle + 4}">{html.escape(name)}</text>')
        print(f'<rect x="{LABELS}" y="{y}" width="{x(row["median"]) - LABELS:.1f}" height="{ROW - 7}"/>')
        print(f'<line x1="{x(row["min"]):.1f}" x2="{x(row["max"]):.1f}" y1="{middle}" y2="{middle}"/>')
        value = shown(row["median"], comparison.get("unit"))
        print(f'<text x="{WIDTH}" y="{middle + 4}" text-anchor="end">{value}</text>')
    print("</svg>")


main()
