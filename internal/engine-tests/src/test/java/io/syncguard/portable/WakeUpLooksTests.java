package io.syncguard.portable;

import static io.syncguard.core.EngineFixture.eventually;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.syncguard.LockBackendException;
import io.syncguard.LockMode;
import io.syncguard.concurrent.Time;
import io.syncguard.core.ContractFixture;
import io.syncguard.core.ManualTime;
import io.syncguard.core.StoreCalls;
import io.syncguard.spi.AcquireRequest;
import io.syncguard.spi.AcquireResult;
import io.syncguard.spi.WakeUpListener;
import java.lang.reflect.Proxy;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicBoolean;
import javax.sql.DataSource;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.springframework.jdbc.datasource.DelegatingDataSource;

/** A process looks for messages as long as somebody waits, whatever has disturbed it. */
@ExtendWith(H2KitTests.Store.class)
class WakeUpLooksTests extends ContractFixture {

    private final Set<Long> woken = ConcurrentHashMap.newKeySet();
    private final AtomicBoolean fails = new AtomicBoolean();
    private final AtomicBoolean losesAnswer = new AtomicBoolean();
    private final ManualTime time = new ManualTime();
    private StoreCalls process;

    @AfterEach
    void close() {
        process.close();
    }

    @Test
    void who_queues_while_the_looks_fail_is_woken_after_they_succeed_again() {
        process = listening(Time.SYSTEM);
        AcquireRequest holder = held(writer());
        fails.set(true);
        held(request("other", LockMode.EXCLUSIVE, TTL));
        queued(process, waiting(request("other", LockMode.EXCLUSIVE, TTL)));
        eventually().until(() -> !process.isConnected());
        AcquireRequest waiter = waitingWriter();
        queued(process, waiter);

        fails.set(false);
        eventually().until(process::isConnected);
        release(holder);

        eventually().until(() -> woken.contains(waiter.waiterNumber()));
    }

    @Test
    void who_renews_its_queue_entry_late_is_woken() {
        process = listening(time);
        AcquireRequest holder = held(writer());
        AcquireRequest waiter = waitingWriter();
        queued(process, waiter);
        time.advance(PortableContractStore.WAITER_TTL.plusSeconds(1));
        awaitReads(time, "syncguard-wake-ups");

        process.renewWaiters(List.of(waiter.keyedLockId()));
        release(holder);

        eventually().until(() -> {
            time.advance(Duration.ofMillis(100));
            return woken.contains(waiter.waiterNumber());
        });
    }

    /** The waiter who leaves gets an error, and nobody knows that another one of the process was woken. */
    @Test
    void a_waiter_is_woken_by_another_one_of_its_process_whose_answer_was_lost() {
        process = listening(Time.SYSTEM);
        held(writer());
        AcquireRequest leaving = waitingWriter();
        queued(process, leaving);
        AcquireRequest waiter = waitingWriter();
        queued(process, waiter);
        losesAnswer.set(true);

        assertThatThrownBy(() -> process.acquire(lastTry(leaving))).isInstanceOf(LockBackendException.class);

        assertThat(woken).containsExactly(waiter.waiterNumber());
    }

    /** A thread that reads the clock twice has done all that was due before. */
    static void awaitReads(ManualTime time, String thread) {
        long before = reads(time, thread);
        eventually().until(() -> reads(time, thread) >= before + 2);
    }

    private static long reads(ManualTime time, String thread) {
        return time.looks().entrySet().stream()
                .filter(entry -> entry.getKey().getName().startsWith(thread))
                .mapToLong(Map.Entry::getValue)
                .sum();
    }

    /** A process whose engine has connections that can fail. */
    private StoreCalls listening(Time time) {
        PortableContractStore store = (PortableContractStore) store();
        StoreCalls opened = store.newBackend(losing(store.dataSource()), failing(store.dataSource()), time);
        connect(opened, new WakeUpListener() {
            @Override
            public void wake(long waiter) {
                woken.add(waiter);
            }

            @Override
            public void handOver(long waiter, AcquireResult.Granted grant) {}

            @Override
            public void wakeUpsMissed() {}
        });
        return opened;
    }

    private DataSource losing(DataSource source) {
        return new DelegatingDataSource(source) {
            @Override
            public Connection getConnection() throws SQLException {
                Connection connection = super.getConnection();
                return (Connection) Proxy.newProxyInstance(
                        getClass().getClassLoader(), new Class<?>[] {Connection.class}, (proxy, method, args) -> {
                            Object answer = method.invoke(connection, args);
                            if (method.getName().equals("commit") && losesAnswer.get()) {
                                throw new SQLException("The answer is lost", "08006");
                            }
                            return answer;
                        });
            }
        };
    }

    private DataSource failing(DataSource source) {
        return new DelegatingDataSource(source) {
            @Override
            public Connection getConnection() throws SQLException {
                if (fails.get()) {
                    throw new SQLException("The server cannot be reached", "08001");
                }
                return super.getConnection();
            }
        };
    }
}
