package io.syncguard.testing;

import java.io.DataInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.URI;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;

/**
 * Stands between a client and the test server, counts round trips, can fall silent, and can cut at a bad moment.
 *
 * <p>A round trip is one {@code ReadyForQuery} message of the server: with it, it gives the word back to the client. Only
 * connections without encryption are understood.
 */
public final class PostgresProxy implements AutoCloseable {

    private static final int READY_FOR_QUERY = 'Z';
    private static final int DATA_ROW = 'D';

    private final URI server;
    private final ServerSocket listener;
    private final AtomicLong roundTrips = new AtomicLong();
    private final Set<Socket> sockets = ConcurrentHashMap.newKeySet();
    private final AtomicBoolean losesNextAnswer = new AtomicBoolean();
    private volatile boolean silent;

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
        cut();
        silent = false;
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

    /** Cuts all connections. */
    public void cut() {
        sockets.forEach(PostgresProxy::closeQuietly);
        sockets.clear();
    }

    @Override
    public void close() {
        closeQuietly(listener);
        cut();
    }

    private void accept() throws IOException {
        while (!listener.isClosed()) {
            Socket client = listener.accept();
            Socket upstream = new Socket(server.getHost(), server.getPort());
            client.setTcpNoDelay(true);
            upstream.setTcpNoDelay(true);
            sockets.add(client);
            sockets.add(upstream);
            start("requests", () -> client.getInputStream().transferTo(upstream.getOutputStream()));
            start("answers", () -> {
                forwardAnswers(upstream.getInputStream(), client.getOutputStream());
                closeQuietly(client);
                closeQuietly(upstream);
            });
        }
    }

    /** Returns when the connection is to be cut. */
    private void forwardAnswers(InputStream in, OutputStream out) throws IOException {
        DataInputStream messages = new DataInputStream(in);
        boolean loses = false;
        while (true) {
            int type = messages.readUnsignedByte();
            int length = messages.readInt();
            byte[] body = messages.readNBytes(length - Integer.BYTES);
            if (type == READY_FOR_QUERY) {
                roundTrips.incrementAndGet();
                if (loses) {
                    return;
                }
            }
            loses |= type == DATA_ROW && losesNextAnswer.compareAndSet(true, false);
            if (!silent && !loses) {
                byte[] message = new byte[1 + length];
                message[0] = (byte) type;
                for (int i = 0; i < Integer.BYTES; i++) {
                    message[1 + i] = (byte) (length >>> 8 * (3 - i));
                }
                System.arraycopy(body, 0, message, 1 + Integer.BYTES, body.length);
                out.write(message);
                out.flush();
            }
        }
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

    @FunctionalInterface
    private interface IoTask {
        void run() throws IOException;
    }
}
