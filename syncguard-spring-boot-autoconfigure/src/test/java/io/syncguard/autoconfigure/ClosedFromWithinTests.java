package io.syncguard.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;
import static org.awaitility.Awaitility.await;

import io.syncguard.LockEvent;
import io.syncguard.LockListener;
import io.syncguard.LockManager;
import io.syncguard.LockRequest;
import io.syncguard.LockTemplate;
import io.syncguard.leader.LeaderElection;
import io.syncguard.leader.LeaderMember;
import io.syncguard.reactive.ReactiveLockTemplate;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.ConfigurableApplicationContext;
import reactor.core.publisher.Mono;

/** Work under a lock closes its own application: its loss interrupts the thread that closes. */
class ClosedFromWithinTests {

    private static final LockRequest ORDER = LockRequest.of("order:1");

    private final BothServers servers = new BothServers();
    private final List<Thread> threadsBefore = threads();

    /** Closed by the listener. */
    private final AtomicReference<ConfigurableApplicationContext> closing = new AtomicReference<>();

    enum Place {
        BODY {
            @Override
            void close(ConfigurableApplicationContext application) {
                application.getBean(LockTemplate.class).execute(ORDER, lock -> {
                    application.close();
                    return lock;
                });
            }
        },
        REACTIVE_BODY {
            @Override
            void close(ConfigurableApplicationContext application) {
                application
                        .getBean(ReactiveLockTemplate.class)
                        .mono(ORDER, lock -> Mono.fromRunnable(application::close))
                        .block(Duration.ofSeconds(30));
            }
        },
        LISTENER {
            @Override
            void close(ConfigurableApplicationContext application) {
                application.getBean(LockManager.class).acquire(ORDER.meterName("listener"));
            }
        },
        TASK_OF_A_LEADER {
            @Override
            void close(ConfigurableApplicationContext application) {
                LeaderMember member = application.getBean(LeaderElection.class).join("scheduler");
                member.runWhileLeader(term -> application.close());
                await().atMost(Duration.ofSeconds(30)).until(() -> !application.isActive());
            }
        };

        abstract void close(ConfigurableApplicationContext application);
    }

    static Stream<Arguments> places() {
        return Stream.of("postgres", "redis")
                .flatMap(backend -> Stream.of(Place.values()).map(place -> Arguments.of(backend, place)));
    }

    @AfterEach
    void close() {
        servers.close();
    }

    @ParameterizedTest
    @MethodSource("places")
    void leaves_no_lock_and_no_thread(String backend, Place place) {
        ApplicationContextRunner runner = servers.with(backend).withBean(LockListener.class, () -> new LockListener() {
            @Override
            public void acquired(LockEvent event) {
                if (place == Place.LISTENER) {
                    closing.get().close();
                }
            }
        });
        runner.run(application -> {
            closing.set(application.getSourceApplicationContext());

            Throwable failure = catchThrowable(() -> place.close(closing.get()));

            boolean unused = Thread.interrupted();
            // A body on another thread may still close it when its call has failed.
            await("closed, after " + failure).until(() -> !closing.get().isActive());
            await().atMost(Duration.ofSeconds(10)).untilAsserted(() -> {
                assertThat(servers.keepersOf("order:1")).isEmpty();
                assertThat(servers.keepersOf("leader:scheduler")).isEmpty();
                assertThat(threads()).isSubsetOf(threadsBefore);
            });
        });
    }

    private static List<Thread> threads() {
        return Thread.getAllStackTraces().keySet().stream()
                .filter(thread -> thread.getName().startsWith("syncguard"))
                .toList();
    }
}
