package io.syncguard.testing;

import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.net.URI;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Consumer;

/**
 * Stands between a client and the test server. It counts round trips, and shows the requests of the client. It can stop
 * answering, delay answers, lose one answer, or hold one request back.
 *
 * <p>A round trip is one {@code ReadyForQuery} message of the server, after which the client may send again. The proxy
 * understands only connections without encryption.
 */
public final class PostgresProxy implements ServerProxy {

    private static final int READY_FOR_QUERY = 'Z';
    private static final int PARSE = 'P';
    private static final int BIND = 'B';
    private static final int SYNC = 'S';
    private static final int DATA_ROW = 'D';
    private static final int NOTIFICATION = 'A';

    private final URI server;
    private final TcpProxy connections;
    private final AtomicLong roundTrips = new AtomicLong();
    private final AtomicReference<Loss> nextToLose = new AtomicReference<>();
    private final AtomicBoolean losesNextAnswer = new AtomicBoolean();
    private volatile boolean swallowsNotifications;
    private volatile Consumer<String> parameterWatcher = parameters -> {};

    /** @param url the JDBC URL of the server */
    public PostgresProxy(String url) {
        this.server = URI.create(url.substring("jdbc:".length()));
        this.connections = new TcpProxy(server.getHost(), server.getPort(), Messages::new);
    }

    @Override
    public TcpProxy connections() {
        return connections;
    }

    /** The JDBC URL. */
    @Override
    public String url() {
        return "jdbc:postgresql://127.0.0.1:" + connections.port() + server.getPath() + "?sslmode=disable&"
                + server.getQuery();
    }

    public long roundTrips() {
        return roundTrips.get();
    }

    /**
     * Forwards the next statement whose text contains these words, and cuts its connection instead of forwarding the
     * answer.
     */
    public void loseAnswerTo(String words) {
        nextToLose.set(new Loss(words, true));
    }

    /** Like {@link #loseAnswerTo}, but leaves the connection open, so that the client waits. */
    public void swallowAnswerTo(String words) {
        nextToLose.set(new Loss(words, false));
    }

    /**
     * Cuts the connection on which the server answers the next query: after the server has done its work, before the
     * client receives the answer. An answer without a row, such as to a pool's test of a connection, does not count.
     * But a new connection sends some queries, which count.
     */
    public void loseNextAnswer() {
        losesNextAnswer.set(true);
    }

    /** Whether notifications get lost. All else passes. */
    public void swallowNotifications(boolean swallow) {
        swallowsNotifications = swallow;
    }

    /** Whether the proxy has lost the answer that it should lose. */
    public boolean hasLostAnswer() {
        return !losesNextAnswer.get();
    }

    /** Passes the messages with the parameters of statements to the watcher, each byte as a character. */
    public void watchParameters(Consumer<String> watcher) {
        parameterWatcher = watcher;
    }

    /** Reads the message from its length on. The length includes itself. */
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

    /** A statement whose answer is to be lost. */
    private record Loss(String words, boolean cuts) {}

    private final class Messages implements TcpProxy.Traffic {

        /** Written by the thread that forwards requests, read by the one that forwards answers. */
        private volatile Loss loss;

        @Override
        public void forwardRequests(TcpProxy.Link link) throws IOException {
            DataInputStream messages = new DataInputStream(link.client().getInputStream());
            OutputStream out = link.upstream().getOutputStream();
            // Only the first message has no type.
            out.write(readBody(messages));
            while (true) {
                int type = messages.readUnsignedByte();
                byte[] body = readBody(messages);
                String text = new String(body, StandardCharsets.ISO_8859_1);
                Loss next = nextToLose.get();
                if (type == PARSE
                        && next != null
                        && text.contains(next.words)
                        && nextToLose.compareAndSet(next, null)) {
                    loss = next;
                }
                if (type == BIND) {
                    parameterWatcher.accept(text);
                }
                if (type == BIND && connections.isKeptBack(text)) {
                    ByteArrayOutputStream rest = new ByteArrayOutputStream();
                    write(rest, type, body);
                    while (type != SYNC) {
                        type = messages.readUnsignedByte();
                        write(rest, type, readBody(messages));
                    }
                    connections.awaitLetThrough(link);
                    rest.writeTo(out);
                    continue;
                }
                write(out, type, body);
            }
        }

        @Override
        public void forwardAnswers(TcpProxy.Link link) throws IOException {
            DataInputStream messages = new DataInputStream(link.upstream().getInputStream());
            boolean lost = false;
            while (true) {
                int type = messages.readUnsignedByte();
                byte[] body = readBody(messages);
                if (type == DATA_ROW && losesNextAnswer.compareAndSet(true, false)) {
                    loss = new Loss("", true);
                }
                if (type == READY_FOR_QUERY) {
                    connections.delay();
                    roundTrips.incrementAndGet();
                    if (loss != null && loss.cuts) {
                        // Only now is the statement committed.
                        link.cut();
                    }
                }
                // A client that misses one message must not receive the messages after it.
                lost |= connections.isSilent() || loss != null;
                if (!lost && !(swallowsNotifications && type == NOTIFICATION)) {
                    write(link.client().getOutputStream(), type, body);
                }
            }
        }
    }
}
