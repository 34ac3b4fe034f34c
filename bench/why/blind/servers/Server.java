// A web server with a thread for each connection. Each request runs the steps of the command line in order.
// Usage: java Server PORT STEP… [-- BACKGROUND-STEP…]…
// A step is NAME[=NUMBER][:STEP]; some steps run another one:
//   sleep=US, cpu=US (about), garbage=KIB, collect (System.gc), log=BYTES, call=PORT, regex=LENGTH (backtracks), throw=DEPTH, concat=LENGTH
//   mutex: (synchronized), fair: (a ReentrantLock), read:, write:, slots=N:, workers=N: (an executor), common: (the common pool),
//   checkout=N,MS: (a connection of a pool, or a failure after so long)
// Each group of steps after `--` runs again and again in a thread of its own. KEEP is MiB of small objects that stay alive.
import java.io.InputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;
import java.util.concurrent.locks.ReentrantReadWriteLock;
import java.util.regex.Pattern;

public class Server {
    interface Step {
        void run() throws Exception;
    }

    static final ThreadLocal<Socket> PEER = new ThreadLocal<>();
    static final ReentrantReadWriteLock RW = new ReentrantReadWriteLock();
    static final List<Object[]> KEPT = new ArrayList<>();
    static volatile Object sink;

    static void compute(long us) {
        // A fixed amount of work: time would pass without work, too, where the cores are short.
        long sum = 1;
        for (long i = 0; i < us * 500; i++) sum = sum * 6364136223846793005L + 1442695040888963407L;
        sink = sum;
    }

    static void call(int port) throws Exception {
        if (PEER.get() == null) {
            PEER.set(new Socket(InetAddress.getLoopbackAddress(), port));
            PEER.get().setTcpNoDelay(true);
        }
        PEER.get().getOutputStream().write("GET / HTTP/1.1\r\nHost: dependency\r\n\r\n".getBytes());
        if (PEER.get().getInputStream().read(new byte[4096]) <= 0) throw new IllegalStateException("the dependency is gone");
    }

    static void fail(int depth) {
        if (depth > 0) fail(depth - 1);
        else throw new IllegalArgumentException("not found");
    }

    static Step under(Step lock, Step inner, Step unlock) {
        return () -> {
            lock.run();
            try {
                inner.run();
            } finally {
                unlock.run();
            }
        };
    }

    static Step pooled(ExecutorService pool, Step inner) {
        Callable<Object> job = () -> {
            inner.run();
            return null;
        };
        return () -> pool.submit(job).get();
    }

    static void unchecked(Step step) {
        try {
            step.run();
        } catch (Exception exception) {
            throw new CompletionException(exception);
        }
    }

    static Step step(String word) {
        int colon = word.indexOf(':');
        String head = colon < 0 ? word : word.substring(0, colon);
        Step inner = colon < 0 ? () -> {} : step(word.substring(colon + 1));
        String[] parts = (head.contains("=") ? head : head + "=0").split("[=,]");
        int number = Integer.parseInt(parts[1]);
        var slots = new Semaphore(number);
        switch (parts[0]) {
            case "sleep":
                return () -> TimeUnit.MICROSECONDS.sleep(number);
            case "cpu":
                return () -> compute(number);
            case "garbage":
                return () -> {
                    for (int i = 0; i < number * 16; i++) sink = new long[6];
                };
            case "collect":
                return System::gc;
            case "log":
                return () -> System.out.println("x".repeat(number));
            case "call":
                return () -> call(number);
            case "regex":
                var pattern = Pattern.compile("(.*a){12}");
                var text = "a".repeat(number) + "b";
                return () -> sink = pattern.matcher(text).matches();
            case "throw":
                return () -> {
                    try {
                        fail(number);
                    } catch (IllegalArgumentException exception) {
                        sink = exception.getStackTrace();
                    }
                };
            case "concat":
                return () -> {
                    String all = "";
                    for (int i = 0; i < number; i++) all += "{\"n\":1},";
                    sink = all;
                };
            case "mutex":
                Object monitor = new Object();
                return () -> {
                    synchronized (monitor) {
                        inner.run();
                    }
                };
            case "fair":
                var fair = new ReentrantLock(true);
                return under(fair::lock, inner, fair::unlock);
            case "read":
                return under(RW.readLock()::lock, inner, RW.readLock()::unlock);
            case "write":
                return under(RW.writeLock()::lock, inner, RW.writeLock()::unlock);
            case "slots":
                return under(slots::acquire, inner, slots::release);
            case "workers":
                return pooled(Executors.newFixedThreadPool(number), inner);
            case "common":
                // A thread outside the pool that waits for a task does not help.
                return () -> CompletableFuture.runAsync(() -> unchecked(inner)).get();
            case "checkout":
                long patience_ms = Long.parseLong(parts[2]);
                return () -> {
                    if (!slots.tryAcquire(patience_ms, TimeUnit.MILLISECONDS)) throw new IllegalStateException("no connection in time");
                    under(() -> {}, inner, slots::release).run();
                };
            default:
                throw new IllegalArgumentException("no step " + parts[0]);
        }
    }

    static void serve(Socket client, List<Step> steps) {
        try (client) {
            client.setTcpNoDelay(true);
            InputStream input = client.getInputStream();
            var request = new byte[8192];
            for (int length = 0; ; ) {
                int got = input.read(request, length, request.length - length);
                if (got <= 0) return;
                length += got;
                if (!new String(request, 0, length).endsWith("\r\n\r\n")) continue;
                length = 0;
                String status = "200 OK";
                try {
                    for (Step step : steps) step.run();
                } catch (Exception exception) {
                    System.err.println(exception.getMessage());
                    status = "500 Internal Server Error";
                }
                client.getOutputStream().write(("HTTP/1.1 " + status + "\r\nContent-Length: 3\r\n\r\nok\n").getBytes());
            }
        } catch (Exception exception) {
            System.err.println(exception.getMessage());
        }
    }

    public static void main(String[] arguments) throws Exception {
        var groups = new ArrayList<List<Step>>(List.of(new ArrayList<>()));
        for (int i = 1; i < arguments.length; i++) {
            if (arguments[i].equals("--")) groups.add(new ArrayList<>());
            else groups.get(groups.size() - 1).add(step(arguments[i]));
        }
        int keep = Integer.parseInt(System.getenv().getOrDefault("KEEP", "0"));
        for (int i = 0; i < keep * (1 << 20) / 64; i++) KEPT.add(new Object[] {i, null, null});
        for (List<Step> group : groups.subList(1, groups.size())) {
            new Thread(() -> {
                try {
                    while (true) for (Step step : group) step.run();
                } catch (Exception exception) {
                    exception.printStackTrace();
                }
            }).start();
        }
        var listener = new ServerSocket(Integer.parseInt(arguments[0]), 1024, InetAddress.getLoopbackAddress());
        while (true) {
            Socket client = listener.accept();
            new Thread(() -> serve(client, groups.get(0))).start();
        }
    }
}
