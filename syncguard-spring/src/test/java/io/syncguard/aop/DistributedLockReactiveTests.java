package io.syncguard.aop;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.syncguard.DistributedLock;
import io.syncguard.LockException;
import io.syncguard.LockHandle;
import io.syncguard.LockLostException;
import io.syncguard.LockNotAcquiredException;
import io.syncguard.OnContention;
import io.syncguard.reactive.ReactiveLockTemplate;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Flow;
import java.util.concurrent.atomic.AtomicInteger;
import org.aopalliance.intercept.MethodInterceptor;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.springframework.aop.support.DefaultPointcutAdvisor;
import org.springframework.aop.support.annotation.AnnotationMatchingPointcut;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import reactor.adapter.JdkFlowAdapter;
import reactor.core.Disposable;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Sinks;

/** A method that returns a publisher takes its lock for each subscription, and keeps it until that ends. */
@Timeout(60)
class DistributedLockReactiveTests {

    private static final Duration LIMIT = Duration.ofSeconds(10);

    @RegisterExtension
    private final LockedApplication application = new LockedApplication();

    private final ApplicationContextRunner runner = application.with(Payments.class, InnerInterceptor.class);

    @Test
    void nothing_happens_before_the_subscription() {
        runner.run(context -> {
            Payments payments = context.getBean(Payments.class);

            payments.charge("42", Mono.just("done"));

            assertThat(application.grants("payment:42")).isZero();
            assertThat(payments.calls()).hasValue(0);
        });
    }

    @Test
    void a_mono_keeps_the_lock_until_it_ends() {
        runner.run(context -> {
            Sinks.One<String> source = Sinks.one();
            CompletableFuture<String> result = context.getBean(Payments.class)
                    .charge("42", source.asMono())
                    .toFuture();
            await().atMost(LIMIT).until(() -> source.currentSubscriberCount() == 1);
            assertThat(application.isTaken("payment:42")).isTrue();

            source.tryEmitValue("done");

            assertThat(result).succeedsWithin(LIMIT).isEqualTo("done");
            assertThat(application.isTaken("payment:42")).isFalse();
        });
    }

    @Test
    void a_flux_keeps_the_lock_until_it_ends() {
        runner.run(context -> {
            Flux<Boolean> taken = context.getBean(Payments.class)
                    .chargeAll(Flux.just("a", "b"))
                    .map(each -> application.isTaken("payments"));

            assertThat(taken.collectList().block(LIMIT)).containsExactly(true, true);
            assertThat(application.isTaken("payments")).isFalse();
        });
    }

    @Test
    void so_does_a_publisher_of_the_jdk() {
        runner.run(context -> {
            Flow.Publisher<String> published =
                    context.getBean(Payments.class).published(JdkFlowAdapter.publisherToFlowPublisher(Flux.just("a")));

            assertThat(application.grants("payments")).isZero();
            assertThat(JdkFlowAdapter.flowPublisherToFlux(published)
                            .collectList()
                            .block(LIMIT))
                    .containsExactly("a");
            assertThat(application.grants("payments")).isOne();
            assertThat(application.isTaken("payments")).isFalse();
        });
    }

    @Test
    void each_subscription_runs_the_method_and_all_its_interceptors() {
        runner.run(context -> {
            Payments payments = context.getBean(Payments.class);

            payments.charge("42", Mono.just("done")).repeat(2).blockLast(LIMIT);

            assertThat(application.grants("payment:42")).isEqualTo(3);
            assertThat(payments.calls()).hasValue(3);
            assertThat(context.getBean(InnerInterceptor.class).calls).hasValue(3);
        });
    }

    @Test
    void the_method_and_the_context_have_the_handle() {
        runner.run(
                context -> assertThat(context.getBean(Payments.class).handles().block(LIMIT))
                        .isEqualTo("payments, payments"));
    }

    @Test
    void a_subscription_that_is_cancelled_releases_the_lock() {
        runner.run(context -> {
            Disposable subscription =
                    context.getBean(Payments.class).charge("42", Mono.never()).subscribe();
            await().atMost(LIMIT).until(() -> application.isTaken("payment:42"));

            subscription.dispose();

            await().atMost(LIMIT).until(() -> !application.isTaken("payment:42"));
        });
    }

    @Test
    void a_refusal_is_the_error() {
        runner.run(context -> {
            application.takenBySomebodyElse("payment:42");
            Mono<String> charge = context.getBean(Payments.class).charge("42", Mono.just("done"));

            assertThatThrownBy(() -> charge.block(LIMIT)).isInstanceOf(LockNotAcquiredException.class);
        });
    }

    @Test
    void a_skipped_call_is_empty() {
        runner.run(context -> {
            application.takenBySomebodyElse("payments");

            assertThat(context.getBean(Payments.class).skipping().blockOptional(LIMIT))
                    .isEmpty();
        });
    }

    @Test
    void a_fallback_returns_a_publisher_of_its_own() {
        runner.run(context -> {
            application.takenBySomebodyElse("payments");

            assertThat(context.getBean(Payments.class).withFallback("tea").block(LIMIT))
                    .isEqualTo("tea later, payments");
        });
    }

    @Test
    void a_refusal_of_the_body_is_neither_skipped_nor_replaced() {
        runner.run(context -> {
            application.takenBySomebodyElse("payment:42");
            Payments payments = context.getBean(Payments.class);
            Mono<String> inner = Mono.defer(() -> payments.charge("42", Mono.just("done")));

            assertThatThrownBy(() -> payments.skippingAround(inner).block(LIMIT))
                    .isInstanceOf(LockNotAcquiredException.class)
                    .hasMessageContaining("payment:42");
        });
    }

