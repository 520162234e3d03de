package io.syncguard.autoconfigure;

import io.syncguard.LockErrorCode;
import io.syncguard.LockException;
import io.syncguard.LockSetupException;
import io.syncguard.MessageText;
import io.syncguard.OneLine;
import io.syncguard.jdbc.CompleteConnection;
import io.syncguard.jdbc.DataSourceTarget;
import io.syncguard.jdbc.MissingFeatureException;
import io.syncguard.jdbc.MockDataSource;
import java.lang.annotation.Annotation;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import javax.sql.DataSource;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;
import org.springframework.aop.scope.ScopedProxyUtils;
import org.springframework.beans.factory.BeanFactoryUtils;
import org.springframework.beans.factory.HierarchicalBeanFactory;
import org.springframework.beans.factory.ListableBeanFactory;
import org.springframework.beans.factory.NoUniqueBeanDefinitionException;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.jdbc.DatabaseDriver;
import org.springframework.util.ClassUtils;

/** Chooses the bean that leads to the store of the locks, and explains why a bean does not. */
final class LockStores {

    private static final Log log = LogFactory.getLog(LockStores.class);

    /** Errors after which the server cannot be asked for its product. */
    private static final Set<LockErrorCode> UNREACHABLE =
            EnumSet.of(LockErrorCode.SERVICE_UNAVAILABLE, LockErrorCode.NETWORK_TIMEOUT, LockErrorCode.ABORTED);

    private static final String CONNECTION_FACTORY = "org.springframework.data.redis.connection.RedisConnectionFactory";

    static final String WITHOUT_A_STORE = MockDataSource.WITHOUT_A_STORE;

    /** What a store of ours needs, by its name. */
    private static final SortedMap<String, String> LIBRARIES = new TreeMap<>(Map.of(
            PostgresLockAutoConfiguration.NAME,
            "syncguard-spring-boot-starter, with HikariCP and PostgreSQL's driver",
            JdbcLockAutoConfiguration.NAME,
            "syncguard-spring-boot-starter, with HikariCP and the driver of the database",
            RedisLockAutoConfiguration.NAME,
            "spring-boot-starter-data-redis, with Lettuce"));

    private static final String POSTGRESQL = "PostgreSQL";

    /** Products that an URL names. */
    private static final Map<DatabaseDriver, String> OF_URLS = Map.of(
            DatabaseDriver.POSTGRESQL,
            POSTGRESQL,
            DatabaseDriver.MYSQL,
            "MySQL",
            DatabaseDriver.MARIADB,
            "MariaDB",
            DatabaseDriver.H2,
            "H2");

    private LockStores() {}

    /**
     * Returns the marked bean, otherwise the only or the primary one.
     *
     * @param mark the annotation of a marked bean
     * @param none the reason for a failed start without any bean
     */
    static <T> T choose(
            ObjectProvider<T> marked,
            ObjectProvider<T> all,
            Class<? extends Annotation> mark,
            Supplier<LockSetupException> none) {
        try {
            return marked.getIfAvailable(() -> all.getIfAvailable(() -> {
                throw none.get();
            }));
        } catch (NoUniqueBeanDefinitionException ex) {
            throw LockSetupException.invalid(
                    "SyncGuard cannot choose the store of its locks among the beans " + namesOf(ex),
                    "Mark one of them with @" + mark.getSimpleName(),
                    "Make one of them @Primary");
        }
    }

    /** The names of the beans, in an order that does not depend on the configuration. */
    static Set<String> namesOf(NoUniqueBeanDefinitionException several) {
        return new TreeSet<>(several.getBeanNamesFound() == null ? List.of() : several.getBeanNamesFound());
    }

    /** The names of the beans of any type with this mark, those of parent contexts included. Creates no bean. */
    static Set<String> markedWith(Class<? extends Annotation> mark, ListableBeanFactory beans) {
        Set<String> names = Stream.of(beans.getBeanDefinitionNames())
                .filter(name -> !ScopedProxyUtils.isScopedTarget(name))
                .filter(name -> beans.findAnnotationOnBean(name, mark, false) != null)
                .collect(Collectors.toCollection(TreeSet::new));
        if (beans instanceof HierarchicalBeanFactory child
                && child.getParentBeanFactory() instanceof ListableBeanFactory parent) {
            names.addAll(markedWith(mark, parent));
        }
        return names;
    }

