package io.syncguard.benchmarks;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.URI;
import java.time.Duration;
import java.util.Arrays;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;

/** Stands between clients and a server, and delivers what the server sends after a time. */
final class SlowLink implements AutoCloseable {

    private static final int BUFFER_BYTES = 65_536;

    private record Part(byte[] bytes, long dueAt) {}

    /** Work that ends with the connection. */
    @FunctionalInterface
    private interface Copying {
        void run() throws IOException, InterruptedException;
    }

    private final URI server;
    private final ServerSocket listener;
    private volatile long delayNanos;

    /** @param server its scheme may be that of JDBC behind {@code jdbc:} */
    SlowLink(URI server) throws IOException {
        this.server = server;
        this.listener = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
        start(this::accept);
    }

    int port() {
        return listener.getLocalPort();
    }

    /** Delays all that the server sends from now on. */
    void delayAnswers(Duration delay) {
        delayNanos = delay.toNanos();
    }

    @Override
    public void close() throws IOException {
        listener.close();
    }

    private void accept() throws IOException {
        while (true) {
            Socket client = listener.accept();
            Socket server = new Socket(this.server.getHost(), this.server.getPort());
            client.setTcpNoDelay(true);
            server.setTcpNoDelay(true);
            BlockingQueue<Part> answers = new LinkedBlockingQueue<>();
            start(() -> forward(client, server));
            start(() -> read(server, answers));
            start(() -> deliver(answers, client, server));
        }
    }

    private static void forward(Socket client, Socket server) throws IOException {
        try (server) {
            client.getInputStream().transferTo(server.getOutputStream());
        }
    }

    private void read(Socket server, BlockingQueue<Part> answers) throws IOException {
        byte[] buffer = new byte[BUFFER_BYTES];
        InputStream in = server.getInputStream();
        try {
            for (int length = in.read(buffer); length > 0; length = in.read(buffer)) {
                answers.add(new Part(Arrays.copyOf(buffer, length), System.nanoTime() + delayNanos));
            }
        } finally {
            answers.add(new Part(new byte[0], System.nanoTime()));
        }
    }

    private static void deliver(BlockingQueue<Part> answers, Socket client, Socket server)
            throws IOException, InterruptedException {
        try (client;
                server) {
            OutputStream out = client.getOutputStream();
            for (Part part = answers.take(); part.bytes().length > 0; part = answers.take()) {
                TimeUnit.NANOSECONDS.sleep(part.dueAt() - System.nanoTime());
                out.write(part.bytes());
            }
        }
    }

    private static void start(Copying copying) {
        Thread thread = new Thread(
                () -> {
                    try {
                        copying.run();
                    } catch (IOException | InterruptedException ex) {
                        // The connection, or the link, has ended.
                    }
                },
                "slow-link");
        thread.setDaemon(true);
        thread.start();
    }
}
