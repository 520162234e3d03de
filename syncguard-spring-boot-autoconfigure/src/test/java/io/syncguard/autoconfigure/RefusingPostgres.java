package io.syncguard.autoconfigure;

import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;

/** Refuses each connection, as PostgreSQL does. */
final class RefusingPostgres implements AutoCloseable {

    private final ServerSocket listener = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
    private final String state;
    private final String words;

    RefusingPostgres(String state, String words) throws IOException {
        this.state = state;
        this.words = words;
        Thread thread = new Thread(this::refuse, "refusing-postgres");
        thread.setDaemon(true);
        thread.start();
    }

    String url() {
        return "jdbc:postgresql://127.0.0.1:" + listener.getLocalPort()
                + "/shop?user=shop&sslmode=disable&gssEncMode=disable";
    }

    private void refuse() {
        while (!listener.isClosed()) {
            try (Socket client = listener.accept()) {
                DataInputStream request = new DataInputStream(client.getInputStream());
                request.readNBytes(request.readInt() - Integer.BYTES);
                byte[] error = error();
                DataOutputStream answer = new DataOutputStream(client.getOutputStream());
                answer.writeByte('E');
                answer.writeInt(Integer.BYTES + error.length);
                answer.write(error);
                answer.flush();
            } catch (IOException ex) {
                // The client or the test has gone.
            }
        }
    }

    private byte[] error() {
        return ("SFATAL\0VFATAL\0C" + state + "\0M" + words + "\0\0").getBytes(StandardCharsets.UTF_8);
    }

    @Override
    public void close() throws IOException {
        listener.close();
    }
}
