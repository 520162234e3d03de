package io.syncguard.autoconfigure;

import io.syncguard.LockHandle;
import io.syncguard.LockManager;
import io.syncguard.LockRequest;
import io.syncguard.core.LockEngine;
import io.syncguard.testing.SortedAutoConfigurations;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.stream.StreamSupport;
import org.awaitility.Awaitility;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.aop.AopAutoConfiguration;
import org.springframework.boot.autoconfigure.task.TaskExecutionAutoConfiguration;
import org.springframework.boot.autoconfigure.task.TaskSchedulingAutoConfiguration;
import org.springframework.boot.context.annotation.ImportCandidates;
import org.springframework.boot.flyway.autoconfigure.FlywayAutoConfiguration;
import org.springframework.boot.jdbc.autoconfigure.DataSourceAutoConfiguration;
import org.springframework.boot.jdbc.autoconfigure.DataSourceTransactionManagerAutoConfiguration;
import org.springframework.boot.jdbc.autoconfigure.JdbcTemplateAutoConfiguration;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.boot.transaction.autoconfigure.TransactionAutoConfiguration;
import org.springframework.boot.transaction.autoconfigure.TransactionManagerCustomizationAutoConfiguration;
import org.springframework.context.ApplicationContext;
import org.springframework.util.ClassUtils;

/** Applications with the auto-configurations that Spring Boot would choose and those that the library registers. */
final class Applications {

    private static final LockRequest WAITED_FOR = LockRequest.of("waited for").waitTime(Duration.ofSeconds(30));

    private Applications() {}

    /** Returns an application with this database, without Flyway. */
    static ApplicationContextRunner on(String url) {
        return withoutDatabase().withPropertyValues("spring.datasource.url=" + url);
    }

    /** Returns an application with this database and Flyway. */
    static ApplicationContextRunner withFlyway(String url) {
        return withFlyway(on(url));
    }

    /** Adds Flyway to an application. */
    static ApplicationContextRunner withFlyway(ApplicationContextRunner application) {
        return application
                .withConfiguration(SortedAutoConfigurations.of(FlywayAutoConfiguration.class))
                .withPropertyValues("spring.flyway.locations=classpath:db/orders");
    }

    /** Returns an application without any database. */
    static ApplicationContextRunner withoutDatabase() {
        return new ApplicationContextRunner()
                .withConfiguration(ofBoot())
                .withConfiguration(ours())
                // Boot would create a database of its own, with the H2 of the tests.
                .withPropertyValues("spring.datasource.embedded-database-connection=none")
                .withPropertyValues("spring.datasource.hikari.maximum-pool-size=2");
    }

    /** Returns an application without any of Boot's auto-configurations. */
    static ApplicationContextRunner withoutBoot() {
        return new ApplicationContextRunner().withConfiguration(ours());
    }

    /** Makes one caller hold a lock and another one wait for it. */
    static void waitForALock(ApplicationContext application) {
        LockManager locks = application.getBean(LockManager.class);
        LockHandle held = locks.acquire(WAITED_FOR);
        CompletableFuture<LockHandle> waiter = CompletableFuture.supplyAsync(() -> locks.acquire(WAITED_FOR));
        Awaitility.await()
                .until(() -> locks.admin()
                                .status(WAITED_FOR.key())
                                .orElseThrow()
                                .queue()
                                .size()
                        == 1);
        held.release();
        waiter.join().release();
    }

    /** The auto-configurations of Boot that most applications with locks have. */
    static SortedAutoConfigurations ofBoot() {
        return SortedAutoConfigurations.of(
                DataSourceAutoConfiguration.class,
                DataSourceTransactionManagerAutoConfiguration.class,
                JdbcTemplateAutoConfiguration.class,
                TransactionAutoConfiguration.class,
                TransactionManagerCustomizationAutoConfiguration.class,
                AopAutoConfiguration.class,
                TaskExecutionAutoConfiguration.class,
                TaskSchedulingAutoConfiguration.class);
    }

    /** The auto-configurations that the library registers, without those of the support for Spring Boot 3. */
    static SortedAutoConfigurations ours() {
        ClassLoader classLoader = Applications.class.getClassLoader();
        return SortedAutoConfigurations.of(StreamSupport.stream(
                        ImportCandidates.load(AutoConfiguration.class, classLoader)
                                .spliterator(),
                        false)
                .filter(name -> name.startsWith("io.syncguard.autoconfigure."))
                .map(name -> ClassUtils.resolveClassName(name, classLoader))
                .toArray(Class<?>[]::new));
    }

    static boolean wakeUpsArrive(ApplicationContext application) {
        return Boolean.TRUE.equals(
                application.getBean(LockEngine.class).diagnostics().process().wakeUps());
    }
}
