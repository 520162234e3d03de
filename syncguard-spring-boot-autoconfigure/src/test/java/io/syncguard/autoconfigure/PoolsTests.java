package io.syncguard.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.mchange.v2.c3p0.ComboPooledDataSource;
import com.zaxxer.hikari.HikariDataSource;
import io.agroal.api.AgroalDataSource;
import io.agroal.api.configuration.supplier.AgroalDataSourceConfigurationSupplier;
import io.agroal.api.security.NamePrincipal;
import io.agroal.api.security.SimplePassword;
import io.syncguard.LockManager;
import io.syncguard.LockTemplate;
import io.syncguard.embedded.OwnPostgres;
import io.syncguard.testing.CapturedLog;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import java.util.Properties;
import javax.sql.DataSource;
import net.ttddyy.dsproxy.support.ProxyDataSourceBuilder;
import org.apache.commons.dbcp2.BasicDataSource;
import org.apache.commons.dbcp2.DriverManagerConnectionFactory;
import org.apache.commons.dbcp2.PoolableConnection;
import org.apache.commons.dbcp2.PoolableConnectionFactory;
import org.apache.commons.dbcp2.PoolingDataSource;
import org.apache.commons.pool2.impl.GenericObjectPool;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.postgresql.Driver;
import org.postgresql.ds.PGSimpleDataSource;
import org.springframework.jdbc.datasource.DriverManagerDataSource;
import org.springframework.jdbc.datasource.LazyConnectionDataSourceProxy;
import org.springframework.jdbc.datasource.SimpleDriverDataSource;
import org.springframework.jdbc.datasource.SingleConnectionDataSource;
import org.springframework.jdbc.datasource.TransactionAwareDataSourceProxy;
import org.springframework.jdbc.datasource.UserCredentialsDataSourceAdapter;
import org.vibur.dbcp.ViburDBCPDataSource;

/**
 * The library finds its connections behind each pool, with a password and with properties that decide where they lead.
 */
@Timeout(60)
class PoolsTests {

    private static final String USER = "shop";
    private static final String PASSWORD = "secret";

    private static OwnPostgres server;

    /** Each makes connections to the schema {@code shop}, which is on the role's search path only by the property. */
    enum Pool {
        HIKARI(true) {
            @Override
            DataSource make() throws SQLException {
                HikariDataSource pool = new HikariDataSource();
                pool.setJdbcUrl(url());
                pool.setUsername(USER);
                pool.setPassword(PASSWORD);
                pool.addDataSourceProperty("currentSchema", "shop");
                return pool;
            }
        },
        HIKARI_WITH_A_PASSWORD_OF_ITS_OWN(false) {
            @Override
            DataSource make() throws SQLException {
                return new HikariDataSource() {
                    {
                        setJdbcUrl(url());
                        setUsername(USER);
                        setPassword("encrypted");
                    }

                    @Override
                    public Connection getConnection() throws SQLException {
                        return simple().getConnection();
                    }
                };
            }
        },
        TOMCAT(false) {
            @Override
            DataSource make() throws SQLException {
                return tomcat(new org.apache.tomcat.jdbc.pool.DataSource());
            }
        },
        TOMCAT_BEHIND_A_PROXY(false) {
            @Override
            DataSource make() throws SQLException {
                return new LazyConnectionDataSourceProxy(TOMCAT.make());
            }
        },
        DBCP(false) {
            @Override
            DataSource make() throws SQLException {
                return dbcp(new BasicDataSource());
            }
        },
        DBCP_POOLING(false) {
            @Override
            DataSource make() throws SQLException {
                PoolableConnectionFactory factory =
                        new PoolableConnectionFactory(new DriverManagerConnectionFactory(url(), properties()), null);
                GenericObjectPool<PoolableConnection> pool = new GenericObjectPool<>(factory);
                pool.setMaxTotal(20);
                factory.setPool(pool);
                return new PoolingDataSource<>(pool);
            }
        },
        C3P0(false) {
            @Override
            DataSource make() throws SQLException {
                ComboPooledDataSource pool = new ComboPooledDataSource();
                pool.setJdbcUrl(url());
                pool.setProperties(properties());
                pool.setMinPoolSize(1);
                pool.setInitialPoolSize(1);
                return pool;
            }
        },
        VIBUR(false) {
            @Override
            DataSource make() throws SQLException {
                ViburDBCPDataSource pool = new ViburDBCPDataSource();
                pool.setJdbcUrl(url() + "?currentSchema=shop");
                pool.setUsername(USER);
                pool.setPassword(PASSWORD);
                pool.setPoolInitialSize(1);
                pool.setPoolMaxSize(20);
                pool.start();
                return pool;
            }
        },
        AGROAL(true) {
            @Override
            DataSource make() throws SQLException {
                return AgroalDataSource.from(new AgroalDataSourceConfigurationSupplier()
                        .connectionPoolConfiguration(pool -> pool.maxSize(20)
                                .connectionFactoryConfiguration(factory -> factory.jdbcUrl(url())
                                        .principal(new NamePrincipal(USER))
                                        .credential(new SimplePassword(PASSWORD))
                                        .jdbcProperty("currentSchema", "shop"))));
            }
        },
        SIMPLE_DRIVER(true) {
            @Override
            DataSource make() throws SQLException {
                return simple();
            }
        },
        DRIVER_MANAGER(true) {
            @Override
            DataSource make() throws SQLException {
                return new DriverManagerDataSource(url(), properties());
            }
        },
        DECRYPTED(false) {
            @Override
            DataSource make() throws SQLException {
                return new SimpleDriverDataSource(new Driver(), url(), USER, "encrypted") {
                    @Override
                    protected Connection getConnectionFromDriver(Properties ignored) throws SQLException {
                        return super.getConnectionFromDriver(properties());
                    }
                };
            }
        },
        OF_THE_DRIVER(true) {
            @Override
            DataSource make() throws SQLException {
                PGSimpleDataSource dataSource = new PGSimpleDataSource();
                dataSource.setURL(url());
                dataSource.setUser(USER);
                dataSource.setPassword(PASSWORD);
                dataSource.setCurrentSchema("shop");
                return dataSource;
            }
        },
        WITH_CREDENTIALS(false) {
            @Override
            DataSource make() throws SQLException {
                SimpleDriverDataSource target = new SimpleDriverDataSource(new Driver(), url());
                target.setSchema("shop");
                UserCredentialsDataSourceAdapter adapter = new UserCredentialsDataSourceAdapter();
                adapter.setTargetDataSource(target);
                adapter.setUsername(USER);
                adapter.setPassword(PASSWORD);
                return adapter;
            }
        },
        SINGLE_CONNECTION(true) {
            @Override
            DataSource make() throws SQLException {
                SingleConnectionDataSource dataSource = new SingleConnectionDataSource(url(), USER, PASSWORD, true);
                dataSource.setConnectionProperties(properties());
                return dataSource;
            }
        },
        TRANSACTION_AWARE(true) {
            @Override
            DataSource make() throws SQLException {
                return new TransactionAwareDataSourceProxy(HIKARI.make());
            }
        },
        RECORDED(false) {
            @Override
            DataSource make() throws SQLException {
                return ProxyDataSourceBuilder.create(DBCP.make()).build();
            }
        };

