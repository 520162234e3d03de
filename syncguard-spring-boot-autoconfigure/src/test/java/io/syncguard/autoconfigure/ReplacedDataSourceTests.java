package io.syncguard.autoconfigure;

import static io.syncguard.autoconfigure.ThreadDependentDataSourceTests.assertRefused;
import static io.syncguard.autoconfigure.ThreadDependentDataSourceTests.on;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.atomikos.jdbc.AtomikosDataSourceBean;
import com.zaxxer.hikari.HikariDataSource;
import com.zaxxer.hikari.util.Credentials;
import io.syncguard.LockBackendException;
import io.syncguard.LockHandle;
import io.syncguard.LockManager;
import io.syncguard.LockRequest;
import io.syncguard.LockTemplate;
import io.syncguard.embedded.OwnPostgres;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Consumer;
import javax.sql.DataSource;
import org.apache.commons.dbcp2.BasicDataSource;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.postgresql.Driver;
import org.postgresql.ds.PGSimpleDataSource;
import org.postgresql.xa.PGXADataSource;
import org.springframework.aop.TargetSource;
import org.springframework.aop.framework.ProxyFactory;
import org.springframework.aop.target.HotSwappableTargetSource;
import org.springframework.jdbc.datasource.DelegatingDataSource;
import org.springframework.jdbc.datasource.DriverManagerDataSource;
import org.springframework.jdbc.datasource.LazyConnectionDataSourceProxy;
import org.springframework.jdbc.datasource.SimpleDriverDataSource;
import org.springframework.jdbc.datasource.TransactionAwareDataSourceProxy;
import org.springframework.jdbc.datasource.UserCredentialsDataSourceAdapter;
import org.springframework.jdbc.datasource.lookup.AbstractRoutingDataSource;

/** An application replaces the target of its DataSource, or its password, while it runs: the locks follow. */
@Timeout(60)
class ReplacedDataSourceTests {

    private static final LockRequest ORDER = LockRequest.of("order:1").waitTime(Duration.ZERO);

    private static OwnPostgres server;

    /** A DataSource, and what gives it another password. */
    private record Replaceable(DataSource dataSource, Consumer<String> replace) {}

