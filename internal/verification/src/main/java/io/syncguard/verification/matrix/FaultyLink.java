package io.syncguard.verification.matrix;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.EnumSet;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.LockSupport;

/**
 * The network between one process and its server. It forwards bytes and knows no protocol. It can drop bytes in one
 * direction or both, delay them, limit their rate, reset connections, and lose answers.
 */
final class FaultyLink implements AutoCloseable {

    /** A direction. */
    enum Way {
        REQUESTS,
        ANSWERS
    }

    private static final int BUFFER = 16_384;
    private static final long SECOND = 1_000_000_000;
    private static final long LOOK_NANOS = 5_000_000;

    private final ServerSocket listener;
    private volatile int target;
    private final Set<Connection> connections = ConcurrentHashMap.newKeySet();
    private final AtomicBoolean losesNextAnswer = new AtomicBoolean();
    private volatile Set<Way> dropped = Set.of();
    private volatile boolean refuses;
    private volatile long delayNanos;
    private volatile long bytesPerSecond = Long.MAX_VALUE;

    /** The number of calls of {@link #heal}, which ends pending delays. */
    private volatile int healed;

    /** @param target the port of the server on this machine */
    FaultyLink(int target) {
        this.target = target;
        try {
            this.listener = new ServerSocket(0, 100, InetAddress.getLoopbackAddress());
        } catch (IOException ex) {
            throw new UncheckedIOException(ex);
        }
        start(this::accept);
    }

    int port() {
        return listener.getLocalPort();
    }

    /** Leads to another server from now on, and resets existing connections. */
    void leadTo(int other) {
        target = other;
        reset();
    }

    int connections() {
        return connections.size();
    }

    /** Drops all bytes in these directions, without an error on either side. */
    void drop(Way... ways) {
        Set<Way> all = EnumSet.noneOf(Way.class);
        all.addAll(Set.of(ways));
        dropped = all;
    }

    /** Refuses new connections and resets the existing ones. */
    void refuse() {
        refuses = true;
        reset();
    }

    void delay(long nanos) {
        delayNanos = nanos;
    }

    void limit(long bytesPerSecond) {
        this.bytesPerSecond = bytesPerSecond;
    }

    /** Forwards the next request, loses its answer, and resets the connection. */
    void loseNextAnswer() {
        losesNextAnswer.set(true);
    }

    /** Whether the link has lost an answer since {@link #loseNextAnswer}. */
    boolean hasLostAnswer() {
        return !losesNextAnswer.get();
    }

    void reset() {
        connections.forEach(Connection::reset);
    }

    /** Ends all faults. It resets the connections if bytes were dropped, because they are unusable. */
    void heal() {
        boolean lostBytes = !dropped.isEmpty();
        losesNextAnswer.set(false);
        delayNanos = 0;
        bytesPerSecond = Long.MAX_VALUE;
        healed++;
        dropped = Set.of();
        if (lostBytes) {
            reset();
        }
        refuses = false;
    }

    @Override
    public void close() {
        try {
            listener.close();
        } catch (IOException ex) {
            throw new UncheckedIOException(ex);
        }
        reset();
    }

    private void accept() throws IOException {
        while (true) {
            Socket client = listener.accept();
            if (refuses) {
                client.setSoLinger(true, 0);
                client.close();
                continue;
            }
            try {
                connect(client);
            } catch (IOException ex) {
                // The server is down.
                client.close();
            }
        }
    }

    private void connect(Socket client) throws IOException {
        Connection connection = new Connection(client, new Socket(InetAddress.getLoopbackAddress(), target));
        client.setTcpNoDelay(true);
        connection.server.setTcpNoDelay(true);
        connections.add(connection);
        start(() -> connection.forward(Way.REQUESTS));
        start(() -> connection.forward(Way.ANSWERS));
    }

    private interface Task {
        void run() throws IOException;
    }

    private static void start(Task task) {
        Thread thread = new Thread(
                () -> {
                    try {
                        task.run();
                    } catch (IOException ex) {
                        // The connection or the link was closed, which is how these threads end.
                    }
                },
                "link");
        thread.setDaemon(true);
        thread.start();
    }

    private final class Connection {

        private final Socket client;
        private final Socket server;
        private volatile boolean losesAnswer;

        Connection(Socket client, Socket server) {
            this.client = client;
            this.server = server;
        }

        void forward(Way way) throws IOException {
            InputStream in = (way == Way.REQUESTS ? client : server).getInputStream();
            OutputStream out = (way == Way.REQUESTS ? server : client).getOutputStream();
            byte[] buffer = new byte[BUFFER];
            try {
                for (int read = in.read(buffer); read >= 0; read = in.read(buffer)) {
                    hold(delayNanos + (long) ((double) read / bytesPerSecond * SECOND));
                    if (way == Way.REQUESTS && losesNextAnswer.compareAndSet(true, false)) {
                        losesAnswer = true;
                    }
                    if (way == Way.ANSWERS && losesAnswer) {
                        return;
                    }
                    if (!dropped.contains(way)) {
                        out.write(buffer, 0, read);
                    }
                }
            } finally {
                reset();
            }
        }

        /** Waits for this time, or until the link is healed. */
        private void hold(long nanos) {
            long until = System.nanoTime() + nanos;
            int before = healed;
            for (long left = nanos; left > 0 && healed == before; left = until - System.nanoTime()) {
                LockSupport.parkNanos(Math.min(left, LOOK_NANOS));
            }
        }

        void reset() {
            connections.remove(this);
            for (Socket socket : new Socket[] {client, server}) {
                try {
                    socket.setSoLinger(true, 0);
                    socket.close();
                } catch (IOException ex) {
                    // The socket is already closed.
                }
            }
        }
    }
}
