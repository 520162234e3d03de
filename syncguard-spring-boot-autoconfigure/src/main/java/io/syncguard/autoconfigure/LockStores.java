package io.syncguard.autoconfigure;

import io.syncguard.LockErrorCode;
import io.syncguard.LockException;
import io.syncguard.LockSetupException;
import io.syncguard.MessageText;
import io.syncguard.OneLine;
import io.syncguard.jdbc.DataSourceTarget;
import io.syncguard.jdbc.MockDataSource;
import java.lang.annotation.Annotation;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
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
            RedisLockAutoConfiguration.NAME,
            "spring-boot-starter-data-redis, with Lettuce"));

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
        String other = mark == SyncGuardDataSource.class
                ? PostgresLockAutoConfiguration.NAME
                : RedisLockAutoConfiguration.NAME;
        if (marked.isEmpty() || named.contains(new Backend(other))) {
            return;
        }
        if (named.isEmpty()) {
            throw LockSetupException.invalid(
                    "SyncGuard cannot choose the store of its locks: beans of PostgreSQL and of Redis are marked, such as "
                            + marked + " with @" + mark.getSimpleName(),
                    "Set syncguard.backend to postgres, to redis or to both, the primary one first",
                    "Remove one of the marks");
        }
        log.warn("Locks are not stored in " + marked + ", which is marked with @" + mark.getSimpleName()
                + ": syncguard.backend does not name '" + other + "'. Add it there, or remove the mark");
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
                        "Store locks in PostgreSQL: add syncguard-spring-boot-starter, and set spring.datasource.url",
                        WITHOUT_A_STORE);
    }

    private static LockSetupException noDataSourceOfUrl() {
        return LockSetupException.invalid(
                "SyncGuard has no store for its locks: there is no DataSource, although spring.datasource.url is set",
                "Beside a ConnectionFactory of R2DBC, Spring Boot makes no DataSource: declare a DataSource bean for the"
                        + " locks, such as DataSourceBuilder.create().url(...).build()",
                "If DataSourceAutoConfiguration is excluded, include it",
                "If spring-boot-starter-jdbc is missing, add it",
                WITHOUT_A_STORE);
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
                                "Name one of " + LIBRARIES.keySet() + ", or add the library of the store"))
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
                ? none("neither HikariCP with PostgreSQL's driver nor Spring Data Redis with Lettuce is on the class"
                        + " path")
                : missing(named.get(0));
    }

    /** @param reason what is missing */
    static LockSetupException none(String reason) {
        return LockSetupException.invalid(
                "SyncGuard has no store for its locks: " + reason,
                "Store locks in PostgreSQL: add syncguard-spring-boot-starter, and set spring.datasource.url",
                "Store locks in Redis: add spring-boot-starter-data-redis, and set spring.data.redis.url",
                WITHOUT_A_STORE);
    }

    /**
     * Whether Flyway can run the script. Does not connect if the URL of a pool names PostgreSQL. Leaves an unreachable
     * server to Flyway, which may try again. With another product, the store of the locks fails the start.
     */
    static boolean mayBePostgres(DataSource dataSource) {
        String url = DataSourceTarget.urlOf(dataSource);
        if (url != null && url.startsWith("jdbc:postgresql:")) {
            return true;
        }
        try {
            return isPostgres(productOf(dataSource));
        } catch (SQLException ex) {
            log.debug("Flyway's DataSource could not be asked for its product", ex);
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
            String product = productOf(application);
            return isPostgres(product) ? failure : notPostgres(product, failure);
        } catch (SQLException | RuntimeException ex) {
            failure.addSuppressed(ex);
            return failure;
        }
    }

    private static String productOf(DataSource dataSource) throws SQLException {
        try (Connection connection = dataSource.getConnection()) {
            return connection.getMetaData().getDatabaseProductName();
        }
    }

    private static boolean isPostgres(String product) {
        return product.equals("PostgreSQL");
    }

    private static LockSetupException notPostgres(String product, @Nullable RuntimeException cause) {
        return new LockSetupException(
                LockErrorCode.INVALID_ARGUMENT,
                "SyncGuard keeps its locks in PostgreSQL or Redis, but the DataSource leads to " + product,
                List.of(
                        "Use PostgreSQL: set spring.datasource.url to a PostgreSQL database",
                        "Keep only the locks in PostgreSQL: mark a DataSource bean that leads there with"
                                + " @SyncGuardDataSource",
                        "Keep the locks in Redis: add spring-boot-starter-data-redis, and set syncguard.backend=redis",
                        WITHOUT_A_STORE),
                cause);
    }
}
