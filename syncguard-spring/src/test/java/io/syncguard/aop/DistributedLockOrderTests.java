package io.syncguard.aop;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.syncguard.DistributedLock;
import io.syncguard.LockHandle;
import io.syncguard.LockNotAcquiredException;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.springframework.aop.framework.Advised;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.cache.CacheManager;
import org.springframework.cache.annotation.Cacheable;
import org.springframework.cache.annotation.EnableCaching;
import org.springframework.cache.concurrent.ConcurrentMapCacheManager;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.core.Ordered;
import org.springframework.dao.annotation.PersistenceExceptionTranslationPostProcessor;
import org.springframework.resilience.annotation.ConcurrencyLimit;
import org.springframework.resilience.annotation.EnableResilientMethods;
import org.springframework.resilience.annotation.Retryable;
import org.springframework.retry.annotation.EnableRetry;
import org.springframework.scheduling.annotation.Async;
import org.springframework.scheduling.annotation.EnableAsync;
import org.springframework.stereotype.Repository;
import org.springframework.transaction.annotation.EnableTransactionManagement;
import org.springframework.transaction.annotation.Transactional;
import reactor.core.publisher.Mono;

/** The lock and other annotations of one method: which is outside. */
@Timeout(60)
class DistributedLockOrderTests {

    private static final Duration LIMIT = Duration.ofSeconds(10);

    @RegisterExtension
    private final LockedApplication application = new LockedApplication();

    private final ApplicationContextRunner runner = application.with(Rates.class);

    @Test
    void each_retry_takes_the_lock_again() {
        runner.withUserConfiguration(Retries.class).run(context -> {
            assertThat(context.getBean(Rates.class).retried(2)).isEqualTo("after 2 failures");

            assertThat(application.grants("rates")).isEqualTo(3);
            assertThat(application.isTaken("rates")).isFalse();
        });
    }

    @Test
    void a_refusal_is_retried() {
        runner.withUserConfiguration(Retries.class).run(context -> {
            LockHandle other = application.takenBySomebodyElse("rates");
            Rates rates = context.getBean(Rates.class);

            assertThatThrownBy(() -> rates.retried(0)).isInstanceOf(LockNotAcquiredException.class);
            other.release();
            assertThat(rates.retried(0)).isEqualTo("after 0 failures");
        });
    }

    @Test
    void each_retry_of_a_publisher_takes_the_lock_again() {
        runner.withUserConfiguration(Retries.class).run(context -> {
            assertThat(context.getBean(Rates.class).retriedLater(2).block(LIMIT))
                    .isEqualTo("after 2 failures");

            assertThat(application.grants("rates")).isEqualTo(3);
        });
    }

    @Test
    void the_lock_is_outside_of_the_cache() {
        runner.withUserConfiguration(Caches.class).run(context -> {
            Rates rates = context.getBean(Rates.class);

            assertThat(rates.cached("EUR")).isEqualTo("EUR 1");
            assertThat(rates.cached("EUR")).isEqualTo("EUR 1");

            assertThat(application.grants("rates")).isEqualTo(2);
        });
    }

    @Test
    void a_cache_with_an_order_before_the_lock_is_outside() {
        runner.withUserConfiguration(CachesOutside.class).run(context -> {
            Rates rates = context.getBean(Rates.class);

            assertThat(rates.cached("EUR")).isEqualTo("EUR 1");
            application.takenBySomebodyElse("rates");
            assertThat(rates.cached("EUR")).isEqualTo("EUR 1");

            assertThat(application.grants("rates"))
                    .as("one for us, one for somebody else")
                    .isEqualTo(2);
        });
    }

    @Test
    void retries_of_spring_retry_with_an_order_before_the_lock_are_outside() {
        application
                .with(Everything.class)
                .withUserConfiguration(RetriesOutside.class)
                .run(context -> {
                    Advised proxy = (Advised) context.getBean(Everything.class);

                    assertThat(proxy.getAdvisors())
                            .extracting(
                                    advisor -> advisor.getAdvice().getClass().getSimpleName())
                            .containsSubsequence(
                                    "AnnotationAwareRetryOperationsInterceptor", "DistributedLockInterceptor");
                });
    }

    @Test
    void the_lock_is_between_annotations_that_run_a_call_and_those_that_belong_to_its_body() {
        application
                .with(Everything.class)
                .withUserConfiguration(Annotations.class)
                .run(context -> {
                    Advised proxy = (Advised) context.getBean(Everything.class);
                    List<Class<?>> order = Stream.of(proxy.getAdvisors())
                            .<Class<?>>map(advisor -> advisor.getAdvice().getClass())
                            .toList();
                    int lock = order.indexOf(DistributedLockInterceptor.class);

                    assertThat(order.subList(0, lock))
                            .extracting(Class::getSimpleName)
                            .contains(
                                    "AnnotationAsyncExecutionInterceptor",
                                    "ConcurrencyLimitInterceptor",
                                    "RetryAnnotationInterceptor");
                    assertThat(order.subList(lock, order.size()))
                            .extracting(Class::getSimpleName)
                            .contains(
                                    "TransactionInterceptor",
                                    "CacheInterceptor",
                                    "AnnotationAwareRetryOperationsInterceptor",
                                    // Appended as the interceptor of @Validated is, by the same base class.
                                    "PersistenceExceptionTranslationInterceptor");
                });
    }

    @Repository
    static class Everything {

        @Async
        @ConcurrencyLimit(1)
        @Retryable
        @org.springframework.retry.annotation.Retryable
        @Transactional
        @Cacheable("rates")
        @DistributedLock(name = "rates")
        public void run() {}
    }

    static class Rates {

        private final AtomicInteger calls = new AtomicInteger();

        @Retryable(maxRetries = 3, delay = 1)
        @DistributedLock(name = "rates", waitTime = "0s")
        public String retried(int failures) {
            if (calls.incrementAndGet() <= failures) {
                throw new IllegalStateException("not yet");
            }
            return "after " + failures + " failures";
        }

        @Retryable(maxRetries = 3, delay = 1)
        @DistributedLock(name = "rates")
        public Mono<String> retriedLater(int failures) {
            return Mono.fromSupplier(() -> retried(failures));
        }

        @Cacheable("rates")
        @DistributedLock(name = "rates", waitTime = "0s")
        public String cached(String currency) {
            return currency + " " + calls.incrementAndGet();
        }
    }

    @Configuration(proxyBeanMethods = false)
    @EnableResilientMethods
    static class Retries {}

    @Configuration(proxyBeanMethods = false)
    @EnableCaching
    static class Caches {

        @Bean
        CacheManager cacheManager() {
            return new ConcurrentMapCacheManager();
        }
    }

    @Configuration(proxyBeanMethods = false)
    @EnableCaching(order = Ordered.HIGHEST_PRECEDENCE)
    static class CachesOutside {

        @Bean
        CacheManager cacheManager() {
            return new ConcurrentMapCacheManager();
        }
    }

    @Configuration(proxyBeanMethods = false)
    @EnableAsync
    @EnableResilientMethods
    @EnableRetry
    @EnableTransactionManagement
    @EnableCaching
    static class Annotations {

        @Bean
        static PersistenceExceptionTranslationPostProcessor translation() {
            return new PersistenceExceptionTranslationPostProcessor();
        }

        @Bean
        CacheManager cacheManager() {
            return new ConcurrentMapCacheManager();
        }
    }

    @Configuration(proxyBeanMethods = false)
    @EnableRetry(order = Ordered.HIGHEST_PRECEDENCE)
    static class RetriesOutside {}
}
