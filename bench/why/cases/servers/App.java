// A web server in Java. Usage: java App.java PORT WORK NUMBER
//   pool WORKERS         waits for 20 ms in a pool of so many threads
//   synchronized MS      waits while it holds the one monitor; a thread for each connection
//   garbage MEGABYTES    keeps so much alive in small objects, and replaces some of them for each request
import com.sun.net.httpserver.HttpServer;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.concurrent.Executors;
import java.util.concurrent.ThreadLocalRandom;

public class App {
    static final Object MONITOR = new Object();
    static byte[][] alive = {};

    static void work(String work, int number) throws InterruptedException {
        switch (work) {
            case "pool" -> Thread.sleep(20);
            case "synchronized" -> {
                synchronized (MONITOR) {
                    Thread.sleep(number);
                }
            }
            case "garbage" -> {
                var random = ThreadLocalRandom.current();
                for (int i = 0; i < 2000; i++) alive[random.nextInt(alive.length)] = new byte[112];
            }
            default -> throw new IllegalArgumentException(work);
        }
    }

    public static void main(String[] arguments) throws Exception {
        String work = arguments[1];
        int number = Integer.parseInt(arguments[2]);
        if (work.equals("garbage")) {
            // An array of 112 bytes takes 128 of the heap, and 4 for its place in the list.
            alive = new byte[number * (1024 * 1024 / 132)][];
            for (int i = 0; i < alive.length; i++) alive[i] = new byte[112];
        }
        var address = new InetSocketAddress(InetAddress.getLoopbackAddress(), Integer.parseInt(arguments[0]));
        var server = HttpServer.create(address, 1024);
        server.setExecutor(work.equals("pool") ? Executors.newFixedThreadPool(number) : Executors.newCachedThreadPool());
        server.createContext("/", exchange -> {
            try (exchange) {
                work(work, number);
                byte[] body = "ok\n".getBytes();
                exchange.sendResponseHeaders(200, body.length);
                exchange.getResponseBody().write(body);
            } catch (InterruptedException interrupted) {
                Thread.currentThread().interrupt();
            }
        });
        server.start();
    }
}