    enum Indirection {
        HIKARI {
            @Override
            Replaceable make() {
                HikariDataSource pool = pool("first");
                return new Replaceable(pool, pool::setPassword);
            }
        },
        HIKARI_WITH_CREDENTIALS {
            @Override
            Replaceable make() {
                HikariDataSource pool = pool("first");
                return new Replaceable(
                        new LazyConnectionDataSourceProxy(pool),
                        password -> pool.getHikariConfigMXBean().setCredentials(Credentials.of(USER, password)));
            }
        },
        HIKARI_WITH_A_PROVIDER {
            @Override
            Replaceable make() {
                AtomicReference<String> password = new AtomicReference<>("first");
                HikariDataSource pool = poolOn(url());
                pool.setCredentialsProvider(() -> Credentials.of(USER, password.get()));
                return new Replaceable(new LazyConnectionDataSourceProxy(pool), password::set);
            }
        },
        HIKARI_OVER_A_DATA_SOURCE {
            @Override
            Replaceable make() {
                DelegatingDataSource target = new DelegatingDataSource(ofDriver("first"));
                HikariDataSource pool = new HikariDataSource();
                pool.setDataSource(target);
                return new Replaceable(pool, password -> target.setTargetDataSource(ofDriver(password)));
            }
        },
        HOT_SWAPPABLE {
            @Override
            Replaceable make() {
                HotSwappableTargetSource target = new HotSwappableTargetSource(pool("first"));
                return new Replaceable(
                        ProxyFactory.getProxy(DataSource.class, target), password -> target.swap(pool(password)));
            }
        },
        HOT_SWAPPABLE_CLASS {
            @Override
            Replaceable make() {
                HotSwappableTargetSource target = new HotSwappableTargetSource(pool("first"));
                return new Replaceable(
                        (DataSource) ProxyFactory.getProxy(target), password -> target.swap(pool(password)));
            }
        },
        HOT_SWAPPABLE_TO_ANOTHER_CLASS {
            @Override
            Replaceable make() {
                HotSwappableTargetSource target = new HotSwappableTargetSource(pool("first"));
                return new Replaceable(
                        new LazyConnectionDataSourceProxy(ProxyFactory.getProxy(DataSource.class, target)),
                        password -> target.swap(ofDriver(password)));
            }
        },
        /** Replaces its target as a library for tests does. */
        TARGET_SOURCE {
            @Override
            Replaceable make() {
                OwnTargetSource source = new OwnTargetSource();
                source.target = pool("first");
                return new Replaceable(
                        ProxyFactory.getProxy(DataSource.class, source), password -> source.target = pool(password));
            }
        },
        DELEGATING {
            @Override
            Replaceable make() {
                DelegatingDataSource wrapper = new DelegatingDataSource(pool("first"));
                return new Replaceable(wrapper, password -> wrapper.setTargetDataSource(pool(password)));
            }
        },
        LAZY {
            @Override
            Replaceable make() {
                LazyConnectionDataSourceProxy wrapper = new LazyConnectionDataSourceProxy(pool("first"));
                return new Replaceable(wrapper, password -> wrapper.setTargetDataSource(pool(password)));
            }
        },
        INNERMOST {
            @Override
            Replaceable make() {
                DelegatingDataSource inner = new DelegatingDataSource(pool("first"));
                return new Replaceable(
                        new TransactionAwareDataSourceProxy(new LazyConnectionDataSourceProxy(inner)),
                        password -> inner.setTargetDataSource(pool(password)));
            }
        },
        BYPASSED_WRAPPER {
            @Override
            Replaceable make() {
                DelegatingDataSource wrapper = new DelegatingDataSource(pool("first")) {
                    @Override
                    public Connection getConnection() throws SQLException {
                        return super.getConnection();
                    }
                };
                return new Replaceable(wrapper, password -> wrapper.setTargetDataSource(pool(password)));
            }
        },
        ROUTING {
            @Override
            Replaceable make() {
                AbstractRoutingDataSource router = new AbstractRoutingDataSource() {
                    @Override
                    protected Object determineCurrentLookupKey() {
                        return "one";
                    }
                };
                route(router, pool("first"));
                return new Replaceable(router, password -> route(router, pool(password)));
            }

            private static void route(AbstractRoutingDataSource router, DataSource target) {
                router.setTargetDataSources(Map.of("one", target));
                router.initialize();
            }
        },
        UNKNOWN {
            @Override
            Replaceable make() {
                DelegatingDataSource target = new DelegatingDataSource(ofDriver("first"));
                return new Replaceable(
                        ThreadDependentDataSourceTests.opaque(target::getConnection),
                        password -> target.setTargetDataSource(ofDriver(password)));
            }
        },
        CREDENTIALS {
            @Override
            Replaceable make() {
                UserCredentialsDataSourceAdapter adapter = new UserCredentialsDataSourceAdapter();
                adapter.setTargetDataSource(new SimpleDriverDataSource(new Driver(), url()));
                adapter.setUsername(USER);
                adapter.setPassword("first");
                return new Replaceable(adapter, adapter::setPassword);
            }
        },
        DRIVER_MANAGER {
            @Override
            Replaceable make() {
                DriverManagerDataSource dataSource = new DriverManagerDataSource(url(), USER, "first");
                return new Replaceable(dataSource, dataSource::setPassword);
            }
        },
        OF_THE_DRIVER {
            @Override
            Replaceable make() {
                PGSimpleDataSource dataSource = ofDriver("first");
                return new Replaceable(dataSource, dataSource::setPassword);
            }
        },
        TOMCAT {
            @Override
            Replaceable make() {
                org.apache.tomcat.jdbc.pool.DataSource pool = new org.apache.tomcat.jdbc.pool.DataSource();
                pool.setUrl(url());
                pool.setUsername(USER);
                pool.setPassword("first");
                pool.setInitialSize(0);
                return new Replaceable(pool, pool::setPassword);
            }
        },
        DBCP_BEHIND_A_PROXY {
            @Override
            Replaceable make() {
                LazyConnectionDataSourceProxy wrapper = new LazyConnectionDataSourceProxy(dbcp("first"));
                return new Replaceable(wrapper, password -> wrapper.setTargetDataSource(dbcp(password)));
            }

            private static BasicDataSource dbcp(String password) {
                BasicDataSource pool = new BasicDataSource();
                pool.setUrl(url());
                pool.setUsername(USER);
                pool.setPassword(password);
                return pool;
            }
        },
        XA {
            @Override
            Replaceable make() {
                PGXADataSource driver = new PGXADataSource();
                driver.setUrl(url());
                driver.setUser(USER);
                driver.setPassword("first");
                AtomikosDataSourceBean pool = new AtomikosDataSourceBean();
                pool.setUniqueResourceName(UUID.randomUUID().toString().substring(0, 20));
                pool.setXaDataSource(driver);
                return new Replaceable(pool, driver::setPassword);
            }
        };

