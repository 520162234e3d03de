package io.syncguard.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import com.atomikos.jdbc.AtomikosDataSourceBean;
import com.mchange.v2.c3p0.ComboPooledDataSource;
import com.zaxxer.hikari.HikariDataSource;
import io.agroal.api.AgroalDataSource;
import io.agroal.api.configuration.AgroalConnectionPoolConfiguration.ConnectionValidator;
import io.agroal.api.configuration.supplier.AgroalDataSourceConfigurationSupplier;
import io.agroal.api.security.NamePrincipal;
import io.agroal.api.security.SimplePassword;
import io.syncguard.LockBackendException;
import io.syncguard.LockManager;
import io.syncguard.LockRequest;
import io.syncguard.LockTemplate;
import io.syncguard.testing.UsualBuild;
import java.beans.PropertyVetoException;
import java.io.IOException;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.UUID;
import java.util.stream.Stream;
import javax.sql.DataSource;
import org.aopalliance.intercept.MethodInterceptor;
import org.apache.commons.dbcp2.BasicDataSource;
import org.assertj.core.util.Throwables;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.postgresql.Driver;
import org.postgresql.ds.PGSimpleDataSource;
import org.postgresql.xa.PGXADataSource;
import org.springframework.aop.framework.ProxyFactory;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.jdbc.datasource.AbstractDataSource;
import org.springframework.jdbc.datasource.DelegatingDataSource;
import org.springframework.jdbc.datasource.DriverManagerDataSource;
import org.springframework.jdbc.datasource.LazyConnectionDataSourceProxy;
import org.springframework.jdbc.datasource.SimpleDriverDataSource;
import org.springframework.jdbc.datasource.SingleConnectionDataSource;
import org.springframework.jdbc.datasource.lookup.AbstractRoutingDataSource;
import org.vibur.dbcp.ViburDBCPDataSource;

/**
 * The application lets its connections go to one server only, and only encrypted. So do the locks, wherever the
 * application says it: somebody in the network path never gets the password.
 */
@Timeout(120)
class EncryptedConnectionsTests {

    private static final LockRequest ORDER = LockRequest.of("order:1").waitTime(Duration.ZERO);

    private static EncryptedPostgres server;

