package io.syncguard.verification.matrix;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;

import io.syncguard.LockBackendException;
import io.syncguard.LockErrorCode;
import io.syncguard.LockMode;
import io.syncguard.autoconfigure.ApplicationBackend;
import io.syncguard.core.Requests;
import io.syncguard.core.StoreCalls;
import io.syncguard.spi.AcquireRequest;
import io.syncguard.spi.AcquireResult.Granted;
import io.syncguard.spi.KeyedLockId;
import io.syncguard.verification.matrix.FaultyLink.Way;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * A durable server is killed when it has done what it was asked for, before its answer arrives: for each operation. The
 * caller learns that the outcome is unknown, the server has done it or has not, and everybody can go on.
 */
abstract class KilledServerContract {

    private static final Duration TTL = Duration.ofMinutes(1);
    private static final Duration NETWORK_TIMEOUT = Duration.ofSeconds(5);

    private static final String NO_QUESTION = "com.zaxxer.hikari.aliveBypassWindowMs";

    private final String key = "order-" + UUID.randomUUID();
    private FaultyLink link;
    private StoreCalls direct;
    private StoreCalls behindLink;
    private String holder;
    private String waiter;
    private String newcomer;

    private enum Operation {
        ACQUIRE,
        QUEUE,
        LEAVE,
        RENEW_WAITERS,
        EXTEND,
        ROTATE,
        RELEASE,
        RELEASE_ALL,
        RELEASE_AFTER,
        HAND_OVER,
        FORCE_RELEASE;

        /** Whether the server has it on the disk before it answers. The others cost a ttl at most if they are lost. */
        boolean isDurable() {
            return this == ACQUIRE || this == EXTEND || this == ROTATE;
        }
    }

    /** The port of the server. */
    abstract int port();

    /** The URL of the server at this port, as {@link ApplicationBackend} wants it. */
    abstract String url(int port);

    abstract void kill();

    /** Returns when it answers. */
    abstract void start();

    /** Everything that it stores for the key. */
    abstract List<String> stored(String key);

    @BeforeEach
    void connect() {
        // Its pool would ask an idle connection whether it is alive, and would not get the answer.
        System.setProperty(NO_QUESTION, Long.toString(TTL.toMillis()));
        link = new FaultyLink(port());
        direct = ApplicationBackend.on(url(port()), 2, NETWORK_TIMEOUT);
        behindLink = ApplicationBackend.on(url(link.port()), 2, NETWORK_TIMEOUT);
        holder = direct.lockIdFor(key, "h".repeat(22));
        waiter = direct.lockIdFor(key, "w".repeat(22));
        newcomer = direct.lockIdFor(key, "n".repeat(22));
        warmUp();
    }

    /** Connections are made, and the server knows all scripts, before the operation. */
    private void warmUp() {
        String other = "warm-up-" + UUID.randomUUID();
        String lockId = behindLink.lockIdFor(other, "u".repeat(22));
        behindLink.acquire(Requests.of(other, LockMode.EXCLUSIVE, 0, lockId, TTL, "test", true, false, null));
        KeyedLockId id = new KeyedLockId(other, lockId);
        behindLink.rotate(Requests.extension(other, lockId, TTL));
        behindLink.extendAll(List.of(Requests.extension(other, lockId, TTL)));
        behindLink.releaseAfter(id, Duration.ZERO);
        behindLink.release(id);
        behindLink.releaseAll(List.of(id));
        behindLink.renewWaiters(List.of(id));
        behindLink.forceRelease(other);
    }

    @AfterEach
    void close() {
        behindLink.close();
        direct.close();
        link.close();
        System.clearProperty(NO_QUESTION);
    }

    @ParameterizedTest
    @EnumSource
    void what_the_server_did_is_done_or_is_not(Operation operation) {
        prepare(operation);
        List<String> before = stored(key);
        link.drop(Way.ANSWERS);
        CompletableFuture<Void> asked = CompletableFuture.runAsync(() -> run(operation));
        Awaitility.await(operation + " at the server").until(() -> !stored(key).equals(before));
        List<String> after = stored(key);

        kill();
        start();
        link.heal();

        assertThat(catchThrowable(asked::join))
                .isInstanceOf(CompletionException.class)
                .cause()
                .isInstanceOfSatisfying(
                        LockBackendException.class,
                        ex -> assertThat(ex.code())
                                .isIn(LockErrorCode.SERVICE_UNAVAILABLE, LockErrorCode.NETWORK_TIMEOUT));
        if (operation.isDurable()) {
            assertThat(durable(stored(key))).isEqualTo(durable(after));
        } else {
            assertThat(durable(stored(key))).isIn(durable(before), durable(after));
        }
        everybodyGoesOn();
    }

    /** A crash may take queue entries, which costs fairness only. */
    private List<String> durable(List<String> stored) {
        return stored.stream().filter(line -> !line.contains(waiter)).toList();
    }

    private void prepare(Operation operation) {
        switch (operation) {
            case ACQUIRE -> {}
            case LEAVE, RENEW_WAITERS, HAND_OVER -> {
                direct.acquire(request(holder));
                direct.acquire(request(waiter).waitingAs(1));
            }
            default -> direct.acquire(request(holder));
        }
        if (Set.of(Operation.QUEUE, Operation.LEAVE, Operation.HAND_OVER).contains(operation)) {
            // A process that knows that the key is taken needs one round trip.
            behindLink.acquire(request(newcomer));
        }
    }

    private void run(Operation operation) {
        switch (operation) {
            case ACQUIRE -> behindLink.acquire(request(holder));
            case QUEUE -> behindLink.acquire(request(waiter).waitingAs(1));
            case LEAVE -> behindLink.release(id(waiter));
            case RENEW_WAITERS -> behindLink.renewWaiters(List.of(id(waiter)));
            case EXTEND -> behindLink.extendAll(List.of(Requests.extension(key, holder, TTL.multipliedBy(2))));
            case ROTATE -> behindLink.rotate(Requests.extension(key, holder, TTL));
            case RELEASE, HAND_OVER -> behindLink.release(id(holder));
            case RELEASE_ALL -> behindLink.releaseAll(List.of(id(holder)));
            case RELEASE_AFTER -> behindLink.releaseAfter(id(holder), Duration.ofMillis(1));
            default -> behindLink.forceRelease(key);
        }
    }

    /** The key and the lock id, as the engine sends them: the lock id alone would need another round trip first. */
    private KeyedLockId id(String lockId) {
        return new KeyedLockId(key, lockId);
    }

    /** The lock id of an operation in doubt releases its lease. Then the key is free, and fences grow. */
    private void everybodyGoesOn() {
        Awaitility.await("a new connection").ignoreExceptions().untilAsserted(() -> direct.isLocked(key));
        long largest = direct.lookup(key).stream()
                .mapToLong(lock -> lock.fence().value())
                .max()
                .orElse(0);
        direct.release(waiter);
        direct.release(holder);
        // A hand-over may have given it to the waiter.
        direct.release(waiter);

        assertThat(direct.acquire(request(newcomer)))
                .isInstanceOfSatisfying(
                        Granted.class,
                        grant -> assertThat(grant.fence().value()).isGreaterThan(largest));
    }

    private AcquireRequest request(String lockId) {
        return Requests.of(key, LockMode.EXCLUSIVE, 0, lockId, TTL, "test", true, false, null);
    }
}