    @Test
    void several_keys_are_all_held_and_all_released() {
        runner.run(context -> {
            Sinks.One<String> source = Sinks.one();
            CompletableFuture<String> result = context.getBean(Payments.class)
                    .transfer(List.of("b", "a"), source.asMono())
                    .toFuture();
            await().atMost(LIMIT).until(() -> source.currentSubscriberCount() == 1);
            assertThat(application.isTaken("account:a")).isTrue();
            assertThat(application.isTaken("account:b")).isTrue();

            source.tryEmitValue("done");

            assertThat(result).succeedsWithin(LIMIT);
            assertThat(application.isTaken("account:a")).isFalse();
            assertThat(application.isTaken("account:b")).isFalse();
        });
    }

    @Test
    void the_first_of_several_keys_is_released_when_the_second_is_refused() {
        runner.run(context -> {
            application.takenBySomebodyElse("account:b");
            Mono<String> transfer = context.getBean(Payments.class).transfer(List.of("b", "a"), Mono.just("done"));

            assertThatThrownBy(() -> transfer.block(LIMIT)).isInstanceOf(LockNotAcquiredException.class);
            assertThat(application.grants("account:a")).isOne();
            assertThat(application.isTaken("account:a")).isFalse();
        });
    }

    @Test
    void a_key_without_a_value_is_the_error() {
        runner.run(context -> {
            Mono<String> charge = context.getBean(Payments.class).charge(" ", Mono.just("done"));

            assertThatThrownBy(() -> charge.block(LIMIT))
                    .isInstanceOf(LockException.class)
                    .hasMessageContaining("is blank for this call");
        });
    }

    @Test
    void a_loss_cancels_the_body() {
        runner.run(context -> {
            Sinks.Many<String> source = Sinks.many().unicast().onBackpressureBuffer();
            CompletableFuture<List<String>> result = context.getBean(Payments.class)
                    .chargeAll(source.asFlux())
                    .collectList()
                    .toFuture();
            await().atMost(LIMIT).until(() -> source.currentSubscriberCount() == 1);

            application.store.expire("payments");
            context.getBean(Payments.class).noticeLoss();

            assertThatThrownBy(result::join).hasCauseInstanceOf(LockLostException.class);
            assertThat(source.currentSubscriberCount()).isZero();
        });
    }

    @Test
    void a_nested_call_joins_the_lock() {
        runner.run(context -> {
            Payments payments = context.getBean(Payments.class);
            Mono<String> nested = Mono.defer(() -> payments.charge("42", Mono.just("inner")));

            assertThat(payments.charge("42", nested).block(LIMIT)).isEqualTo("inner");
            assertThat(application.grants("payment:42")).isOne();
        });
    }

    @Test
    void there_is_a_template_and_it_joins_too() {
        runner.run(context -> {
            ReactiveLockTemplate locks = context.getBean(ReactiveLockTemplate.class);
            Mono<String> nested = locks.mono("payment:42", lock -> Mono.just("inner"));

            assertThat(context.getBean(Payments.class).charge("42", nested).block(LIMIT))
                    .isEqualTo("inner");
            assertThat(application.grants("payment:42")).isOne();
        });
    }

    static class Payments {

        private final AtomicInteger calls = new AtomicInteger();
        private LockHandle held;

        AtomicInteger calls() {
            return calls;
        }

        @DistributedLock(name = "payment", key = "#id")
        public Mono<String> charge(String id, Mono<String> source) {
            calls.incrementAndGet();
            return source;
        }

        @DistributedLock(name = "payments")
        public Flux<String> chargeAll(Flux<String> source) {
            held = LockHandle.current().orElseThrow();
            return source;
        }

        @DistributedLock(name = "payments")
        public Flow.Publisher<String> published(Flow.Publisher<String> source) {
            return source;
        }

        @DistributedLock(name = "payments")
        public Mono<String> handles() {
            String current = LockHandle.current().orElseThrow().key();
            return Mono.deferContextual(context ->
                    Mono.just(current + ", " + context.get(LockHandle.class).key()));
        }

        @DistributedLock(name = "payments", onContention = OnContention.SKIP)
        public Mono<String> skipping() {
            return Mono.just("ran");
        }

        @DistributedLock(name = "around", onContention = OnContention.SKIP)
        public Mono<String> skippingAround(Mono<String> source) {
            return source;
        }

        @DistributedLock(name = "payments", fallback = "later")
        public Mono<String> withFallback(String product) {
            return Mono.just(product);
        }

        Mono<String> later(String product, LockNotAcquiredException refusal) {
            return Mono.just(product + " later, " + refusal.key());
        }

        @DistributedLock(name = "account", key = "#ids")
        public Mono<String> transfer(List<String> ids, Mono<String> source) {
            return source;
        }

        void noticeLoss() {
            assertThat(held.extend(Duration.ofSeconds(1))).isFalse();
        }
    }

    /** Runs inside of the lock. */
    @Configuration(proxyBeanMethods = false)
    static class InnerInterceptor {

        final AtomicInteger calls = new AtomicInteger();

        @Bean
        DefaultPointcutAdvisor innerAdvisor() {
            MethodInterceptor counting = invocation -> {
                calls.incrementAndGet();
                return invocation.proceed();
            };
            return new DefaultPointcutAdvisor(
                    AnnotationMatchingPointcut.forMethodAnnotation(DistributedLock.class), counting);
        }
    }
}