    enum Source {
        HIKARI {
            @Override
            DataSource make() throws SQLException {
                HikariDataSource pool = unverified();
                pool.setDataSourceProperties(server.verified());
                return pool;
            }
        },
        HIKARI_BEHIND_A_PROXY {
            @Override
            DataSource make() throws SQLException {
                return new LazyConnectionDataSourceProxy(HIKARI.make());
            }
        },
        HIKARI_OVER_A_DATA_SOURCE {
            @Override
            DataSource make() throws SQLException {
                HikariDataSource pool = new HikariDataSource();
                pool.setDataSource(OF_THE_DRIVER.make());
                pool.setMaximumPoolSize(20);
                pool.setConnectionTimeout(1000);
                return pool;
            }
        },
        HIKARI_OF_A_CLASS_BEHIND_A_PROXY {
            @Override
            DataSource make() throws SQLException {
                HikariDataSource pool = new HikariDataSource();
                pool.setDataSourceClassName(PGSimpleDataSource.class.getName());
                pool.setDataSourceProperties(server.verified());
                pool.getDataSourceProperties().putAll(login());
                pool.addDataSourceProperty("url", server.url());
                pool.setConnectionTimeout(1000);
                return new LazyConnectionDataSourceProxy(pool);
            }
        },
        /** Shows details without encryption, and connects with others. */
        SUBCLASS_OF_HIKARI {
            @Override
            DataSource make() throws SQLException {
                return unverified(new HikariDataSource() {
                    @Override
                    public Connection getConnection() throws SQLException {
                        return OF_THE_DRIVER.make().getConnection();
                    }
                });
            }
        },
        WRAPPER_OF_HIKARI {
            @Override
            DataSource make() throws SQLException {
                return new DelegatingDataSource(unverified()) {
                    @Override
                    public Connection getConnection() throws SQLException {
                        return OF_THE_DRIVER.make().getConnection();
                    }
                };
            }
        },
        ADVICE_AROUND_HIKARI {
            @Override
            DataSource make() throws SQLException {
                ProxyFactory factory = new ProxyFactory(unverified());
                factory.addAdvice(
                        (MethodInterceptor) call -> call.getMethod().getName().equals("getConnection")
                                ? OF_THE_DRIVER.make().getConnection()
                                : call.proceed());
                return (DataSource) factory.getProxy();
            }
        },
        ROUTER_TO_HIKARI {
            @Override
            DataSource make() throws SQLException {
                AbstractRoutingDataSource router = new AbstractRoutingDataSource() {
                    @Override
                    protected Object determineCurrentLookupKey() {
                        return "one";
                    }

                    @Override
                    public Connection getConnection() throws SQLException {
                        return OF_THE_DRIVER.make().getConnection();
                    }
                };
                router.setTargetDataSources(Map.of("one", unverified()));
                router.afterPropertiesSet();
                return router;
            }
        },
        TOMCAT {
            @Override
            DataSource make() throws SQLException {
                org.apache.tomcat.jdbc.pool.DataSource pool = tomcat();
                pool.setDbProperties(server.verified());
                return pool;
            }
        },
        /** The details that it shows beside are not used. */
        TOMCAT_OVER_A_DATA_SOURCE {
            @Override
            DataSource make() throws SQLException {
                org.apache.tomcat.jdbc.pool.DataSource pool = tomcat();
                pool.setDataSource(OF_THE_DRIVER.make());
                return pool;
            }
        },
        DBCP {
            @Override
            DataSource make() throws SQLException {
                BasicDataSource pool = dbcp(new BasicDataSource());
                server.verified().forEach((key, value) -> pool.addConnectionProperty((String) key, (String) value));
                return pool;
            }
        },
        DBCP_WITH_A_DRIVER_OF_ITS_OWN {
            @Override
            DataSource make() throws SQLException {
                BasicDataSource pool = dbcp(new BasicDataSource());
                pool.setDriver(new VerifyingDriver());
                return pool;
            }
        },
        SUBCLASS_OF_DBCP {
            @Override
            DataSource make() throws SQLException {
                return dbcp(new BasicDataSource() {
                    @Override
                    public Connection getConnection() throws SQLException {
                        return OF_THE_DRIVER.make().getConnection();
                    }
                });
            }
        },
        C3P0 {
            @Override
            DataSource make() throws SQLException {
                ComboPooledDataSource pool = new ComboPooledDataSource();
                pool.setJdbcUrl(server.url());
                Properties properties = server.verified();
                properties.putAll(login());
                pool.setProperties(properties);
                pool.setInitialPoolSize(0);
                pool.setMinPoolSize(0);
                pool.setMaxPoolSize(20);
                pool.setAcquireRetryAttempts(1);
                pool.setCheckoutTimeout(2000);
                return pool;
            }
        },
        /** Loads the class of the driver, and leaves the choice of the driver to the DriverManager. */
        C3P0_OF_THE_DRIVER_MANAGER {
            @Override
            DataSource make() throws SQLException {
                ComboPooledDataSource pool = (ComboPooledDataSource) C3P0.make();
                pool.setJdbcUrl(FirstDriver.registerFor(server.url()));
                pool.setProperties(login());
                try {
                    pool.setDriverClass(Driver.class.getName());
                } catch (PropertyVetoException ex) {
                    throw new SQLException(ex);
                }
                return pool;
            }
        },
        HIKARI_OF_THE_DRIVER_MANAGER {
            @Override
            DataSource make() throws SQLException {
                HikariDataSource pool = unverified();
                pool.setJdbcUrl(FirstDriver.registerFor(server.url()));
                return new LazyConnectionDataSourceProxy(pool);
            }
        },
        DBCP_OF_THE_DRIVER_MANAGER {
            @Override
            DataSource make() throws SQLException {
                BasicDataSource pool = dbcp(new BasicDataSource());
                pool.setUrl(FirstDriver.registerFor(server.url()));
                return pool;
            }
        },
        VIBUR_OF_THE_DRIVER_MANAGER {
            @Override
            DataSource make() throws SQLException {
                ViburDBCPDataSource pool = vibur();
                pool.setJdbcUrl(FirstDriver.registerFor(server.url()));
                pool.start();
                return pool;
            }
        },
        VIBUR {
            @Override
            DataSource make() throws SQLException {
                ViburDBCPDataSource pool = vibur();
                pool.setDriverProperties(server.verified());
                pool.start();
                return pool;
            }
        },
        VIBUR_OVER_A_DATA_SOURCE {
            @Override
            DataSource make() throws SQLException {
                ViburDBCPDataSource pool = vibur();
                pool.setExternalDataSource(OF_THE_DRIVER.make());
                pool.start();
                return pool;
            }
        },
        AGROAL {
            @Override
            DataSource make() throws SQLException {
                return AgroalDataSource.from(new AgroalDataSourceConfigurationSupplier()
                        .connectionPoolConfiguration(pool -> pool.maxSize(20)
                                .connectionValidator(ConnectionValidator.defaultValidator())
                                .validateOnBorrow(true)
                                .acquisitionTimeout(Duration.ofSeconds(2))
                                .connectionFactoryConfiguration(factory -> factory.jdbcUrl(server.url())
                                        .principal(new NamePrincipal(EncryptedPostgres.USER))
                                        .credential(new SimplePassword(EncryptedPostgres.PASSWORD))
                                        .jdbcProperty("sslmode", "verify-full")
                                        .jdbcProperty("sslrootcert", server.certificate()))));
            }
        },
        /** As Druid does, it shows its driver properties by a name that nobody else has. */
        UNKNOWN {
            @Override
            DataSource make() throws SQLException {
                return new UnknownPool();
            }
        },
        SIMPLE_DRIVER {
            @Override
            DataSource make() throws SQLException {
                Properties properties = server.verified();
                properties.putAll(login());
                return new SimpleDriverDataSource(new Driver(), server.url(), properties);
            }
        },
        DRIVER_OF_ITS_OWN {
            @Override
            DataSource make() throws SQLException {
                return new SimpleDriverDataSource(new VerifyingDriver(), server.url(), login());
            }
        },
        SUBCLASS_OF_SPRINGS {
            @Override
            DataSource make() throws SQLException {
                return new DriverManagerDataSource(server.url(), login()) {
                    @Override
                    protected Connection getConnectionFromDriverManager(String url, Properties properties)
                            throws SQLException {
                        properties.putAll(server.verified());
                        return super.getConnectionFromDriverManager(url, properties);
                    }
                };
            }
        },
        SINGLE_CONNECTION {
            @Override
            DataSource make() throws SQLException {
                SingleConnectionDataSource single = new SingleConnectionDataSource(server.url(), true);
                Properties properties = server.verified();
                properties.putAll(login());
                single.setConnectionProperties(properties);
                return single;
            }
        },
        OF_THE_DRIVER {
            @Override
            DataSource make() throws SQLException {
                PGSimpleDataSource dataSource = new PGSimpleDataSource();
                dataSource.setURL(server.url());
                dataSource.setUser(EncryptedPostgres.USER);
                dataSource.setPassword(EncryptedPostgres.PASSWORD);
                dataSource.setSslMode("verify-full");
                dataSource.setSslRootCert(server.certificate());
                return dataSource;
            }
        },
        SUBCLASS_OF_THE_DRIVERS {
            @Override
            DataSource make() throws SQLException {
                PGSimpleDataSource dataSource = new PGSimpleDataSource() {
                    @Override
                    public Connection getConnection() throws SQLException {
                        return OF_THE_DRIVER.make().getConnection();
                    }
                };
                dataSource.setURL(server.url());
                dataSource.setUser(EncryptedPostgres.USER);
                dataSource.setPassword(EncryptedPostgres.PASSWORD);
                return dataSource;
            }
        },
        XA {
            @Override
            DataSource make() throws SQLException {
                PGXADataSource driver = new PGXADataSource();
                driver.setUrl(server.url());
                driver.setUser(EncryptedPostgres.USER);
                driver.setPassword(EncryptedPostgres.PASSWORD);
                driver.setSslMode("verify-full");
                driver.setSslRootCert(server.certificate());
                AtomikosDataSourceBean pool = new AtomikosDataSourceBean();
                pool.setUniqueResourceName(UUID.randomUUID().toString().substring(0, 20));
                pool.setXaDataSource(driver);
                pool.setMaxPoolSize(20);
                pool.setBorrowConnectionTimeout(1);
                return pool;
            }
        };

