package io.syncguard.postgres;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.syncguard.Fence;
import io.syncguard.LockBackendException;
import io.syncguard.LockMode;
import io.syncguard.core.DirectHandOverContract;
import io.syncguard.core.Requests;
import io.syncguard.core.StoreCalls;
import io.syncguard.spi.AcquireRequest;
import io.syncguard.spi.AcquireResult;
import io.syncguard.spi.WakeUpListener;
import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

class PostgresDirectHandOverTests extends DirectHandOverContract {

    @RegisterExtension
    private static final PostgresContractStore store = new PostgresContractStore();

    @Test
    void a_grant_by_a_release_is_durable_like_any_other() {
        // The triggers record the setting of a transaction at its commit.
        store.jdbc().execute("""
                CREATE TABLE commits (setting TEXT);
                CREATE FUNCTION note() RETURNS TRIGGER LANGUAGE plpgsql AS
                $$ BEGIN INSERT INTO commits VALUES (current_setting('synchronous_commit')); RETURN NULL; END $$;
                CREATE CONSTRAINT TRIGGER note_insert AFTER INSERT ON syncguard_locks
                DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION note();
                CREATE CONSTRAINT TRIGGER note_delete AFTER DELETE ON syncguard_locks
                DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION note()
                """);
        try (StoreCalls application = PooledPostgres.on(store.url())) {
            application.connect(new NobodyWaits());
            AcquireRequest holder = writer();
            AcquireRequest waiter = waitingForHandOver();
            granted(application, holder);
            queued(application, waiter);

            application.release(holder.lockId());
            application.release(waiter.lockId());

            assertThat(store.jdbc().queryForList("SELECT setting FROM commits", String.class))
                    .as("a grant, a release with a grant, a release")
                    .containsExactly("on", "on", "on", "off");
        } finally {
            store.jdbc().execute("DROP TABLE commits; DROP FUNCTION note() CASCADE");
        }
    }

    @Test
    void no_key_is_handed_over_when_no_fences_are_left() {
        AcquireRequest holder = held(writer());
        AcquireRequest waiter = waitingForHandOver();
        queued(waiter);
        store.jdbc().update("UPDATE syncguard_fence_counters SET fence = ?", Fence.MAX_VALUE);

        release(holder);

        assertThat(backend().isLocked(KEY)).isFalse();
        assertThat(store().storedFence(KEY)).isEqualTo(Fence.MAX_VALUE);
        assertThat(renewQueueEntry(waiter)).isEqualTo(Duration.ZERO);
        assertThatExceptionOfType(LockBackendException.class)
                .isThrownBy(() -> backend().acquire(waiter.fromQueue()))
                .withMessageContaining("no fences left");
    }

    private static final class NobodyWaits implements WakeUpListener {

        @Override
        public void wake(long waiter) {}

        @Override
        public void handOver(long waiter, AcquireResult.Granted grant) {}

        @Override
        public void wakeUpsMissed() {}
    }

    private AcquireRequest waitingForHandOver() {
        AcquireRequest request = waiting(request(KEY, LockMode.EXCLUSIVE, TTL));
        return Requests.of(
                request.key(),
                request.options().mode(),
                request.options().permits(),
                request.lockId(),
                request.options().ttl(),
                request.options().owner(),
                true,
                false,
                request.waiterNumber());
    }
}