    /**
     * Checks for marks of another store than the chosen one: the property decides; without it, the start fails.
     *
     * @param named the backends in {@code syncguard.backend}
     * @param mark the mark of the other store's beans
     */
    static void checkOtherMarks(List<Backend> named, Class<? extends Annotation> mark, ListableBeanFactory beans) {
        Set<String> marked = markedWith(mark, beans);
        boolean inDatabase = mark == SyncGuardDataSource.class;
        if (marked.isEmpty()
                || named.stream()
                        .anyMatch(backend -> inDatabase
                                ? isInDataSource(backend)
                                : backend.name().equals(RedisLockAutoConfiguration.NAME))) {
            return;
        }
        if (named.isEmpty()) {
            throw LockSetupException.invalid(
                    "SyncGuard cannot choose the store of its locks: beans of a database and of Redis are marked, such"
                            + " as " + marked + " with @" + mark.getSimpleName(),
                    "Set syncguard.backend to postgres (or jdbc, for another database), to redis or to both, the"
                            + " primary"
                            + " one first",
                    "Remove one of the marks");
        }
        log.warn("Locks are not stored in " + marked + ", which is marked with @" + mark.getSimpleName()
                + ": syncguard.backend does not name '"
                + (inDatabase ? PostgresLockAutoConfiguration.NAME : RedisLockAutoConfiguration.NAME)
                + "'. Add it there, or remove the mark");
    }

    /**
     * Explains that there is no DataSource. Also names the connections to Redis that were left out, because Lettuce is
     * missing or they were defined too late.
     *
     * @param urlIsSet whether {@code spring.datasource.url} is set
     */
    static LockSetupException noDataSource(List<Backend> named, boolean urlIsSet, ListableBeanFactory beans) {
        if (urlIsSet) {
            return noDataSourceOfUrl();
        }
        ClassLoader classLoader = LockStores.class.getClassLoader();
        if (!named.isEmpty() || !ClassUtils.isPresent(CONNECTION_FACTORY, classLoader)) {
            return none("there is no DataSource");
        }
        Class<?> type = ClassUtils.resolveClassName(CONNECTION_FACTORY, classLoader);
        String[] names = BeanFactoryUtils.beanNamesForTypeIncludingAncestors(beans, type, false, false);
        return names.length == 0
                ? none("there is no DataSource")
                : LockSetupException.invalid(
                        "SyncGuard has no store for its locks: there is no DataSource, and it does not use the Redis of"
                                + " the beans " + new TreeSet<>(List.of(names)),
                        "Use it: add io.lettuce:lettuce-core, and set syncguard.backend=redis",
                        "Store locks in a database: add syncguard-spring-boot-starter, and set spring.datasource.url",
                        WITHOUT_A_STORE);
    }

    private static LockSetupException noDataSourceOfUrl() {
        return LockSetupException.invalid(
                "SyncGuard has no store for its locks: there is no DataSource, although spring.datasource.url is set",
                "Beside a ConnectionFactory of R2DBC, Spring Boot makes no DataSource: declare a DataSource bean"
                        + " for the"
                        + " locks, such as DataSourceBuilder.create().url(...).build()",
                "If DataSourceAutoConfiguration is excluded, include it",
                "If spring-boot-starter-jdbc is missing, add it",
                WITHOUT_A_STORE);
    }

    /** Whether it keeps its locks in the database of a {@code DataSource}. */
    static boolean isInDataSource(Backend backend) {
        return backend.name().equals(PostgresLockAutoConfiguration.NAME)
                || backend.name().equals(JdbcLockAutoConfiguration.NAME);
    }

    /** Whether it is a store of this library. */
    static boolean isOurs(Backend backend) {
        return LIBRARIES.containsKey(backend.name());
    }

    /** The failure of a start where the property names this store, but it was not configured. */
    static LockSetupException missing(Backend backend) {
        String libraries = LIBRARIES.get(backend.name());
        return libraries == null
                ? LockSetupException.invalid(
                        "syncguard.backend is '" + OneLine.of(backend.name())
                                + "', but nothing on the class path configures a store of that name",
                        MessageText.nextSteps(
                                backend.name(),
                                LIBRARIES.keySet(),
                                "Correct syncguard.backend",
                                "Name one of " + LIBRARIES.keySet()
                                        + " (jdbc is for MariaDB, MySQL and H2), or add the library of the store"))
                : LockSetupException.invalid(
                        "syncguard.backend names '" + backend.name()
                                + "', which is missing: its libraries are not on the class path, or the application has"
                                + " its own LockBackend",
                        "Add " + libraries,
                        "Remove it from syncguard.backend");
    }

    /** @param named the backends in {@code syncguard.backend} */
    static LockSetupException none(List<Backend> named) {
        return named.isEmpty()
                ? none("neither HikariCP nor Spring Data Redis with Lettuce is on the class path")
                : missing(named.get(0));
    }

