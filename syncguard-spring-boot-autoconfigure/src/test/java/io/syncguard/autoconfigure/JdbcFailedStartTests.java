package io.syncguard.autoconfigure;

import io.syncguard.testing.MariaDbServer;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DatabaseMetaData;
import java.sql.SQLException;
import java.util.UUID;
import javax.sql.DataSource;
import org.h2.jdbcx.JdbcDataSource;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;
import org.mockito.Mockito;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.datasource.DelegatingDataSource;
import org.springframework.jdbc.datasource.DriverManagerDataSource;

/** What a person reads when an application cannot keep its locks in tables of its database. */
@ExtendWith(OutputCaptureExtension.class)
class JdbcFailedStartTests {

    private final String mariaDb = MariaDbServer.newDatabaseUrl();
    private final JdbcTemplate administrator = new JdbcTemplate(new DriverManagerDataSource(mariaDb));

    private FailedStart start;

    @BeforeEach
    void capture(CapturedOutput output) {
        start = new FailedStart(output);
    }

    @Test
    void on_a_product_without_a_dialect() {
        start.with(AnotherProduct.class).reads("no-dialect");
    }

    @Test
    void with_a_prefix_that_begins_no_name() {
        start.with(url(mariaDb), "syncguard.jdbc.table-prefix=my-locks_").reads("table-prefix");
    }

    @Test
    void without_the_tables() {
        start.with(url(mariaDb), "syncguard.jdbc.schema-management=none").reads("no-portable-tables");
    }

    @Test
    void without_the_tables_and_with_the_script(@TempDir Path directory) {
        start.with(
                        url(mariaDb),
                        "syncguard.jdbc.schema-management=none",
                        "syncguard.jdbc.schema-script=" + directory.resolve("syncguard.sql"))
                .whereas(directory.toString(), "<directory>")
                .reads("no-portable-tables-written");
    }

    @Test
    void on_tables_that_do_not_roll_back() {
        createTables();
        administrator.execute("ALTER TABLE syncguard_keys ENGINE = MyISAM");

        start.with(url(mariaDb)).reads("no-rollback");
    }

    @Test
    void on_tables_that_compare_keys_as_text() {
        createTables();
        administrator.execute("ALTER TABLE syncguard_keys MODIFY lock_key VARCHAR(512) CHARACTER SET utf8mb4");

        start.with(url(mariaDb)).reads("keys-as-text");
    }

    @Test
    void as_a_user_without_rights() {
        String h2 = "jdbc:h2:mem:" + UUID.randomUUID();
        JdbcTemplate owner = new JdbcTemplate(new DriverManagerDataSource(h2 + ";DB_CLOSE_DELAY=-1", "sa", ""));
        owner.execute("SELECT 1");
        Applications.on(h2).run(application -> application.getBean(DataSource.class));
        owner.execute("CREATE USER reader PASSWORD 'secret'");
        owner.execute("GRANT SELECT, INSERT ON SCHEMA public TO reader");

        start.with(url(h2), "spring.datasource.username=reader", "spring.datasource.password=secret")
                .reads("no-rights-in-tables");
    }

    @Test
    void on_a_server_that_is_down() {
        start.with(url("jdbc:mariadb://127.0.0.1:1/shop"), "syncguard.jdbc.network-timeout=500ms")
                .whereasMatches("cannot be reached, or serves no writes: .*", "cannot be reached: <its words>")
                .reads("no-server");
    }

    private void createTables() {
        Applications.on(mariaDb).run(application -> application.getBean(DataSource.class));
    }

    private static String url(String url) {
        return "spring.datasource.url=" + url;
    }

    @Configuration(proxyBeanMethods = false)
    static class AnotherProduct {

        @Bean
        DataSource dataSource() {
            JdbcDataSource h2 = new JdbcDataSource();
            h2.setUrl("jdbc:h2:mem:");
            return new DelegatingDataSource(h2) {
                @Override
                public Connection getConnection() throws SQLException {
                    Connection connection = Mockito.spy(super.getConnection());
                    DatabaseMetaData product = Mockito.mock();
                    Mockito.when(product.getDatabaseProductName()).thenReturn("Oracle");
                    Mockito.doReturn(product).when(connection).getMetaData();
                    return connection;
                }
            };
        }
    }
}
