package io.syncguard.verification.permits;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;

/**
 * Counts who is at work under each key, and knows neither the library nor its stores. Each caller has a connection: the
 * end of its process ends its work. A caller says until when it holds its lock; after that it does not count.
 */
public final class PlaceCounter implements AutoCloseable {

    /** The number of an exclusive holder. */
    static final int EXCLUSIVE = 0;

    /** @param permits how many may work with it, or {@link #EXCLUSIVE} */
    private record Place(String key, int permits, long until) {}

    private final ServerSocket server;

    /** By caller. */
    private final Map<Socket, Place> places = new HashMap<>();

    private final Map<String, Integer> most = new HashMap<>();
    private final Map<String, Long> entered = new HashMap<>();
    private final List<String> violations = new ArrayList<>();

    public PlaceCounter() {
        try {
            server = new ServerSocket(0, 500, InetAddress.getLoopbackAddress());
        } catch (IOException ex) {
            throw new UncheckedIOException(ex);
        }
        start(this::accept);
    }

    int port() {
        return server.getLocalPort();
    }

    synchronized List<String> violations() {
        return List.copyOf(violations);
    }

    /** How many worked at one time. */
    synchronized int most(String key) {
        return most.getOrDefault(key, 0);
    }

    /** How often somebody began to work alone. */
    synchronized long exclusive(String key) {
        return entered.getOrDefault(key + " " + EXCLUSIVE, 0L);
    }

    synchronized long entered() {
        return entered.values().stream().mapToLong(count -> count).sum();
    }

    /**
     * Waits until so many work.
     *
     * @return the {@link System#nanoTime} of that
     */
    synchronized long awaitAtWork(String key, int count, Duration patience) throws InterruptedException {
        long end = System.nanoTime() + patience.toNanos();
        while (atWork(key).count() < count) {
            long left = end - System.nanoTime();
            if (left <= 0) {
                throw new IllegalStateException("Only " + atWork(key).count() + " of " + count + " work");
            }
            wait(1 + left / 1_000_000);
        }
        return System.nanoTime();
    }

    private Stream<Place> atWork(String key) {
        long now = System.nanoTime();
        return places.values().stream().filter(place -> place.key.equals(key) && place.until > now);
    }

    private void accept() {
        try {
            while (true) {
                Socket caller = server.accept();
                start(() -> serve(caller));
            }
        } catch (IOException ex) {
            // The end of the test.
        }
    }

    private void serve(Socket caller) {
        try (caller;
                BufferedReader lines =
                        new BufferedReader(new InputStreamReader(caller.getInputStream(), StandardCharsets.US_ASCII));
                PrintStream answers = new PrintStream(caller.getOutputStream(), true, StandardCharsets.US_ASCII)) {
            caller.setTcpNoDelay(true);
            for (String line = lines.readLine(); line != null; line = lines.readLine()) {
                obey(caller, line.split(" "));
                answers.print("ok\n");
                answers.flush();
            }
        } catch (IOException ex) {
            // The process was killed.
        } finally {
            leave(caller);
        }
    }

    /** A place is entered, kept until a later time, or left. */
    private synchronized void obey(Socket caller, String[] words) {
        if (words.length == 1) {
            leave(caller);
            return;
        }
        Place place = new Place(words[0], Integer.parseInt(words[1]), Long.parseLong(words[2]));
        if (places.put(caller, place) == null) {
            entered.merge(place.key + " " + place.permits, 1L, Long::sum);
        }
        judge(place);
        notifyAll();
    }

    private void judge(Place latest) {
        List<Place> there = atWork(latest.key).toList();
        most.merge(latest.key, there.size(), Math::max);
        long exclusive =
                there.stream().filter(place -> place.permits == EXCLUSIVE).count();
        int permits = there.stream().mapToInt(Place::permits).max().orElse(Integer.MAX_VALUE);
        if (exclusive > 0 ? there.size() > 1 : there.size() > permits) {
            violations.add(there.size() + " at one time: " + there);
        }
    }

    private synchronized void leave(Socket caller) {
        places.remove(caller);
        notifyAll();
    }

    private static void start(Runnable work) {
        Thread thread = new Thread(work, "counter");
        thread.setDaemon(true);
        thread.start();
    }

    @Override
    public void close() {
        try {
            server.close();
        } catch (IOException ex) {
            throw new UncheckedIOException(ex);
        }
    }
}