        private final boolean isRead;

        /** @param isRead whether its details can be read, so that it lends no connections */
        Pool(boolean isRead) {
            this.isRead = isRead;
        }

        abstract DataSource make() throws SQLException;

        private static DataSource tomcat(org.apache.tomcat.jdbc.pool.DataSource pool) {
            pool.setUrl(url());
            pool.setUsername(USER);
            pool.setPassword(PASSWORD);
            pool.setConnectionProperties("currentSchema=shop");
            pool.setInitialSize(1);
            return pool;
        }

        private static DataSource dbcp(BasicDataSource pool) {
            pool.setUrl(url());
            pool.setUsername(USER);
            pool.setPassword(PASSWORD);
            pool.addConnectionProperty("currentSchema", "shop");
            pool.setMaxTotal(20);
            return pool;
        }
    }

    @BeforeAll
    static void startServer() throws IOException {
        server = new OwnPostgres();
        server.jdbc().execute("CREATE ROLE " + USER + " LOGIN PASSWORD '" + PASSWORD + "'");
        server.jdbc().execute("CREATE SCHEMA shop AUTHORIZATION " + USER);
        server.jdbc().execute("ALTER ROLE " + USER + " SET search_path = pg_catalog");
        Path rules = server.data().resolve("pg_hba.conf");
        Files.writeString(rules, "host all " + USER + " all scram-sha-256\n" + Files.readString(rules));
        server.jdbc().queryForObject("SELECT pg_reload_conf()", Boolean.class);
    }

    @AfterAll
    static void stopServer() throws IOException {
        server.close();
    }

    @ParameterizedTest
    @EnumSource
    void locks_work_behind_it_and_their_threads_end_with_the_application(Pool kind) throws Exception {
        DataSource pool = kind.make();
        try (CapturedLog log = new CapturedLog()) {
            Applications.withoutDatabase()
                    .withBean(DataSource.class, () -> pool)
                    .run(application -> {
                        assertThat(application).hasNotFailed();
                        List<String> held = application
                                .getBean(LockTemplate.class)
                                .execute(
                                        "order:1",
                                        lock -> server.jdbc()
                                                .queryForList("SELECT key FROM shop.syncguard_locks", String.class));
                        assertThat(held).containsExactly("order:1");
                        assertThat(application.getBean(LockManager.class).isLocked("order:1"))
                                .isFalse();
                        Applications.waitForALock(application);
                        await().atMost(Duration.ofSeconds(10)).until(() -> Applications.wakeUpsArrive(application));
                    });
            assertThat(log.messages().stream()
                            .anyMatch(message ->
                                    message.contains("SyncGuard keeps up to 13 connections of that DataSource")))
                    .as(() -> "lends connections: " + log.messages())
                    .isEqualTo(!kind.isRead);
        } finally {
            if (pool instanceof AutoCloseable closeable) {
                closeable.close();
            }
        }
        await().atMost(Duration.ofSeconds(10))
                .untilAsserted(() -> assertThat(ourThreads()).isEmpty());
    }

    private static List<String> ourThreads() {
        return Thread.getAllStackTraces().keySet().stream()
                .map(Thread::getName)
                .filter(name -> name.startsWith("syncguard"))
                .toList();
    }

    private static SimpleDriverDataSource simple() {
        return new SimpleDriverDataSource(new Driver(), url(), properties());
    }

    private static Properties properties() {
        Properties properties = new Properties();
        properties.setProperty("user", USER);
        properties.setProperty("password", PASSWORD);
        properties.setProperty("currentSchema", "shop");
        return properties;
    }

    private static String url() {
        return "jdbc:postgresql://127.0.0.1:" + server.port() + "/postgres";
    }
}
