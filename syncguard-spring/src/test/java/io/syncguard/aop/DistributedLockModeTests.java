package io.syncguard.aop;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.syncguard.DistributedLock;
import io.syncguard.LockErrorCode;
import io.syncguard.LockException;
import io.syncguard.LockHandle;
import io.syncguard.LockInfo;
import io.syncguard.LockMode;
import io.syncguard.LockNotAcquiredException;
import io.syncguard.LockTemplate;
import java.util.List;
import java.util.function.Supplier;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;

/** The mode of the annotation: readers run beside each other, a writer alone. */
@Timeout(60)
class DistributedLockModeTests {

    @RegisterExtension
    private final LockedApplication application = new LockedApplication();

    private final ApplicationContextRunner runner = application.with(Prices.class, Catalogue.class);

    @Test
    void a_shared_method_runs_beside_other_readers() {
        runner.run(context -> {
            LockHandle somebodyElse = application.readBySomebodyElse("prices");

            LockInfo[] holders = context.getBean(Prices.class)
                    .read(() -> context.getBean(LockTemplate.class).manager().admin().holders("prices").stream()
                            .toArray(LockInfo[]::new));

            assertThat(holders).hasSize(2).allMatch(info -> info.mode() == LockMode.SHARED);
            assertThat(somebodyElse.isHeld()).isTrue();
            assertThat(application.grants("prices")).isEqualTo(2);
        });
    }

    @Test
    void a_shared_method_does_not_run_beside_a_writer() {
        runner.run(context -> {
            application.takenBySomebodyElse("prices");

            assertThatExceptionOfType(LockNotAcquiredException.class)
                    .isThrownBy(() -> context.getBean(Prices.class).read(() -> "read"));
        });
    }

    @Test
    void a_method_that_says_nothing_is_a_writer_and_does_not_run_beside_a_reader() {
        runner.run(context -> {
            application.readBySomebodyElse("prices");

            assertThatExceptionOfType(LockNotAcquiredException.class)
                    .isThrownBy(() -> context.getBean(Prices.class).write(() -> "written"));
        });
    }

    @Test
    void a_reader_calls_a_shared_method_inside_a_writer() {
        runner.run(context -> {
            Prices prices = context.getBean(Prices.class);

            LockMode mode = prices.write(
                    () -> prices.read(() -> LockHandle.current().orElseThrow().mode()));

            assertThat(mode).as("it has joined the writer").isEqualTo(LockMode.EXCLUSIVE);
            assertThat(application.grants("prices")).isEqualTo(1);
        });
    }

    @Test
    void a_writer_inside_a_shared_method_is_refused_at_once() {
        runner.run(context -> {
            Prices prices = context.getBean(Prices.class);

            assertThatExceptionOfType(LockException.class)
                    .isThrownBy(() -> prices.read(() -> prices.write(() -> "written")))
                    .withMessageContaining("prices")
                    .satisfies(ex -> assertThat(ex.code()).isEqualTo(LockErrorCode.INVALID_ARGUMENT));
            assertThat(application.isTaken("prices")).isFalse();
        });
    }

    @Test
    void a_shared_method_reads_under_all_its_keys() {
        runner.run(context -> {
            application.readBySomebodyElse("price:b");
            LockTemplate locks = context.getBean(LockTemplate.class);

            context.getBean(Prices.class).readAll(List.of("b", "a"), () -> {
                assertThat(modes(locks, "price:a")).containsExactly(LockMode.SHARED);
                assertThat(modes(locks, "price:b")).containsExactly(LockMode.SHARED, LockMode.SHARED);
                return "read";
            });

            assertThat(application.isTaken("price:a")).isFalse();
            assertThat(modes(locks, "price:b")).containsExactly(LockMode.SHARED);
        });
    }

    @Test
    void a_shared_method_one_of_whose_keys_is_written_reads_under_none() {
        runner.run(context -> {
            application.takenBySomebodyElse("price:b");

            assertThatExceptionOfType(LockNotAcquiredException.class)
                    .isThrownBy(() -> context.getBean(Prices.class).readAll(List.of("a", "b"), () -> "read"));
            assertThat(application.isTaken("price:a")).isFalse();
        });
    }

    @Test
    void the_mode_of_a_class_counts_for_its_methods_and_that_of_a_method_before_it() {
        runner.run(context -> {
            Catalogue catalogue = context.getBean(Catalogue.class);

            assertThat(catalogue.look()).isEqualTo(LockMode.SHARED);
            assertThat(catalogue.change()).isEqualTo(LockMode.EXCLUSIVE);
        });
    }

    private static List<LockMode> modes(LockTemplate locks, String key) {
        return locks.manager().admin().holders(key).stream().map(LockInfo::mode).toList();
    }

    static class Prices {

        @DistributedLock(name = "prices", mode = LockMode.SHARED)
        public <T> T read(Supplier<T> body) {
            return body.get();
        }

        @DistributedLock(name = "prices")
        public <T> T write(Supplier<T> body) {
            return body.get();
        }

        @DistributedLock(name = "price", key = "#keys", mode = LockMode.SHARED)
        public <T> T readAll(List<String> keys, Supplier<T> body) {
            return body.get();
        }
    }

    @DistributedLock(name = "catalogue", mode = LockMode.SHARED)
    static class Catalogue {

        public LockMode look() {
            return LockHandle.current().orElseThrow().mode();
        }

        @DistributedLock(name = "catalogue")
        public LockMode change() {
            return LockHandle.current().orElseThrow().mode();
        }
    }
}