    /** @param reason what is missing */
    static LockSetupException none(String reason) {
        return LockSetupException.invalid(
                "SyncGuard has no store for its locks: " + reason,
                "Store locks in a database: add syncguard-spring-boot-starter, and set spring.datasource.url",
                "Store locks in Redis: add spring-boot-starter-data-redis, and set spring.data.redis.url",
                WITHOUT_A_STORE);
    }

    /**
     * Whether the functions of PostgreSQL are the store. Leaves a server that is unreachable to them, or to Flyway,
     * which may try again: their messages say what to do.
     */
    static boolean mayBePostgres(DataSource dataSource) {
        try {
            return isPostgres(readProduct(dataSource));
        } catch (SQLException | RuntimeException ex) {
            log.debug("A DataSource could not be asked for its product", ex);
            return true;
        }
    }

    /**
     * Returns the exception to throw after the first statement has failed: the failure itself, or an explanation if the
     * product is not PostgreSQL. Other products refuse the settings of the library's sessions with errors that do not
     * show the reason.
     */
    static RuntimeException explain(RuntimeException failure, DataSource application) {
        if (failure instanceof LockException known && UNREACHABLE.contains(known.code())) {
            return failure;
        }
        try {
            String product = readProduct(application);
            return isPostgres(product) ? failure : notPostgres(product, failure);
        } catch (SQLException | RuntimeException ex) {
            failure.addSuppressed(ex);
            return failure;
        }
    }

    /**
     * Returns the product of a database.
     *
     * @throws LockSetupException if the database cannot be reached
     */
    static String productOf(DataSource dataSource) {
        try {
            return readProduct(dataSource);
        } catch (MissingFeatureException ex) {
            throw new LockSetupException(ex.code(), ex.problem(), ex.nextSteps(), ex);
        } catch (SQLException ex) {
            throw new LockSetupException(
                    LockErrorCode.SERVICE_UNAVAILABLE,
                    "The database of the locks cannot be reached: " + OneLine.of(String.valueOf(ex.getMessage())),
                    List.of("Start the server", "Correct spring.datasource.*"),
                    ex);
        } catch (NullPointerException ex) {
            MockDataSource.refuse(dataSource);
            throw ex;
        } catch (LockException ex) {
            throw ex;
        } catch (RuntimeException ex) {
            throw new LockSetupException(
                    LockErrorCode.INVALID_ARGUMENT,
                    "The DataSource gives no usable connection: " + OneLine.of(String.valueOf(ex.getMessage())),
                    List.of(
                            "Correct the DataSource, or spring.datasource.*",
                            "Mark a DataSource bean that gives a connection to any thread with @SyncGuardDataSource"),
                    ex);
        }
    }

    /** Does not connect if the URL of a pool names the product: the server may be down, and Flyway may wait for it. */
    private static String readProduct(DataSource dataSource) throws SQLException {
        String known = OF_URLS.get(DatabaseDriver.fromJdbcUrl(DataSourceTarget.urlOf(dataSource)));
        if (known != null) {
            return known;
        }
        try (Connection connection = dataSource.getConnection()) {
            return Objects.requireNonNull(
                    CompleteConnection.of(connection).getMetaData().getDatabaseProductName());
        }
    }

    private static boolean isPostgres(String product) {
        return product.equals(POSTGRESQL);
    }

    private static LockSetupException notPostgres(String product, @Nullable RuntimeException cause) {
        return new LockSetupException(
                LockErrorCode.INVALID_ARGUMENT,
                "syncguard.backend is postgres, but the DataSource leads to " + product,
                List.of(
                        "Keep the locks in tables of this database: set syncguard.backend=jdbc, or leave it out",
                        "Keep only the locks in PostgreSQL: mark a DataSource bean that leads there with"
                                + " @SyncGuardDataSource",
                        WITHOUT_A_STORE),
                cause);
    }

    /** The failure of a start on a database that the library does not know. */
    static LockSetupException noDialect(String product) {
        return LockSetupException.invalid(
                "SyncGuard cannot keep its locks in " + product + ", to which the DataSource leads: there is no Dialect"
                        + " for it",
                "Keep only the locks in PostgreSQL, MariaDB or MySQL: mark a DataSource bean that leads there with"
                        + " @SyncGuardDataSource",
                "Keep the locks in Redis: add spring-boot-starter-data-redis, and set syncguard.backend=redis",
                "Declare a Dialect bean for " + product,
                WITHOUT_A_STORE);
    }
}
