package io.syncguard.autoconfigure;

import org.springframework.boot.diagnostics.AbstractFailureAnalyzer;
import org.springframework.boot.diagnostics.FailureAnalysis;

/** Says in a few lines why an application does not start whose database is another than PostgreSQL. */
final class NotPostgresFailureAnalyzer extends AbstractFailureAnalyzer<NotPostgresException> {

    @Override
    protected FailureAnalysis analyze(Throwable rootFailure, NotPostgresException cause) {
        return new FailureAnalysis(
                "SyncGuard keeps its locks in PostgreSQL or Redis, but the DataSource leads to " + cause.product()
                        + ".",
                """
                Do one of these:

                - Use PostgreSQL: set spring.datasource.url to a PostgreSQL database.
                - Keep only the locks in PostgreSQL: mark a DataSource bean that leads there with @SyncGuardDataSource.
                - Keep the locks in Redis: add spring-boot-starter-data-redis, and set syncguard.backend=redis.
                - Work without locks, for instance in a test: set syncguard.enabled=false.""",
                cause);
    }
}
