"""A noisy neighbor: keeps a random core busy for up to 0.8 s, then rests for up to 1.2 s, and so on; or all cores, all the time.

Usage: neighbor.py SECONDS sometimes|always
It ends after this time, or with the process that started it.
"""

import os
import random
import sys
import time

starter = os.getppid()
end = time.monotonic() + float(sys.argv[1])
cores = sorted(os.sched_getaffinity(0))


def may_go_on():
    return time.monotonic() < end and os.path.exists(f"/proc/{starter}")


def compute(seconds):
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        sum(range(1000))


if sys.argv[2] == "always":
    own = cores[0]
    for core in cores[1:]:
        if os.fork() == 0:
            own = core
            break
    os.sched_setaffinity(0, {own})
    while may_go_on():
        compute(0.1)
else:
    while may_go_on():
        os.sched_setaffinity(0, {random.choice(cores)})
        compute(random.uniform(0.05, 0.8))
        time.sleep(random.uniform(0.05, 1.2))
