package io.syncguard.testing;

import java.io.DataInputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.URI;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Consumer;

/**
 * Stands between a client and the test server, counts round trips, can fall silent, be slow, lose one answer, and shows what the
 * client sends.
 *
 * <p>A round trip is one {@code ReadyForQuery} message of the server: with it, it gives the word back to the client. Only
 * connections without encryption are understood.
 */
public final class PostgresProxy implements AutoCloseable {

    private static final int READY_FOR_QUERY = 'Z';
    private static final int PARSE = 'P';
    private static final int BIND = 'B';
    private static final int DATA_ROW = 'D';

    private final URI server;
    private final ServerSocket listener;
    private final AtomicLong roundTrips = new AtomicLong();
    private final Set<Link> links = ConcurrentHashMap.newKeySet();
    private final AtomicReference<Loss> nextToLose = new AtomicReference<>();
    private final AtomicBoolean losesNextAnswer = new AtomicBoolean();
    private volatile Consumer<String> parameterWatcher = parameters -> {};
    private volatile boolean silent;
    private volatile long delayNanos;

    /** @param url the JDBC URL of the server */
    public PostgresProxy(String url) {
        this.server = URI.create(url.substring("jdbc:".length()));
        try {
            this.listener = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
        } catch (IOException ex) {
            throw new UncheckedIOException(ex);
        }
        start("accept", this::accept);
    }

    /** The JDBC URL of the server as seen through this proxy. */
    public String url() {
        return "jdbc:postgresql://127.0.0.1:" + listener.getLocalPort() + server.getPath() + "?sslmode=disable&"
                + server.getQuery();
    }

    public long roundTrips() {
        return roundTrips.get();
    }

    /** Swallows all answers from now on, as a network does that has lost the way. Nobody is told. */
    public void fallSilent() {
        silent = true;
    }

    /** Ends the silence. What was swallowed stays lost, and so do the connections that waited for it. */
    public void speakAgain() {
        // In this order: a connection that comes between the two is heard or cut, and never silent for good.
        silent = false;
        cut();
    }

    /** Has each answer be so late, from now on. */
    public void delayAnswers(Duration delay) {
        delayNanos = delay.toNanos();
    }

    /**
     * Lets the next statement through to its end that is sent as text with these words in it, and cuts its connection in
     * place of the answer.
     */
    public void loseAnswerTo(String words) {
        nextToLose.set(new Loss(words, true));
    }

    /** Like {@link #loseAnswerTo}, but leaves the connection open: the client waits. */
    public void swallowAnswerTo(String words) {
        nextToLose.set(new Loss(words, false));
    }

    /**
     * Cuts the connection on which the server answers the next query, when it has done its work and before the client hears of
     * it. What answers without a row, as a pool's look whether a connection lives, is no query; but a new connection asks some.
     */
    public void loseNextAnswer() {
        losesNextAnswer.set(true);
    }

    /** Whether the answer that is to be lost is lost. */
    public boolean hasLostAnswer() {
        return !losesNextAnswer.get();
    }

    /** Is shown the message that carries the parameters of a statement, byte by byte as characters. */
    public void watchParameters(Consumer<String> watcher) {
        parameterWatcher = watcher;
    }

    /** Cuts all connections. */
    public void cut() {
        links.forEach(Link::cut);
        links.clear();
    }

    /** Resets all connections: the client reads an error, not an end. */
    public void reset() {
        links.forEach(Link::reset);
        links.clear();
    }

    @Override
    public void close() {
        closeQuietly(listener);
        cut();
    }

    private void accept() throws IOException {
        while (!listener.isClosed()) {
            Socket client = listener.accept();
            try {
                forward(new Link(client, new Socket(server.getHost(), server.getPort())));
            } catch (IOException ex) {
                // The server is away, and may come back; or the client is.
                closeQuietly(client);
            }
        }
    }

    private void forward(Link link) throws IOException {
        link.client.setTcpNoDelay(true);
        link.upstream.setTcpNoDelay(true);
        links.add(link);
        start("requests", () -> untilOneSideEnds(link, this::forwardRequests));
        start("answers", () -> untilOneSideEnds(link, this::forwardAnswers));
    }

    /** The other side is told, as a network does that has not lost the way. */
    private void untilOneSideEnds(Link link, Forwarding forwarding) throws IOException {
        try {
            forwarding.forward(link);
        } finally {
            if (!silent) {
                link.cut();
                links.remove(link);
            }
        }
    }

    private void forwardRequests(Link link) throws IOException {
        DataInputStream messages = new DataInputStream(link.client.getInputStream());
        OutputStream out = link.upstream.getOutputStream();
        // The first message alone has no type.
        out.write(readBody(messages));
        while (true) {
            int type = messages.readUnsignedByte();
            byte[] body = readBody(messages);
            String text = new String(body, StandardCharsets.ISO_8859_1);
            Loss loss = nextToLose.get();
            if (type == PARSE && loss != null && text.contains(loss.words) && nextToLose.compareAndSet(loss, null)) {
                link.loss = loss;
            }
            if (type == BIND) {
                parameterWatcher.accept(text);
            }
            write(out, type, body);
        }
    }

    private void forwardAnswers(Link link) throws IOException {
        DataInputStream messages = new DataInputStream(link.upstream.getInputStream());
        boolean lost = false;
        while (true) {
            int type = messages.readUnsignedByte();
            byte[] body = readBody(messages);
            if (type == DATA_ROW && losesNextAnswer.compareAndSet(true, false)) {
                link.loss = new Loss("", true);
            }
            if (type == READY_FOR_QUERY) {
                LockSupport.parkNanos(delayNanos);
                roundTrips.incrementAndGet();
                if (link.loss != null && link.loss.cuts) {
                    // Only now has the statement been committed.
                    link.cut();
                }
            }
            // Who misses one message must not see those after it.
            lost |= silent || link.loss != null;
            if (!lost) {
                write(link.client.getOutputStream(), type, body);
            }
        }
    }

    /** The length of a message and what it counts: itself and the rest. */
    private static byte[] readBody(DataInputStream messages) throws IOException {
        int length = messages.readInt();
        byte[] rest = messages.readNBytes(length - Integer.BYTES);
        return ByteBuffer.allocate(length).putInt(length).put(rest).array();
    }

    private static void write(OutputStream out, int type, byte[] body) throws IOException {
        out.write(
                ByteBuffer.allocate(1 + body.length).put((byte) type).put(body).array());
        out.flush();
    }

    private static void start(String name, IoTask task) {
        Thread thread = new Thread(
                () -> {
                    try {
                        task.run();
                    } catch (IOException ex) {
                        // One side closed the connection: that is how each of these threads ends.
                        Thread.currentThread().interrupt();
                    }
                },
                "postgres-proxy-" + name);
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

    /** A statement whose answer is to be lost. */
    private record Loss(String words, boolean cuts) {}

    /** One connection of a client, and the one of ours behind it. */
    private static final class Link {

        private final Socket client;
        private final Socket upstream;

        /** Written by the thread that forwards requests, read by the one that forwards answers. */
        private volatile Loss loss;

        Link(Socket client, Socket upstream) {
            this.client = client;
            this.upstream = upstream;
        }

        void cut() {
            closeQuietly(client);
            closeQuietly(upstream);
        }

        void reset() {
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
