package io.syncguard.autoconfigure;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.SocketTimeoutException;
import java.util.ArrayList;
import java.util.List;

/** A host that does not even refuse a connection, like one behind a firewall: its queue of connections is full. */
final class DarkHost implements AutoCloseable {

    private static final int MOST = 20;

    private final ServerSocket listener;
    private final List<Socket> queue = new ArrayList<>();

    DarkHost() throws IOException {
        listener = new ServerSocket(0, 1, InetAddress.getLoopbackAddress());
        boolean isFull = false;
        while (!isFull && queue.size() < MOST) {
            Socket next = new Socket();
            queue.add(next);
            try {
                next.connect(new InetSocketAddress(InetAddress.getLoopbackAddress(), port()), 100);
            } catch (SocketTimeoutException ex) {
                isFull = true;
            }
        }
        if (!isFull) {
            throw new IllegalStateException("The system accepts connections without an end");
        }
    }

    int port() {
        return listener.getLocalPort();
    }

    @Override
    public void close() throws IOException {
        listener.close();
        for (Socket each : queue) {
            each.close();
        }
    }
}
