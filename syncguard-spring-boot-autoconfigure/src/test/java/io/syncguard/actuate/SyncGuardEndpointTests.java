package io.syncguard.actuate;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.syncguard.LockHandle;
import io.syncguard.LockMode;
import io.syncguard.LockRequest;
import io.syncguard.core.EngineFixture;
import io.syncguard.spi.AcquireRequest;
import io.syncguard.spi.Hashes;
import io.syncguard.testing.CapturedLog;
import java.security.Principal;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.springframework.boot.actuate.endpoint.InvalidEndpointRequestException;
import org.springframework.boot.actuate.endpoint.SecurityContext;
import org.springframework.boot.actuate.endpoint.Show;
import org.springframework.boot.actuate.endpoint.web.WebEndpointResponse;

/** What an operator sees and does. */
class SyncGuardEndpointTests {

    private static final Duration TTL = EngineFixture.TTL;

    private static final SecurityContext ANONYMOUS = SecurityContext.NONE;

    private static final SecurityContext ANN = new User("ann", "ADMIN");

    @RegisterExtension
    private final EngineFixture first = new EngineFixture();

    @RegisterExtension
    private final EngineFixture second = new EngineFixture();

    @Test
    void it_shows_the_locks_of_each_manager_and_this_process() {
        LockHandle held = first.engine.acquire(LockRequest.of("order:1"));
        first.holdElsewhere("order:2", TTL);
        second.holdElsewhere("job", TTL);

        LocksDescriptor all = endpoint(Show.ALWAYS).locks(null, null, null);

        assertThat(all.managers()).containsOnlyKeys("lockManager", "secondLockManager");
        LocksDescriptor.Manager manager = all.managers().get("lockManager");
        assertThat(manager.locks()).extracting(LockDescriptor::key).containsExactly("order:1", "order:2");
        assertThat(manager.locks().get(0).holders()).singleElement().satisfies(holder -> {
            assertThat(holder.owner()).isEqualTo("test");
            assertThat(holder.fence()).isEqualTo(held.fence().value());
            assertThat(holder.timeLeft()).isEqualTo(TTL);
        });
        assertThat(manager.process().held()).isEqualTo(1);
        assertThat(manager.process().grantsLocks()).isTrue();
        assertThat(all.managers().get("secondLockManager").process().held()).isZero();
        assertThat(all.elections()).isEmpty();
    }

    @Test
    void it_shows_it_in_pages() {
        List.of("a", "b", "c").forEach(key -> first.holdElsewhere("order:" + key, TTL));
        first.holdElsewhere("other", TTL);
        SyncGuardEndpoint endpoint = endpoint(Show.ALWAYS);

        LocksDescriptor.Manager page =
                endpoint.locks("order:", null, 2).managers().get("lockManager");
        assertThat(page.locks()).extracting(LockDescriptor::key).containsExactly("order:a", "order:b");
        assertThat(page.more()).isTrue();

        LocksDescriptor.Manager last =
                endpoint.locks("order:", page.next(), 2).managers().get("lockManager");
        assertThat(last.locks()).extracting(LockDescriptor::key).containsExactly("order:c");
        assertThat(last.more()).isFalse();
        assertThat(last.next()).isNull();
    }

    @Test
    void bad_arguments_are_refused() {
        SyncGuardEndpoint endpoint = endpoint(Show.ALWAYS);
        assertThatThrownBy(() -> endpoint.locks(null, null, 0))
                .isInstanceOf(InvalidEndpointRequestException.class)
                .hasMessageContaining("from 1 to 1000");
        assertThatThrownBy(() -> endpoint.lock("k".repeat(513), null))
                .isInstanceOf(InvalidEndpointRequestException.class)
                .hasMessageContaining("512");
        assertThatThrownBy(() -> endpoint.forceRelease("k".repeat(513), null, null))
                .isInstanceOf(InvalidEndpointRequestException.class);
    }

    @Test
    void it_says_why_a_waiter_is_blocked() {
        first.holdElsewhere("order:1", TTL);
        first.queueElsewhere("order:1");
        first.time.advance(Duration.ofSeconds(2));
        first.queueElsewhere("order:1");

        LockDescriptor lock = endpoint(Show.ALWAYS).lock("order:1", null);

        assertThat(lock.waiters()).isEqualTo(2);
        assertThat(lock.queue().get(0).position()).isEqualTo(1);
        assertThat(lock.queue().get(0).mode()).isEqualTo(LockMode.EXCLUSIVE);
        assertThat(lock.queue().get(0).waiting()).isEqualTo(Duration.ofSeconds(2));
        assertThat(lock.queue().get(0).blockedBy()).containsExactly("held by elsewhere");
        assertThat(lock.queue().get(1).blockedBy()).containsExactly("position 1, elsewhere");
    }

