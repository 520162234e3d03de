package io.syncguard.jdbc;

import static org.assertj.core.api.Assertions.assertThat;

import io.syncguard.concurrent.Time;
import java.lang.reflect.Proxy;
import java.sql.Connection;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** The end of requests whose server does not answer. */
class RunningRequestsTests {

    @Test
    @Timeout(60)
    void an_abort_that_hangs_delays_no_other_one() throws Exception {
        CountDownLatch goOn = new CountDownLatch(1);
        CountDownLatch hangs = new CountDownLatch(1);
        CountDownLatch aborted = new CountDownLatch(1);
        try (RunningRequests requests = new RunningRequests(Time.SYSTEM)) {
            requests.begin(
                    abortedBy(() -> {
                        hangs.countDown();
                        return goOn.await(50, TimeUnit.SECONDS);
                    }),
                    Time.SYSTEM.nanoTime(),
                    false);
            assertThat(hangs.await(20, TimeUnit.SECONDS)).isTrue();
            requests.begin(
                    abortedBy(() -> {
                        aborted.countDown();
                        return true;
                    }),
                    Time.SYSTEM.nanoTime(),
                    false);

            assertThat(aborted.await(20, TimeUnit.SECONDS)).isTrue();
        } finally {
            goOn.countDown();
        }
    }

    private static Connection abortedBy(Callable<Boolean> abort) {
        return (Connection) Proxy.newProxyInstance(
                Connection.class.getClassLoader(), new Class<?>[] {Connection.class}, (proxy, method, arguments) -> {
                    if (method.getName().equals("abort")) {
                        abort.call();
                    }
                    return null;
                });
    }
}