        abstract DataSource make() throws SQLException;

        private static HikariDataSource unverified() {
            return unverified(new HikariDataSource());
        }

        private static HikariDataSource unverified(HikariDataSource pool) {
            pool.setJdbcUrl(server.url());
            pool.setUsername(EncryptedPostgres.USER);
            pool.setPassword(EncryptedPostgres.PASSWORD);
            pool.setConnectionTimeout(1000);
            pool.setInitializationFailTimeout(-1);
            return pool;
        }

        private static org.apache.tomcat.jdbc.pool.DataSource tomcat() {
            org.apache.tomcat.jdbc.pool.DataSource pool = new org.apache.tomcat.jdbc.pool.DataSource();
            pool.setUrl(server.url());
            pool.setUsername(EncryptedPostgres.USER);
            pool.setPassword(EncryptedPostgres.PASSWORD);
            pool.setInitialSize(0);
            return pool;
        }

        private static BasicDataSource dbcp(BasicDataSource pool) {
            pool.setUrl(server.url());
            pool.setUsername(EncryptedPostgres.USER);
            pool.setPassword(EncryptedPostgres.PASSWORD);
            pool.setMaxTotal(20);
            return pool;
        }

        private static ViburDBCPDataSource vibur() {
            ViburDBCPDataSource pool = new ViburDBCPDataSource();
            pool.setJdbcUrl(server.url());
            pool.setUsername(EncryptedPostgres.USER);
            pool.setPassword(EncryptedPostgres.PASSWORD);
            pool.setPoolInitialSize(0);
            pool.setPoolMaxSize(20);
            pool.setAcquireRetryAttempts(0);
            return pool;
        }

