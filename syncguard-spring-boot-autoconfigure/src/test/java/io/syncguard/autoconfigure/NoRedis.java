package io.syncguard.autoconfigure;

import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;

/** A server with another protocol: answers the first bytes of each connection, or resets the connection. */
final class NoRedis implements AutoCloseable {

    private final ServerSocket listener = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
    private final List<Socket> clients = new CopyOnWriteArrayList<>();
    private final String answer;

    /** @param answer empty for a server that resets each connection */
    NoRedis(String answer) throws IOException {
        this.answer = answer;
        Thread thread = new Thread(this::serve, "no-redis");
        thread.setDaemon(true);
        thread.start();
    }

    int port() {
        return listener.getLocalPort();
    }

    private void serve() {
        while (!listener.isClosed()) {
            try {
                Socket client = listener.accept();
                // A close with unread input would reset the connection, and the answer might be lost.
                clients.add(client);
                client.getInputStream().read();
                if (answer.isEmpty()) {
                    client.setSoLinger(true, 0);
                    client.close();
                } else {
                    client.getOutputStream().write(answer.getBytes(StandardCharsets.UTF_8));
                }
            } catch (IOException ex) {
                // The client or the test has gone.
            }
        }
    }

    @Override
    public void close() throws IOException {
        listener.close();
        for (Socket client : clients) {
            client.close();
        }
    }
}
