package io.syncguard.portable;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import io.syncguard.concurrent.Time;
import io.syncguard.core.ContractFixture;
import io.syncguard.jdbc.JdbcConnections;
import io.syncguard.jdbc.RunningRequests;
import java.lang.reflect.Proxy;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.datasource.SingleConnectionDataSource;

/** The sessions of requests. Each subclass names the database. */
abstract class PortableSessionTests extends ContractFixture {

    final Dialect dialect;
    private final String set;
    private final String get;
    final PortableSessions sessions;

    /**
     * @param set sets what requests have otherwise
     * @param get reads it
     */
    PortableSessionTests(Dialect dialect, String set, String get) {
        this.dialect = dialect;
        this.set = set;
        this.get = get;
        this.sessions = new PortableSessions(dialect, PortableContractStore.TIMEOUT);
    }

    /** The network may be cut between the two round trips of a request, too. */
    @Test
    void a_process_that_stops_within_a_request_does_not_keep_the_key_from_others() throws SQLException {
        release(held(writer()));
        try (Connection stopped = connection()) {
            sessions.prepare(stopped);
            sessions.on(stopped).begin(new KeyRows(PortableTables.DEFAULT, dialect).read(List.of(KEY), "FOR UPDATE"));

            granted(writer());
        }
    }

    @Test
    void a_connection_of_the_application_gets_its_settings_back() throws SQLException {
        try (Connection lent = connection()) {
            JdbcTemplate jdbc = new JdbcTemplate(new SingleConnectionDataSource(lent, true));
            jdbc.execute(set);
            Map<String, Object> before = jdbc.queryForMap(get);
            var session = dialect.read(lent);
            sessions.prepare(lent);
            assertThat(jdbc.queryForMap(get).entrySet()).doesNotContainAnyElementsOf(before.entrySet());

            session.restore(lent);

            assertThat(jdbc.queryForMap(get)).isEqualTo(before);
        }
    }

    @Test
    void a_connection_that_breaks_while_it_is_set_up_is_used_for_no_request() throws SQLException {
        Connection healthy = connection();
        Connection breaking = (Connection) Proxy.newProxyInstance(
                getClass().getClassLoader(), new Class<?>[] {Connection.class}, (proxy, method, args) -> {
                    if (method.getName().equals("prepareStatement")) {
                        healthy.close();
                        throw new SQLException("Socket error", "08000");
                    }
                    return method.invoke(healthy, args);
                });

        assertThatThrownBy(() -> sessions.prepare(breaking)).hasMessage("Socket error");
    }

    @Test
    void a_request_that_was_interrupted_at_its_end_leaves_no_closed_connection_in_the_pool() {
        HikariConfig one = new HikariConfig();
        dataSource().copyStateTo(one);
        one.setMaximumPoolSize(1);
        try (HikariDataSource pool = new HikariDataSource(one);
                RunningRequests requests = new RunningRequests(Time.SYSTEM)) {
            JdbcConnections connections = new JdbcConnections(pool, sessions, PortableContractStore.TIMEOUT, requests);
            connections.call("being interrupted", Duration.ofSeconds(1), connection -> {
                Thread.currentThread().interrupt();
                Connection driver = dialect.ofDriver(connection);
                while (!driver.isClosed()) {
                    Thread.onSpinWait();
                }
                return null;
            });

            assertThat(Thread.interrupted()).isTrue();
            assertThat(connections.<Boolean>call("going on", connection -> connection.isValid(1)))
                    .isTrue();
        }
    }

    /** A connection that no test gets after this one. */
    final Connection connection() throws SQLException {
        return DriverManager.getConnection(
                dataSource().getJdbcUrl(),
                dataSource().getUsername(),
                dataSource().getPassword());
    }

    final HikariDataSource dataSource() {
        return (HikariDataSource) ((PortableContractStore) store()).dataSource();
    }
}