        private static Properties login() {
            Properties properties = new Properties();
            properties.setProperty("user", EncryptedPostgres.USER);
            properties.setProperty("password", EncryptedPostgres.PASSWORD);
            return properties;
        }
    }

    @BeforeAll
    static void startServer() throws Exception {
        server = new EncryptedPostgres();
    }

    @AfterAll
    static void stopServer() throws IOException {
        server.close();
    }

    static Stream<Source> sources() {
        Stream<Source> examples = Stream.of(
                Source.VIBUR,
                Source.UNKNOWN,
                Source.C3P0_OF_THE_DRIVER_MANAGER,
                Source.WRAPPER_OF_HIKARI,
                Source.HIKARI);
        return UsualBuild.first(
                5, Stream.concat(examples, Stream.of(Source.values())).distinct());
    }

    @ParameterizedTest
    @MethodSource("sources")
    void an_impostor_at_the_start_gets_no_password_and_the_start_fails(Source source) throws Exception {
        DataSource application = source.make();
        server.path().takeOver();
        try {
            on(application)
                    .run(context -> assertThat(Throwables.getStackTrace(context.getStartupFailure()))
                            // Atomikos tells nobody the reason.
                            .containsAnyOf("SSL", "AtomikosSQLException"));
        } finally {
            server.path().giveBack();
            close(application);
        }
        assertThat(server.path().passwords()).isEmpty();
    }

    @ParameterizedTest
    @MethodSource("sources")
    void an_impostor_after_the_start_gets_no_password_either(Source source) throws Exception {
        DataSource application = source.make();
        try {
            on(application).run(context -> {
                LockTemplate locks = context.getBean(LockTemplate.class);
                assertEncrypted(locks);

                server.path().takeOver();
                // A connection that was cut fails without an attempt to open another one.
                await().atMost(Duration.ofSeconds(30)).until(() -> {
                    assertThatThrownBy(() -> context.getBean(LockManager.class).acquire(ORDER))
                            .isInstanceOf(LockBackendException.class);
                    return server.path().clients() > 0;
                });
                server.path().giveBack();

                await().atMost(Duration.ofSeconds(30))
                        .ignoreExceptionsInstanceOf(LockBackendException.class)
                        .untilAsserted(() -> assertEncrypted(locks));
            });
        } finally {
            server.path().giveBack();
            close(application);
        }
        assertThat(server.path().passwords()).isEmpty();
    }

    private static void assertEncrypted(LockTemplate locks) {
        List<Boolean> sessions = locks.execute(ORDER, lock -> server.encryption());
        assertThat(sessions).isNotEmpty().containsOnly(true);
    }

    private static ApplicationContextRunner on(DataSource application) {
        return Applications.withoutDatabase()
                .withPropertyValues("syncguard.postgres.network-timeout=2s", "syncguard.shutdown-timeout=100ms")
                .withBean(DataSource.class, () -> application);
    }

    private static void close(DataSource application) throws Exception {
        if (application instanceof AutoCloseable pool) {
            pool.close();
        }
    }

    /** Insists on the server, whatever the properties say. */
    private static class VerifyingDriver extends Driver {

        @Override
        public Connection connect(String url, Properties properties) throws SQLException {
            Properties all = server.verified();
            properties.stringPropertyNames().forEach(name -> all.setProperty(name, properties.getProperty(name)));
            return super.connect(url, all);
        }
    }

    /** The DriverManager prefers it to the driver of PostgreSQL, for its own URLs only. */
    private static final class FirstDriver extends VerifyingDriver {

        private static final String MARK = "?verified=true";

        static String registerFor(String url) throws SQLException {
            Driver.deregister();
            DriverManager.registerDriver(new FirstDriver());
            Driver.register();
            return url + MARK;
        }

        @Override
        public boolean acceptsURL(String url) {
            return url.endsWith(MARK);
        }

        @Override
        public @Nullable Connection connect(String url, Properties properties) throws SQLException {
            return acceptsURL(url) ? super.connect(url, properties) : null;
        }
    }

    /** Public, so that its methods can be called by their names. */
    public static final class UnknownPool extends AbstractDataSource {

        public String getUrl() {
            return server.url();
        }

        public String getUsername() {
            return EncryptedPostgres.USER;
        }

        public String getPassword() {
            return EncryptedPostgres.PASSWORD;
        }

        public Properties getConnectProperties() {
            return server.verified();
        }

        @Override
        public Connection getConnection() throws SQLException {
            return Source.OF_THE_DRIVER.make().getConnection();
        }

        @Override
        public Connection getConnection(String username, String password) throws SQLException {
            return getConnection();
        }
    }
}
