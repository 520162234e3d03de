package io.syncguard.frameworks.transactions;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.zaxxer.hikari.HikariDataSource;
import io.syncguard.CommitGuard;
import io.syncguard.LockException;
import io.syncguard.LockLostException;
import io.syncguard.LockManager;
import io.syncguard.LockRequest;
import io.syncguard.LockTemplate;
import io.syncguard.autoconfigure.JdbcLockManagers;
import io.syncguard.testing.PostgresServer;
import jakarta.persistence.EntityManager;
import java.util.Map;
import java.util.concurrent.atomic.AtomicBoolean;
import javax.sql.DataSource;
import org.hibernate.cfg.MultiTenancySettings;
import org.hibernate.context.spi.CurrentTenantIdentifierResolver;
import org.hibernate.engine.jdbc.connections.spi.AbstractDataSourceBasedMultiTenantConnectionProviderImpl;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.boot.WebApplicationType;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.boot.hibernate.autoconfigure.HibernatePropertiesCustomizer;
import org.springframework.boot.persistence.autoconfigure.EntityScan;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.transaction.support.TransactionTemplate;

/** Hibernate with a database for each tenant: {@code REQUIRED} asks that of the tenant before the body writes. */
class HibernateTenantTests {

    private static final LockRequest REQUIRED = LockRequest.of("order:1").commitGuard(CommitGuard.REQUIRED);

    private static final Map<String, HikariDataSource> POOLS =
            Map.of("north", pool(PostgresServer.newDatabaseUrl()), "south", pool(PostgresServer.newDatabaseUrl()));

    private static String tenant = "north";

    private ConfigurableApplicationContext application;

    @AfterEach
    void close() {
        application.close();
        tenant = "north";
    }

    @ParameterizedTest
    @ValueSource(strings = {"north", "south"})
    void each_tenant_is_guarded_by_the_locks_in_its_own_database(String name) {
        start(Tenants.class, Routing.class);
        tenant = name;
        add(() -> {});
        assertThat(books(name)).isEqualTo(1);
        assertThatThrownBy(() -> add(() -> rows(name).update("DELETE FROM syncguard_locks")))
                .isInstanceOf(LockLostException.class);
        assertThat(books(name)).isEqualTo(1);
    }

    @Test
    void a_tenant_whose_database_has_no_locks_is_refused_before_its_transaction_begins() {
        start(Tenants.class);
        add(() -> {});
        tenant = "south";
        AtomicBoolean began = new AtomicBoolean();
        assertThatThrownBy(() -> add(() -> began.set(true)))
                .isInstanceOf(LockException.class)
                .hasMessageContaining("another database than that of the locks");
        assertThat(began).isFalse();
        assertThat(books("south")).isZero();
    }

    private void start(Class<?>... configurations) {
        POOLS.values().forEach(pool -> {
            JdbcTemplate rows = new JdbcTemplate(pool);
            rows.execute("DROP TABLE IF EXISTS book");
            rows.execute("CREATE TABLE book (id VARCHAR(50) PRIMARY KEY)");
        });
        application = new SpringApplicationBuilder(configurations)
                .web(WebApplicationType.NONE)
                .run();
    }

    private void add(Runnable meanwhile) {
        EntityManager entities = application.getBean(EntityManager.class);
        TransactionTemplate transaction = application.getBean(TransactionTemplate.class);
        application
                .getBean(LockTemplate.class)
                .executeWithoutResult(
                        REQUIRED,
                        lock -> transaction.executeWithoutResult(status -> {
                            entities.persist(new Book(lock.fence().toString()));
                            entities.flush();
                            meanwhile.run();
                        }));
    }

    private static JdbcTemplate rows(String name) {
        return new JdbcTemplate(POOLS.get(name));
    }

    private static int books(String name) {
        return rows(name).queryForObject("SELECT count(*) FROM book", Integer.class);
    }

    private static HikariDataSource pool(String url) {
        HikariDataSource pool = new HikariDataSource();
        pool.setJdbcUrl(url);
        pool.setMaximumPoolSize(5);
        return pool;
    }

    @Configuration(proxyBeanMethods = false)
    @EnableAutoConfiguration
    @EntityScan(basePackageClasses = HibernateTenantTests.class)
    static class Tenants {

        @Bean(destroyMethod = "")
        DataSource dataSource() {
            return POOLS.get("north");
        }

        @Bean
        HibernatePropertiesCustomizer tenants() {
            return properties -> {
                properties.put(MultiTenancySettings.MULTI_TENANT_CONNECTION_PROVIDER, new Databases());
                properties.put(MultiTenancySettings.MULTI_TENANT_IDENTIFIER_RESOLVER, new Current());
            };
        }
    }

    @Configuration(proxyBeanMethods = false)
    static class Routing {

        @Bean
        LockManager lockManager(JdbcLockManagers managers) {
            POOLS.forEach(managers::create);
            return LockManager.routing(() -> managers.get(tenant));
        }
    }

    @SuppressWarnings("serial")
    private static final class Databases extends AbstractDataSourceBasedMultiTenantConnectionProviderImpl<String> {

        @Override
        protected DataSource selectAnyDataSource() {
            return POOLS.get("north");
        }

        @Override
        protected DataSource selectDataSource(String name) {
            return POOLS.get(name);
        }
    }

    private static final class Current implements CurrentTenantIdentifierResolver<String> {

        @Override
        public String resolveCurrentTenantIdentifier() {
            return tenant;
        }

        @Override
        public boolean validateExistingCurrentSessions() {
            return false;
        }
    }
}
