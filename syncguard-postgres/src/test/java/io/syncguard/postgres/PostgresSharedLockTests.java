package io.syncguard.postgres;

import static org.assertj.core.api.Assertions.assertThat;

import io.syncguard.core.SharedLockContract;
import io.syncguard.spi.AcquireRequest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

class PostgresSharedLockTests extends SharedLockContract {

    @RegisterExtension
    private static final PostgresContractStore store = new PostgresContractStore();

    @Test
    void the_sweeper_deletes_readers_that_lapsed_long_ago_and_no_others() {
        AcquireRequest lapsed = held(reader());
        AcquireRequest live = held(reader());
        store.jdbc()
                .update(
                        "UPDATE syncguard_locks_shared SET expires_at_ms = syncguard_locks_now() - 2500 WHERE"
                                + " lock_id = ?",
                        lapsed.lockId());

        store.sweep(KEY);

        assertThat(store.jdbc().queryForList("SELECT lock_id FROM syncguard_locks_shared", String.class))
                .doesNotContain(lapsed.lockId())
                .contains(live.lockId());
    }
}
