package io.syncguard.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.syncguard.LockTemplate;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import javax.sql.DataSource;
import org.apache.tomcat.jdbc.pool.PoolProperties;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.springframework.jdbc.datasource.DelegatingDataSource;

/** Connections that a pool of the application has lent for locks do not change the application afterwards. */
@Timeout(60)
class LentConnectionTests {

    private final TestDatabase database = TestDatabase.withSchema();

    @Test
    void the_pool_gets_each_connection_back_as_it_lent_it() throws SQLException {
        PoolProperties settings = new PoolProperties();
        settings.setUrl(database.url());
        settings.setInitialSize(1);
        settings.setDefaultAutoCommit(false);
        settings.setInitSQL("SET search_path = public, shop; SET statement_timeout = '7s'; COMMIT");
        org.apache.tomcat.jdbc.pool.DataSource pool = new org.apache.tomcat.jdbc.pool.DataSource(settings);
        try {
            pool.getConnection().close();
            List<String> before = sessions(pool).values().iterator().next();
            Applications.withoutDatabase()
                    .withBean(DataSource.class, () -> new DelegatingDataSource(pool))
                    .run(application -> {
                        Applications.waitForALock(application);
                        assertThat(application
                                        .getBean(LockTemplate.class)
                                        .<Boolean, RuntimeException>execute("order:1", lock -> lock.isHeld()))
                                .isTrue();
                        assertThat(pool.getActive()).isGreaterThan(0);
                    });
            await().until(() -> pool.getActive() == 0);
            assertThat(pool.getIdle()).isGreaterThan(1);

            assertThat(sessions(pool).values())
                    .hasSizeGreaterThan(1)
                    .allSatisfy(each -> assertThat(each).containsExactlyElementsOf(before));
        } finally {
            pool.close(true);
        }
    }

    /** The settings of the idle connections, by their process ids. */
    private static Map<String, List<String>> sessions(org.apache.tomcat.jdbc.pool.DataSource pool) throws SQLException {
        Map<String, List<String>> settings = new HashMap<>();
        int idle = pool.getIdle();
        Connection[] connections = new Connection[idle];
        for (int i = 0; i < idle; i++) {
            connections[i] = pool.getConnection();
            settings.put(pidOf(connections[i]), settingsOf(connections[i]));
        }
        for (Connection each : connections) {
            each.close();
        }
        return settings;
    }

    private static String pidOf(Connection connection) throws SQLException {
        return query(connection, "SELECT pg_backend_pid()").get(0);
    }

    private static List<String> settingsOf(Connection connection) throws SQLException {
        List<String> settings = query(
                connection,
                "SELECT name || '=' || setting FROM pg_settings WHERE name NOT LIKE 'plpgsql.%' AND name <>"
                        + " 'application_name' ORDER BY name");
        settings.add("autocommit=" + connection.getAutoCommit());
        settings.add("timeout=" + connection.getNetworkTimeout());
        connection.rollback();
        return settings;
    }

    private static List<String> query(Connection connection, String sql) throws SQLException {
        List<String> values = new ArrayList<>();
        try (Statement statement = connection.createStatement();
                ResultSet rows = statement.executeQuery(sql)) {
            while (rows.next()) {
                values.add(rows.getString(1));
            }
        }
        return values;
    }
}
