package io.syncguard.testing;

import java.io.DataInputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * Somebody in the network path to a PostgreSQL server. Forwards connections unchanged until it takes over: then it cuts
 * them, and plays a server without encryption that asks for the password.
 */
public final class PostgresImpostor implements AutoCloseable {

    private static final byte[] ASKS_FOR_PASSWORD =
            ByteBuffer.allocate(9).put((byte) 'R').putInt(8).putInt(3).array();

    /** The code of a start-up message; SSLRequest and GSSENCRequest have other ones. */
    private static final int PROTOCOL_3 = 3;

    private final int server;
    private final TcpProxy path;
    private final ServerSocket impostor;
    private final List<String> passwords = new CopyOnWriteArrayList<>();
    private final AtomicInteger clients = new AtomicInteger();

    /** @param server the port of the server */
    public PostgresImpostor(int server) {
        this.server = server;
        this.path = new TcpProxy("127.0.0.1", server, Unchanged::new);
        try {
            this.impostor = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
        } catch (IOException ex) {
            throw new UncheckedIOException(ex);
        }
        Thread thread = new Thread(this::serve, "impostor");
        thread.setDaemon(true);
        thread.start();
    }

    /** The port that clients connect to. */
    public int port() {
        return path.port();
    }

    /** Begins with no passwords. */
    public void takeOver() {
        passwords.clear();
        clients.set(0);
        path.moveTo(impostor.getLocalPort());
        path.cut();
    }

    public void giveBack() {
        path.moveTo(server);
        path.cut();
    }

    /** How many clients came since the last {@link #takeOver()} and are gone. */
    public int clients() {
        return clients.get();
    }

    /** The passwords that arrived in clear. */
    public List<String> passwords() {
        return passwords;
    }

    @Override
    public void close() {
        path.close();
        try {
            impostor.close();
        } catch (IOException ex) {
            throw new UncheckedIOException(ex);
        }
    }

    private void serve() {
        while (!impostor.isClosed()) {
            try (Socket client = impostor.accept()) {
                try {
                    readPassword(client);
                } finally {
                    clients.incrementAndGet();
                }
            } catch (IOException ex) {
                // The client refuses this server, which is what it should do.
                continue;
            }
        }
    }

    private void readPassword(Socket client) throws IOException {
        DataInputStream in = new DataInputStream(client.getInputStream());
        OutputStream out = client.getOutputStream();
        while (isNoStartUp(in)) {
            out.write('N');
        }
        out.write(ASKS_FOR_PASSWORD);
        if (in.readUnsignedByte() == 'p') {
            byte[] password = in.readNBytes(in.readInt() - Integer.BYTES);
            passwords.add(new String(password, 0, password.length - 1, StandardCharsets.UTF_8));
        }
    }

    private static boolean isNoStartUp(DataInputStream in) throws IOException {
        int length = in.readInt();
        int code = in.readInt();
        in.skipNBytes(length - 2L * Integer.BYTES);
        return code >> 16 != PROTOCOL_3;
    }

    private static final class Unchanged implements TcpProxy.Traffic {

        @Override
        public void forwardRequests(TcpProxy.Link link) throws IOException {
            link.client().getInputStream().transferTo(link.upstream().getOutputStream());
        }

        @Override
        public void forwardAnswers(TcpProxy.Link link) throws IOException {
            link.upstream().getInputStream().transferTo(link.client().getOutputStream());
        }
    }
}
