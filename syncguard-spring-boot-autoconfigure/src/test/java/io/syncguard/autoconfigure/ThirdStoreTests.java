package io.syncguard.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;

import io.syncguard.LockManager;
import io.syncguard.LockTemplate;
import io.syncguard.memory.InMemoryLockBackend;
import io.syncguard.spi.LockBackend;
import io.syncguard.testing.SortedAutoConfigurations;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.springframework.beans.factory.annotation.BeanFactoryAnnotationUtils;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.test.context.assertj.AssertableApplicationContext;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.annotation.Bean;

/** A store that is none of the library's has an auto-configuration of its own, and nothing else. */
class ThirdStoreTests {

    private final TestDatabase database = TestDatabase.withSchema();

    // sample: third-store
    @AutoConfiguration(before = SyncGuardAutoConfiguration.class)
    @ConditionalOnBackend("memory")
    public static class MemoryLockAutoConfiguration {

        @Bean
        LockBackend syncGuardMemoryLockBackend() {
            return new InMemoryLockBackend();
        }
    }
    // end

    @Test
    void its_name_in_the_property_chooses_it() {
        with("Memory").run(application -> {
            assertThat(application.getBean(LockManager.class).admin().backend().name())
                    .isEqualTo("memory");
            assertThat(application).doesNotHaveBean("syncGuardSecondLockManager");
        });
    }

    @Test
    void nothing_chooses_it_while_the_property_is_not_set() {
        unspecified()
                .run(application -> assertThat(application
                                .getBean(LockManager.class)
                                .admin()
                                .backend()
                                .name())
                        .isEqualTo("postgres"));
    }

    @ParameterizedTest
    @CsvSource({"'postgres,memory', postgres, memory", "'memory,postgres', memory, postgres"})
    void it_may_be_one_of_two(String named, String primary, String second) {
        with(named).run(application -> {
            assertThat(storeOf(application.getBean(LockTemplate.class))).isEqualTo(primary);
            assertThat(storeOf(qualified(application, primary))).isEqualTo(primary);
            assertThat(storeOf(qualified(application, second))).isEqualTo(second);
        });
    }

    @Test
    void three_stores_are_refused() {
        with("postgres,memory,redis")
                .withPropertyValues("spring.data.redis.url=redis://localhost:1")
                .withConfiguration(SortedAutoConfigurations.of(
                        org.springframework.boot.data.redis.autoconfigure.DataRedisAutoConfiguration.class))
                .run(application -> assertThat(application)
                        .getFailure()
                        .hasMessageContaining("syncguard.backend names [postgres, memory, redis]")
                        .hasMessageContaining("at most two"));
    }

    @Test
    void a_disabled_application_has_its_qualifier_too() {
        with("memory")
                .withPropertyValues("syncguard.enabled=false")
                .run(application -> assertThat(qualified(application, "memory")
                                .<Boolean, RuntimeException>execute("order:1", lock -> true))
                        .isTrue());
    }

    private static String storeOf(LockTemplate locks) {
        return locks.manager().admin().backend().name();
    }

    private static LockTemplate qualified(AssertableApplicationContext application, String name) {
        return BeanFactoryAnnotationUtils.qualifiedBeanOfType(application.getBeanFactory(), LockTemplate.class, name);
    }

    private ApplicationContextRunner with(String backend) {
        return unspecified().withPropertyValues("syncguard.backend=" + backend);
    }

    private ApplicationContextRunner unspecified() {
        return Applications.on(database.url())
                .withConfiguration(SortedAutoConfigurations.of(MemoryLockAutoConfiguration.class));
    }
}
