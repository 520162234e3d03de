package io.syncguard.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.mockito.Mockito.mock;

import io.syncguard.LockAdmin;
import io.syncguard.LockHandle;
import io.syncguard.LockManager;
import io.syncguard.LockRequest;
import io.syncguard.LockSetupException;
import io.syncguard.LockTemplate;
import io.syncguard.core.DefaultSettings;
import io.syncguard.core.LockEngine;
import io.syncguard.core.TransactionBoundary;
import io.syncguard.memory.InMemoryLockBackend;
import io.syncguard.spi.LockBackend;
import io.syncguard.testing.SortedAutoConfigurations;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.beans.factory.NoUniqueBeanDefinitionException;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

/** The bean with which operators look at locks, whatever managers an application has. */
class LockAdminTests {

    private static final LockRequest ORDER = LockRequest.of("order:42");

    private final ApplicationContextRunner runner = new ApplicationContextRunner()
            .withConfiguration(SortedAutoConfigurations.of(SyncGuardAutoConfiguration.class))
            .withBean(LockBackend.class, InMemoryLockBackend::new)
            .withPropertyValues("syncguard.shutdown-timeout=0s");

    @Test
    void it_shows_and_ends_the_locks_of_the_application() {
        runner.run(application -> {
            LockHandle lock = application.getBean(LockManager.class).acquire(ORDER);
            LockAdmin admin = application.getBean("syncGuardLockAdmin", LockAdmin.class);

            assertThat(admin).isSameAs(application.getBean(LockAdmin.class));
            assertThat(admin.lookup("order:42"))
                    .map(info -> info.fence().value())
                    .contains(lock.fence().value());
            assertThat(admin.debugLookupById(lock.lockId()))
                    .map(raw -> raw.key())
                    .contains("order:42");
            assertThat(admin.forceRelease("order:42").released()).hasSize(1);
            assertThat(application.getBean(LockManager.class).owns(lock.lockId()))
                    .isFalse();
        });
    }

    @Test
    void it_is_that_of_the_manager_to_which_the_applications_own_one_routes_now() {
        runner.withUserConfiguration(Tenants.class).run(application -> {
            Tenants.current = "south";
            LockManager south = application.getBean("south", LockManager.class);
            LockAdmin admin = application.getBean(LockAdmin.class);
            try (LockHandle lock = south.acquire(ORDER)) {
                assertThat(admin.status(lock.key())).isPresent();
                Tenants.current = "north";
                assertThat(admin.status(lock.key())).isEmpty();
                assertThat(south.admin().status(lock.key())).isPresent();
            }
        });
    }

    @Test
    void an_application_with_several_managers_starts_and_asks_the_admin_of_each() {
        runner.withUserConfiguration(Two.class).run(application -> {
            assertThat(application).hasNotFailed();
            LockManager south = application.getBean("south", LockManager.class);
            try (LockHandle lock = south.acquire(ORDER)) {
                assertThat(application
                                .getBean("north", LockManager.class)
                                .admin()
                                .holders(lock.key()))
                        .isEmpty();
                assertThat(south.admin().holders(lock.key())).hasSize(1);
            }
            LockAdmin unclear = application.getBean(LockAdmin.class);
            assertThatThrownBy(() -> unclear.holders("order:42")).isInstanceOf(NoUniqueBeanDefinitionException.class);
        });
    }

    @Test
    void the_applications_own_one_replaces_it() {
        LockAdmin own = LockManager.withoutLocks().admin();

        runner.withBean("own", LockAdmin.class, () -> own)
                .run(application ->
                        assertThat(application.getBean(LockAdmin.class)).isSameAs(own));
    }

    @Test
    void a_mock_of_the_manager_is_named_when_it_is_asked() {
        runner.withBean(LockManager.class, () -> mock(LockManager.class)).run(application -> {
            LockAdmin admin = application.getBean(LockAdmin.class);

            assertThatThrownBy(admin::backend)
                    .isInstanceOf(LockSetupException.class)
                    .hasMessageContaining("returned null, as a mock does");
        });
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void without_locks_there_is_nothing_to_see(boolean ownManager) {
        ApplicationContextRunner disabled = new ApplicationContextRunner()
                .withConfiguration(SortedAutoConfigurations.of(SyncGuardDisabledAutoConfiguration.class))
                .withPropertyValues("syncguard.enabled=false");
        (ownManager ? disabled.withBean(LockManager.class, LockManager::withoutLocks) : disabled).run(application -> {
            application.getBean(LockManager.class).acquire(ORDER);

            assertThat(application.getBean(LockAdmin.class).status("order:42")).isEmpty();
        });
    }

    private static LockEngine engine() {
        return new LockEngine(
                new InMemoryLockBackend(), DefaultSettings.of("test"), TransactionBoundary.NONE, List.of());
    }

    @Configuration(proxyBeanMethods = false)
    static class Tenants {

        static volatile String current = "south";

        private final LockEngine north = engine();
        private final LockEngine south = engine();

        @Bean(defaultCandidate = false)
        LockManager north() {
            return north;
        }

        @Bean(defaultCandidate = false)
        LockManager south() {
            return south;
        }

        @Bean
        LockManager routing() {
            return LockManager.routing(() -> current.equals("south") ? south : north);
        }
    }

    @Configuration(proxyBeanMethods = false)
    static class Two {

        @Bean
        LockManager north() {
            return engine();
        }

        @Bean
        LockManager south() {
            return engine();
        }

        @Bean
        LockTemplate template() {
            return new LockTemplate(north());
        }
    }
}
