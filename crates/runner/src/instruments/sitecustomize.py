# Loaded into a Python program in an instrumented run: a thread looks at all others 100 times a second, and writes once a second who used
# CPU time, how often it had to wait for the GIL, and the time of garbage collections.
import os
import sys


def _watch(folder):
    import gc
    import threading
    import time

    often, most = 0.01, 12
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

    def run():
        own, used, spent, looks, waits, waited = threading.get_ident(), {}, {}, 0, 0, 0.0
        due = time.monotonic() + 1
        while True:
            ready, before = waited_for_a_core(), time.monotonic()
            time.sleep(often)
            # A thread that wakes up needs the GIL again.
            late = time.monotonic() - before - often - (waited_for_a_core() - ready)
            looks, waited = looks + 1, waited + max(0.0, late)
            waits += late > 0.001
            for ident, frame in sys._current_frames().items():
                if ident == own:
                    continue
                try:
                    now = time.clock_gettime(time.pthread_getcpuclockid(ident))
                except (OSError, AttributeError):
                    continue
                ran = now - used.get(ident, now)
                used[ident] = now
                if ran > 0:
                    name = named(frame)
                    spent[name] = spent.get(name, 0.0) + ran
            if time.monotonic() < due:
                continue
            due = time.monotonic() + 1
            ranked = sorted(spent.items(), key=lambda one: -one[1])
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
