package io.syncguard.check;

import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;

/** An address that leads to several servers in turn. */
final class RoundRobin implements AutoCloseable {

    private final ServerSocket listener = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
    private final int[] ports;

    RoundRobin(int... ports) throws IOException {
        this.ports = ports;
        start(this::accept);
    }

    int port() {
        return listener.getLocalPort();
    }

    private void accept() throws IOException {
        for (int i = 0; ; i++) {
            Socket client = listener.accept();
            Socket server = new Socket(InetAddress.getLoopbackAddress(), ports[i % ports.length]);
            start(() -> copy(client, server));
            start(() -> copy(server, client));
        }
    }

    private static void copy(Socket from, Socket to) throws IOException {
        try (from;
                to) {
            from.getInputStream().transferTo(to.getOutputStream());
        }
    }

    static void start(Copy copy) {
        Thread thread = new Thread(() -> {
            try {
                copy.run();
            } catch (IOException ex) {
                // One side has closed the connection.
                return;
            }
        });
        thread.setDaemon(true);
        thread.start();
    }

    @Override
    public void close() throws IOException {
        listener.close();
    }

    @FunctionalInterface
    interface Copy {
        void run() throws IOException;
    }
}
