package io.syncguard.core;

import static io.syncguard.core.EngineFixture.eventually;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.syncguard.LockBackendException;
import io.syncguard.LockHandle;
import io.syncguard.LockRequest;
import io.syncguard.spi.ExtendRequest;
import io.syncguard.testing.ServerProxy;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/**
 * The client of an extension disconnects, and the server executes it after a later one was confirmed on another
 * connection. It ends the lease earlier, and the holder has allowed for that.
 */
public abstract class LateExtensionContract {

    private static final Duration HOUR = Duration.ofHours(1);

    private final LockRequest request = LockRequest.of(new LockIds().next());

    private ServerProxy proxy;
    private EngineFixture fixture;
    private StoreCalls elsewhere;
    private LockHandle lock;

    /** Creates a proxy to the server, where other stores may have keys, too. */
    protected abstract ServerProxy newProxy();

    /** The URL without the proxy. */
    protected abstract String url();

    protected abstract StoreCalls newBackend(String url);

    @BeforeEach
    void acquire() {
        elsewhere = newBackend(url());
        // Load the scripts first: a Redis that does not know a script receives its first request twice.
        ExtendRequest nobody = Requests.extension(request.key(), "warm up", EngineFixture.TTL);
        elsewhere.extend(List.of(nobody));
        elsewhere.rotate(nobody);
        proxy = newProxy();
        fixture = new EngineFixture(newBackend(proxy.url()));
        lock = fixture.engine.acquire(request);
        proxy.keepBack(lock.lockId());
    }

    @AfterEach
    void close() {
        fixture.close();
        proxy.close();
        elsewhere.close();
    }

    @Test
    void a_heartbeat_that_comes_after_a_longer_extension_by_hand() {
        fixture.time.advance(Duration.ofSeconds(10));
        eventually().until(() -> fixture.events.contains("failed EXTEND SERVICE_UNAVAILABLE"));

        extendTo(HOUR);
        letThrough();

        assertThat(lock.remaining()).isEqualTo(EngineFixture.TTL);
    }

    @Test
    void an_extension_by_hand_that_comes_after_a_longer_one() {
        assertThatThrownBy(() -> lock.extend(Duration.ofSeconds(20))).isInstanceOf(LockBackendException.class);

        extendTo(HOUR);
        letThrough();

        assertThat(lock.remaining()).isEqualTo(Duration.ofSeconds(20));
    }

    @Test
    void a_rotation_that_comes_after_a_longer_extension_by_hand() {
        assertThatThrownBy(lock::rotateFence).isInstanceOf(LockBackendException.class);

        extendTo(HOUR);
        letThrough();

        assertThat(lock.remaining()).isEqualTo(EngineFixture.TTL);
    }

    /** Repeats the request: the driver may still be reconnecting. */
    private void extendTo(Duration ttl) {
        eventually().ignoreExceptionsInstanceOf(LockBackendException.class).until(() -> lock.extend(ttl));
        assertThat(endAtServer()).isEqualTo(lock.expiresAt());
    }

    private void letThrough() {
        proxy.letThrough();
        eventually().until(() -> endAtServer().isBefore(lock.expiresAt()));
    }

    private Instant endAtServer() {
        return elsewhere.lookupById(lock.lockId()).orElseThrow().expiresAt();
    }
}