        abstract Replaceable make();
    }

    private static final String USER = "shop";

    @BeforeAll
    static void startServer() throws IOException {
        server = new OwnPostgres();
        server.jdbc().execute("CREATE ROLE " + USER + " LOGIN");
        server.jdbc().execute("GRANT ALL ON SCHEMA public TO " + USER);
        Path rules = server.data().resolve("pg_hba.conf");
        Files.writeString(rules, "host all " + USER + " all scram-sha-256\n" + Files.readString(rules));
        server.jdbc().queryForObject("SELECT pg_reload_conf()", Boolean.class);
    }

    @AfterAll
    static void stopServer() throws IOException {
        server.close();
    }

    @AfterEach
    void endSessions() {
        server.jdbc().queryForList("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = ?", USER);
    }

    @ParameterizedTest
    @EnumSource
    void locks_follow_a_password_that_was_rotated(Indirection indirection) {
        setPassword("first");
        Replaceable application = indirection.make();
        on(application.dataSource()).run(context -> {
            LockTemplate locks = context.getBean(LockTemplate.class);
            assertLocks(locks);

            setPassword("second");
            application.replace().accept("second");
            endSessions();

            await().atMost(Duration.ofSeconds(20))
                    .ignoreExceptionsInstanceOf(LockBackendException.class)
                    .untilAsserted(() -> assertLocks(locks));
        });
    }

    @Test
    void locks_do_not_follow_to_another_database() {
        TestDatabase first = TestDatabase.empty();
        TestDatabase second = TestDatabase.empty();
        HotSwappableTargetSource target = new HotSwappableTargetSource(poolOn(first.url()));
        on(ProxyFactory.getProxy(DataSource.class, target)).run(context -> {
            LockManager locks = context.getBean(LockManager.class);
            LockHandle held = locks.acquire(LockRequest.of("order:42"));

            target.swap(poolOn(second.url()));
            first.jdbc()
                    .queryForList("SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
                            + " WHERE datname = current_database() AND pid <> pg_backend_pid()");

            await().atMost(Duration.ofSeconds(20))
                    .untilAsserted(() ->
                            assertRefused(() -> locks.tryAcquire(LockRequest.of("order:42")), "several databases"));
            assertThat(second.relationsAndFunctions()).isEmpty();
            held.release();
        });
    }

    private static void assertLocks(LockTemplate locks) {
        assertThat(locks.<Boolean, RuntimeException>execute(ORDER, LockHandle::isHeld))
                .isTrue();
    }

    private static void setPassword(String password) {
        server.jdbc().execute("ALTER ROLE " + USER + " PASSWORD '" + password + "'");
    }

    private static HikariDataSource pool(String password) {
        HikariDataSource pool = poolOn(url());
        pool.setUsername(USER);
        pool.setPassword(password);
        return pool;
    }

    private static HikariDataSource poolOn(String url) {
        HikariDataSource pool = new HikariDataSource();
        pool.setJdbcUrl(url);
        pool.setMinimumIdle(0);
        return pool;
    }

    private static PGSimpleDataSource ofDriver(String password) {
        PGSimpleDataSource dataSource = new PGSimpleDataSource();
        dataSource.setURL(url());
        dataSource.setUser(USER);
        dataSource.setPassword(password);
        return dataSource;
    }

    private static String url() {
        return "jdbc:postgresql://127.0.0.1:" + server.port() + "/postgres";
    }

    private static final class OwnTargetSource implements TargetSource {

        private volatile DataSource target;

        @Override
        public Class<?> getTargetClass() {
            return DataSource.class;
        }

        @Override
        public Object getTarget() {
            return target;
        }
    }
}