    @Test
    void keys_are_hashed_unless_they_may_be_shown() {
        first.holdElsewhere("order:ann@example.com", TTL);
        first.holdElsewhere("order:bob@example.com", TTL);

        assertThat(endpoint(Show.NEVER).locks(null, null, 1).toString()).doesNotContain("example");
        assertThat(endpoint(Show.WHEN_AUTHORIZED).locks(null, null, 1).toString())
                .doesNotContain("example");
        assertThat(web(Show.NEVER).locks(ANN, null, null, 1).toString()).doesNotContain("example");
        assertThat(web(Show.WHEN_AUTHORIZED).locks(ANONYMOUS, null, null, 1).toString())
                .doesNotContain("example");
        assertThat(web(Show.WHEN_AUTHORIZED, "OPERATOR")
                        .locks(ANN, null, null, 1)
                        .toString())
                .doesNotContain("example");
        assertThat(web(Show.WHEN_AUTHORIZED, "ADMIN").locks(ANN, null, null, 1).toString())
                .contains("ann@example.com");
        assertThat(web(Show.ALWAYS).locks(ANONYMOUS, null, null, 1).toString()).contains("ann@example.com");
        assertThat(web(Show.NEVER)
                        .lock(ANN, "order:ann@example.com", null)
                        .getBody()
                        .key())
                .isEqualTo(Hashes.shown("order:ann@example.com"));
        assertThat(endpoint(Show.NEVER)
                        .locks(null, null, 1)
                        .managers()
                        .get("lockManager")
                        .more())
                .isTrue();
    }

    @Test
    void no_lock_id_is_shown() {
        AcquireRequest held = first.holdElsewhere("order:1", TTL);
        AcquireRequest waits = first.queueElsewhere("order:1");

        assertThat(endpoint(Show.ALWAYS).locks(null, null, null).toString())
                .doesNotContain(held.lockId())
                .doesNotContain(waits.lockId());
    }

    @Test
    void what_nobody_holds_is_not_found() {
        assertThat(endpoint(Show.ALWAYS).lock("free", null)).isNull();
        assertThat(web(Show.ALWAYS).lock(ANN, "free", null).getStatus()).isEqualTo(404);
        assertThat(web(Show.ALWAYS).forceRelease(ANN, "free", null, null).getStatus())
                .isEqualTo(404);
    }

    @Test
    void a_release_by_force_is_logged_with_user_and_reason() {
        second.holdElsewhere("order:1", TTL);

        WebEndpointResponse<ForcedReleaseDescriptor> done;
        try (CapturedLog log = new CapturedLog()) {
            done = web(Show.ALWAYS).forceRelease(ANN, "order:1", "secondLockManager", "it hangs");
            assertThat(log.messages()).singleElement().asString().endsWith("Reason: by ann: it hangs");
        }

        assertThat(done.getStatus()).isEqualTo(200);
        assertThat(done.getBody()).isEqualTo(new ForcedReleaseDescriptor("order:1", 1, 0, 2L));
        assertThat(second.engine.isLocked("order:1")).isFalse();
    }

    @Test
    void a_release_without_user_and_reason_says_so() {
        try (CapturedLog log = new CapturedLog()) {
            web(Show.ALWAYS).forceRelease(ANONYMOUS, "order:1", null, null);
            endpoint(Show.ALWAYS).forceRelease("order:1", null, null);

            assertThat(log.messages().toString())
                    .contains(
                            "by an unknown user: no reason was given", "by somebody through JMX: no reason was given");
        }
    }

    @Test
    void a_lease_under_which_a_transaction_commits_is_a_conflict() {
        first.backend.answerForcedRelease("order:1", 0, 1);
        assertThat(web(Show.ALWAYS).forceRelease(ANN, "order:1", null, null).getStatus())
                .isEqualTo(409);
    }

    @Test
    void an_unknown_manager_is_refused() {
        assertThatThrownBy(() -> endpoint(Show.ALWAYS).lock("order:1", "none"))
                .isInstanceOf(InvalidEndpointRequestException.class)
                .hasMessageContaining("'none'")
                .hasMessageContaining("[lockManager, secondLockManager]");
    }

    private SyncGuardEndpoint endpoint(Show show) {
        Map<String, io.syncguard.core.LockEngine> managers = new LinkedHashMap<>();
        managers.put("lockManager", first.engine);
        managers.put("secondLockManager", second.engine);
        return new SyncGuardEndpoint(managers, () -> null, show);
    }

    private SyncGuardEndpointWebExtension web(Show show, String... roles) {
        return new SyncGuardEndpointWebExtension(endpoint(show), show, Set.of(roles));
    }

    private record User(String name, String role) implements SecurityContext {

        @Override
        public @Nullable Principal getPrincipal() {
            return () -> name;
        }

        @Override
        public boolean isUserInRole(String wanted) {
            return wanted.equals(role);
        }
    }
}
