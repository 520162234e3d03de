package io.syncguard.autoconfigure;

import io.syncguard.concurrent.Chain;
import io.syncguard.spi.LockBackend;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.springframework.beans.factory.BeanFactory;
import org.springframework.beans.factory.ListableBeanFactory;
import org.springframework.boot.diagnostics.FailureAnalysis;
import org.springframework.boot.diagnostics.FailureAnalyzer;
import org.springframework.core.annotation.Order;
import org.springframework.core.env.Environment;

/**
 * Shows what locks need if the application has no URL of a database. Spring Boot's analysis, which comes later, would
 * advise an embedded database, whose locks no other process sees.
 */
@Order(0)
final class MissingUrlFailureAnalyzer implements FailureAnalyzer {

    /** The exception is not visible outside of its package, whose name depends on the version of Spring Boot. */
    private static final String NO_DATA_SOURCE = ".DataSourceProperties$DataSourceBeanCreationException";

    private static final String ACTION = """
            Do one of these:
            - Use a database: set spring.datasource.url, or activate the profile that sets it.
            - Use Redis and no database: add spring-boot-starter-data-redis, and set
              spring.autoconfigure.exclude=%s.DataSourceAutoConfiguration.
            - Use neither: set syncguard.enabled=false, and exclude the same auto-configuration.""";

    private static final String ACTION_FOR_THE_APPLICATION = """
            Do one of these:
            - Set spring.datasource.url, or activate the profile that sets it. In a test with locks in memory, the
              server does not have to run unless the test uses the database.
            - Do without a DataSource: set
              spring.autoconfigure.exclude=%s.DataSourceAutoConfiguration.""";

    private final Environment environment;
    private final ListableBeanFactory beans;

    MissingUrlFailureAnalyzer(Environment environment, BeanFactory beans) {
        this.environment = environment;
        this.beans = (ListableBeanFactory) beans;
    }

    @Override
    public @Nullable FailureAnalysis analyze(Throwable failure) {
        if (environment.containsProperty("spring.datasource.url")
                || !environment.getProperty("syncguard.enabled", Boolean.class, true)) {
            return null;
        }
        return Chain.causes(failure)
                .filter(cause -> cause.getClass().getName().endsWith(NO_DATA_SOURCE))
                .findFirst()
                .map(this::analysis)
                .orElse(null);
    }

    private FailureAnalysis analysis(Throwable cause) {
        boolean locksNeedIt = isNeededByLocks();
        String profiles = String.join(", ", environment.getActiveProfiles());
        return new FailureAnalysis(
                "The application has no database: spring.datasource.url is not set (active profiles: "
                        + (profiles.isEmpty() ? "none" : profiles)
                        + (locksNeedIt
                                ? "). SyncGuard stores its locks in a database or in Redis."
                                : "). Its locks need none, but its own DataSource does."),
                (locksNeedIt ? ACTION : ACTION_FOR_THE_APPLICATION)
                        .formatted(cause.getClass().getPackageName()),
                cause);
    }

    /**
     * Not with locks in Redis, or in the memory of a test, whose beans may have the same names. Looks at definitions
     * alone, because no bean can be made.
     */
    private boolean isNeededByLocks() {
        return beans.getBeanNamesForType(LockBackend.class, true, false).length == 0
                || Stream.of(PostgresLockAutoConfiguration.NAME, JdbcLockAutoConfiguration.NAME)
                        .map(store -> new Backend(store).bean())
                        .anyMatch(bean -> beans.containsBean(bean) && beans.getType(bean, false) == LockBackend.class);
    }
}
