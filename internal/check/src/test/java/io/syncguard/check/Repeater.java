package io.syncguard.check;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.atomic.AtomicInteger;

/** Stands in front of a Redis, and sends some requests twice: the client gets the first of the two answers. */
final class Repeater implements AutoCloseable {

    private final ServerSocket listener = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
    private final int port;
    private final String words;

    /** @param words requests with them are repeated; their answers have one line */
    Repeater(int port, String words) throws IOException {
        this.port = port;
        this.words = words;
        RoundRobin.start(this::accept);
    }

    int port() {
        return listener.getLocalPort();
    }

    private void accept() throws IOException {
        while (true) {
            Socket client = listener.accept();
            Socket server = new Socket(InetAddress.getLoopbackAddress(), port);
            AtomicInteger lines = new AtomicInteger();
            RoundRobin.start(() -> forward(client.getInputStream(), server.getOutputStream(), lines));
            RoundRobin.start(() -> answer(server.getInputStream(), client.getOutputStream(), lines));
        }
    }

    private void forward(InputStream from, OutputStream to, AtomicInteger lines) throws IOException {
        byte[] buffer = new byte[8192];
        for (int count = from.read(buffer); count > 0; count = from.read(buffer)) {
            if (new String(buffer, 0, count, StandardCharsets.US_ASCII).contains(words)) {
                lines.set(2);
                to.write(buffer, 0, count);
            }
            to.write(buffer, 0, count);
        }
    }

    private static void answer(InputStream from, OutputStream to, AtomicInteger lines) throws IOException {
        boolean dropped = false;
        for (int next = from.read(); next >= 0; next = from.read()) {
            if (!dropped) {
                to.write(next);
            }
            if (next == '\n' && lines.get() > 0) {
                dropped = lines.decrementAndGet() == 1;
            }
        }
    }

    @Override
    public void close() throws IOException {
        listener.close();
    }
}
