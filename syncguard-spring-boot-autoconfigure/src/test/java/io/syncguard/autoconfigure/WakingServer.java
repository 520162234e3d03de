package io.syncguard.autoconfigure;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.time.Duration;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;

/** A server that sleeps: it accepts connections, and answers only some time after the first one. */
final class WakingServer implements AutoCloseable {

    private final int server;
    private final Duration sleep;
    private final ServerSocket listener;
    private final Set<Socket> sockets = ConcurrentHashMap.newKeySet();
    private volatile CompletableFuture<Void> awake;

    /** @param server the port of the real one */
    WakingServer(int server, Duration sleep) {
        this.server = server;
        this.sleep = sleep;
        try {
            this.listener = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
        } catch (IOException ex) {
            throw new UncheckedIOException(ex);
        }
        start(this::accept);
    }

    int port() {
        return listener.getLocalPort();
    }

    @Override
    public void close() {
        closeQuietly(listener);
        sockets.forEach(WakingServer::closeQuietly);
    }

    private void accept() throws IOException {
        while (true) {
            Socket client = listener.accept();
            sockets.add(client);
            if (awake == null) {
                awake = CompletableFuture.runAsync(
                        () -> {}, CompletableFuture.delayedExecutor(sleep.toMillis(), TimeUnit.MILLISECONDS));
            }
            awake.thenRun(() -> start(() -> forward(client)));
        }
    }

    private void forward(Socket client) throws IOException {
        Socket upstream = new Socket(InetAddress.getLoopbackAddress(), server);
        sockets.add(upstream);
        start(() -> copy(upstream, client));
        copy(client, upstream);
    }

    private static void copy(Socket from, Socket to) throws IOException {
        try (from;
                to) {
            from.getInputStream().transferTo(to.getOutputStream());
        }
    }

    private interface Work {
        void run() throws IOException;
    }

    private static void start(Work work) {
        Thread thread = new Thread(
                () -> {
                    try {
                        work.run();
                    } catch (IOException ex) {
                        // One side has closed.
                        Thread.currentThread().interrupt();
                    }
                },
                "waking-server");
        thread.setDaemon(true);
        thread.start();
    }

    private static void closeQuietly(AutoCloseable socket) {
        try {
            socket.close();
        } catch (Exception ex) {
            throw new IllegalStateException(ex);
        }
    }
}
