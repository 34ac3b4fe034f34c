# Loaded into a Python program in an instrumented run: a thread looks at all others 100 times a second, and writes once a second who used
# CPU time, how often it had to wait for the GIL, and the time of garbage collections.
import os
import sys


def _watch(folder):
    import gc
    import threading
    import time

    often, short, most = 0.01, 0.0003, 12
    collected = [0.0, 0.0]

    def on_collection(phase, _about):
        if phase == "start":
            collected[1] = time.perf_counter()
        else:
            collected[0] += time.perf_counter() - collected[1]

    def waited_for_a_core():
        try:
            with open("/proc/thread-self/schedstat") as file:
                return int(file.read().split()[1]) / 1e9
        except (OSError, ValueError, IndexError):
            return 0.0

    def named(frame):
        code = frame.f_code
        return "%s %s:%d" % (code.co_name, os.path.basename(code.co_filename), code.co_firstlineno)

    def threads(own):
        # CPU time and function of each thread.
        seen = {}
        for ident, frame in sys._current_frames().items():
            if ident != own:
                try:
                    seen[ident] = (time.clock_gettime(time.pthread_getcpuclockid(ident)), named(frame))
                except (OSError, AttributeError):
                    pass
        return seen

    def sleep(seconds):
        # Returns how long it waited for the GIL, which a thread that wakes up needs again.
        ready, before = waited_for_a_core(), time.monotonic()
        time.sleep(seconds)
        return max(0.0, time.monotonic() - before - seconds - (waited_for_a_core() - ready))

    def look(own, spent):
        # In this short time, mostly one thread runs. It is seen where it gave up the GIL before and after.
        before = threads(own)
        sleep(short)
        ran = []
        for ident, (now, name) in threads(own).items():
            then, first = before.get(ident, (now, name))
            ran += [(one, (now - then) / 2) for one in (first, name)]
        # A look that took long, as on a busy machine, says little of what ran in between.
        weight = 1.0 if sum(seconds for _, seconds in ran) <= 4 * short else 0.001
        for name, seconds in ran:
            spent[name] = spent.get(name, 0.0) + seconds * weight

    def run():
        own, spent, looks, waits, waited = threading.get_ident(), {}, 0, 0, 0.0
        used, due = time.process_time() - time.thread_time(), time.monotonic() + 1
        while True:
            late = sleep(often)
            looks, waits, waited = looks + 1, waits + (late > short), waited + late
            look(own, spent)
            if time.monotonic() < due:
                continue
            due, now = time.monotonic() + 1, time.process_time() - time.thread_time()
            # Looks see a part of the time: they are scaled to all of it.
            scale = (now - used) / (sum(spent.values()) or 1.0)
            used = now
            ranked = sorted(((name, ran * scale) for name, ran in spent.items()), key=lambda one: -one[1])
            lines = ["runtime_function_s\t%s\t%.6f" % one for one in ranked[:most]]
            lines.append("runtime_function_s\t(others)\t%.6f" % sum(one[1] for one in ranked[most:]))
            lines.append("runtime_gil_looks\t\t%d" % looks)
            lines.append("runtime_gil_waits\t\t%d" % waits)
            lines.append("runtime_gil_wait_s\t\t%.6f" % waited)
            lines.append("runtime_gc_s\t\t%.6f" % collected[0])
            spent, looks, waits, waited, collected[0] = {}, 0, 0, 0.0, 0.0
            try:
                with open(os.path.join(folder, "%d.lines" % os.getpid()), "a") as file:
                    file.write("\n".join(lines) + "\n")
            except OSError:
                return

    def start():
        threading.Thread(target=run, name="tenbin", daemon=True).start()

    # A thread would be seen only where it gives the GIL up by itself, as in a read from a socket, if it could keep it for 5 ms.
    sys.setswitchinterval(min(sys.getswitchinterval(), short))
    gc.callbacks.append(on_collection)
    os.register_at_fork(after_in_child=start)
    start()


def _load_next():
    # Python has one module of this name: that of the program comes after this one.
    here, this = os.path.dirname(os.path.abspath(__file__)), sys.modules.pop("sitecustomize", None)
    kept = list(sys.path)
    sys.path[:] = [folder for folder in kept if os.path.abspath(folder or ".") != here]
    try:
        import sitecustomize  # noqa: F401
    except ImportError:
        pass
    finally:
        sys.path[:] = kept
        if this is not None:
            sys.modules["sitecustomize"] = this


if os.environ.get("TENBIN_INSTRUMENTS"):
    _watch(os.environ["TENBIN_INSTRUMENTS"])
_load_next()
