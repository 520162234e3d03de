package io.syncguard.postgres;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.syncguard.testing.PostgresServer;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.SocketTimeoutException;
import java.sql.Connection;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.postgresql.PGConnection;
import org.postgresql.PGNotification;
import org.postgresql.ds.PGSimpleDataSource;

/** What the socket of the listening connection adds to a plain one. It loses no data. */
class PromptSocketFactoryTests {

    private final PromptSocketFactory factory = new PromptSocketFactory();

    @Test
    void all_notifications_of_any_size_arrive_in_order() throws Exception {
        PGSimpleDataSource dataSource = (PGSimpleDataSource) PostgresServer.newDatabase();
        dataSource.setSocketFactory(PromptSocketFactory.class.getName());
        List<String> sent = IntStream.range(0, 500)
                .mapToObj(i -> i + "x".repeat(i * 37 % 7000))
                .toList();
        List<String> received = new ArrayList<>();
        try (Connection listener = dataSource.getConnection();
                Statement listen = listener.createStatement();
                Connection sender = dataSource.getConnection();
                Statement notify = sender.createStatement()) {
            listen.execute("LISTEN channel");
            for (String payload : sent) {
                notify.execute("NOTIFY channel, '" + payload + "'");
            }
            while (received.size() < sent.size()) {
                for (PGNotification notification :
                        listener.unwrap(PGConnection.class).getNotifications(10_000)) {
                    received.add(notification.getParameter());
                }
            }
            assertThat(listener.isValid(10)).isTrue();
        }
        assertThat(received).isEqualTo(sent);
    }

    @Test
    void the_drivers_look_for_more_is_answered_from_what_has_arrived() throws Exception {
        try (ServerSocket server = new ServerSocket(0, 1, InetAddress.getLoopbackAddress());
                Socket socket = factory.createSocket()) {
            socket.connect(server.getLocalSocketAddress());
            try (Socket other = server.accept()) {
                InputStream in = socket.getInputStream();
                byte[] read = new byte[2];

                socket.setSoTimeout(1);
                assertThatThrownBy(() -> in.read(read, 0, 1))
                        .isInstanceOf(SocketTimeoutException.class)
                        .hasMessage("Nothing has arrived");

                other.getOutputStream().write(new byte[] {7, 8});
                socket.setSoTimeout(10_000);
                assertThat(in.read(read, 0, 1)).isEqualTo(1);
                socket.setSoTimeout(1);
                assertThat(in.read(read, 1, 1)).isEqualTo(1);
                assertThat(read).containsExactly(7, 8);
            }
        }
    }

    @Test
    void it_makes_sockets_for_the_driver_alone() {
        assertThatThrownBy(() -> factory.createSocket("localhost", 1)).hasMessageContaining("driver");
    }
}
