package io.syncguard.testing;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.SocketException;
import java.time.Duration;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Semaphore;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Supplier;

/**
 * Stands between clients and a server, for any protocol: cuts and resets connections, swallows answers, and delays
 * answers and requests. A {@link Traffic} that knows the protocol forwards it.
 */
public final class TcpProxy implements AutoCloseable {

    private final String host;
    private volatile int port;
    private final Supplier<Traffic> traffics;
    private final ServerSocket listener;
    private final Set<Link> links = ConcurrentHashMap.newKeySet();
    private volatile boolean silent;
    private volatile long delayNanos;
    private final AtomicInteger resets = new AtomicInteger();
    private final AtomicReference<String> nextToKeepBack = new AtomicReference<>();
    private final Semaphore letThrough = new Semaphore(0);

    /**
     * The traffic on one connection. Each direction has a thread, which ends with an error when the connection ends.
     */
    interface Traffic {

        void forwardRequests(Link link) throws IOException;

        void forwardAnswers(Link link) throws IOException;
    }

    /** @param traffics one for each connection */
    TcpProxy(String host, int port, Supplier<Traffic> traffics) {
        this.host = host;
        this.port = port;
        this.traffics = traffics;
        try {
            this.listener = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
        } catch (IOException ex) {
            throw new UncheckedIOException(ex);
        }
        start("accept", this::accept);
    }

    /** The port on which it listens, on the loopback address. */
    int port() {
        return listener.getLocalPort();
    }

    /** Sends new connections to another server. */
    void moveTo(int port) {
        this.port = port;
    }

    boolean isSilent() {
        return silent;
    }

    /** Waits for the configured delay of answers. */
    void delay() {
        LockSupport.parkNanos(delayNanos);
    }

    void fallSilent() {
        silent = true;
    }

    void speakAgain() {
        // The order matters: a connection that begins in between is forwarded or cut, and not silent forever.
        silent = false;
        cut();
    }

    /** Loses the answers of the server on all existing connections from now on. New connections work. */
    void loseWaysBack() {
        links.forEach(link -> link.losesAnswers = true);
    }

    /** The same in both directions: neither side receives anything more. */
    void loseWays() {
        loseWaysBack();
        links.forEach(link -> link.losesRequests = true);
    }

    /** The number of clients that reset a broken connection instead of closing it. */
    int resets() {
        return resets.get();
    }

    void delayAnswers(Duration delay) {
        delayNanos = delay.toNanos();
    }

    void keepBack(String words) {
        nextToKeepBack.set(words);
    }

    /** Whether this is the request to hold back. */
    boolean isKeptBack(String request) {
        String words = nextToKeepBack.get();
        return words != null && request.contains(words) && nextToKeepBack.compareAndSet(words, null);
    }

    /** Disconnects the client after its whole request was read, and waits until the test lets the request through. */
    void awaitLetThrough(Link link) {
        closeQuietly(link.client);
        letThrough.acquireUninterruptibly();
    }

    void letThrough() {
        letThrough.release();
    }

    void cut() {
        links.forEach(Link::cut);
        links.clear();
    }

    void reset() {
        links.forEach(Link::reset);
        links.clear();
    }

    @Override
    public void close() {
        closeQuietly(listener);
        letThrough();
        cut();
    }

    private void accept() throws IOException {
        while (!listener.isClosed()) {
            Socket client = listener.accept();
            try {
                forward(new Link(client, new Socket(host, port)), traffics.get());
            } catch (IOException ex) {
                // The server is down and may come back, or the client is gone.
                closeQuietly(client);
            }
        }
    }

    private void forward(Link link, Traffic traffic) throws IOException {
        link.client.setTcpNoDelay(true);
        link.upstream.setTcpNoDelay(true);
        links.add(link);
        start("requests", () -> untilOneSideEnds(link, counting(traffic::forwardRequests)));
        start("answers", () -> untilOneSideEnds(link, traffic::forwardAnswers));
    }

    /** Forwards until one side closes, then closes the other side, as a working network does. */
    private void untilOneSideEnds(Link link, Forwarding forwarding) throws IOException {
        try {
            forwarding.forward(link);
        } finally {
            if (!silent && !link.losesAnswers) {
                link.cut();
                links.remove(link);
            }
        }
    }

    private Forwarding counting(Forwarding requests) {
        return link -> {
            try {
                requests.forward(link);
            } catch (SocketException ex) {
                if (link.losesAnswers) {
                    resets.incrementAndGet();
                }
                throw ex;
            }
        };
    }

    private static void start(String name, IoTask task) {
        Thread thread = new Thread(
                () -> {
                    try {
                        task.run();
                    } catch (IOException ex) {
                        // One side closed the connection, which is how these threads end.
                        Thread.currentThread().interrupt();
                    }
                },
                "proxy-" + name);
        thread.setDaemon(true);
        thread.start();
    }

    private static void closeQuietly(AutoCloseable closeable) {
        try {
            closeable.close();
        } catch (Exception ex) {
            throw new IllegalStateException("A socket could not be closed", ex);
        }
    }

    /** One connection of a client, with the connection to the server behind it. */
    static final class Link {

        private final Socket client;
        private final Socket upstream;
        private volatile boolean losesRequests;
        private volatile boolean losesAnswers;

        private Link(Socket client, Socket upstream) {
            this.client = client;
            this.upstream = upstream;
        }

        Socket client() {
            return client;
        }

        Socket upstream() {
            return upstream;
        }

        boolean losesRequests() {
            return losesRequests;
        }

        boolean losesAnswers() {
            return losesAnswers;
        }

        void cut() {
            closeQuietly(client);
            closeQuietly(upstream);
        }

        private void reset() {
            try {
                client.setSoLinger(true, 0);
            } catch (IOException ex) {
                throw new UncheckedIOException(ex);
            }
            cut();
        }
    }

    @FunctionalInterface
    private interface Forwarding {
        void forward(Link link) throws IOException;
    }

    @FunctionalInterface
    private interface IoTask {
        void run() throws IOException;
    }
}
