package io.syncguard.actuate;

import static io.syncguard.core.EngineFixture.eventually;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import ch.qos.logback.classic.Level;
import io.syncguard.ForcedRelease;
import io.syncguard.LockBackendException;
import io.syncguard.LockErrorCode;
import io.syncguard.LockException;
import io.syncguard.LockHandle;
import io.syncguard.LockMode;
import io.syncguard.LockOrder;
import io.syncguard.LockRequest;
import io.syncguard.actuate.OwnerReleaseDescriptor.Outcome;
import io.syncguard.core.EngineFixture;
import io.syncguard.core.InterceptedBackend;
import io.syncguard.core.LockEngine;
import io.syncguard.core.LockObserver;
import io.syncguard.core.ManualTime;
import io.syncguard.leader.LeaderElection;
import io.syncguard.leader.LeaderSettings;
import io.syncguard.spi.AcquireRequest;
import io.syncguard.spi.BlockingSession;
import io.syncguard.spi.Hashes;
import io.syncguard.testing.CapturedLog;
import java.security.Principal;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.FutureTask;
import java.util.function.Supplier;
import java.util.stream.IntStream;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.boot.actuate.endpoint.InvalidEndpointRequestException;
import org.springframework.boot.actuate.endpoint.SecurityContext;
import org.springframework.boot.actuate.endpoint.Show;
import org.springframework.boot.actuate.endpoint.web.WebEndpointResponse;

/** What an operator sees and does. */
class SyncGuardEndpointTests {

    private static final Duration TTL = EngineFixture.TTL;

    private static final SecurityContext ANONYMOUS = SecurityContext.NONE;

    private static final Instant NOW = Instant.parse("2026-11-23T03:00:00Z");

    private static final SecurityContext ANN = new User("ann", "ADMIN");

    private final EventJournal journal = new EventJournal(Clock.fixed(NOW, ZoneOffset.UTC));

    private final Map<String, Set<Integer>> annotated = new LinkedHashMap<>();

    @RegisterExtension
    private final EngineFixture first = new EngineFixture(LockObserver.NONE, journal);

    @RegisterExtension
    private final EngineFixture second = new EngineFixture();

    @Test
    void it_shows_the_locks_of_each_manager_and_this_process() {
        LockHandle held = first.engine.acquire(LockRequest.of("order:1"));
        first.holdElsewhere("order:2", TTL);
        second.holdElsewhere("job", TTL);

        LocksDescriptor all = endpoint(Show.ALWAYS).locks(null, null, null, null, null, null, null, null, null);

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

        LocksDescriptor.Manager page = endpoint.locks("order:", null, null, 2, null, null, null, null, null)
                .managers()
                .get("lockManager");
        assertThat(page.locks()).extracting(LockDescriptor::key).containsExactly("order:a", "order:b");

        LocksDescriptor.Manager last = endpoint.locks("order:", null, page.next(), 2, null, null, null, null, null)
                .managers()
                .get("lockManager");
        assertThat(last.locks()).extracting(LockDescriptor::key).containsExactly("order:c");
        assertThat(last.next()).isNull();
    }

    @Test
    void each_answer_counts_all_locks_and_has_the_keys_that_are_waited_for_longest() {
        IntStream.range(0, 120).forEach(i -> first.holdElsewhere("order:" + i, TTL));
        first.holdElsewhere("z", TTL);
        first.queueElsewhere("z");
        first.queueElsewhere("z");

        LocksDescriptor all = endpoint(Show.ALWAYS).locks(null, null, null, null, null, null, null, null, null);

        LocksDescriptor.Manager manager = all.managers().get("lockManager");
        assertThat(manager.locks()).extracting(LockDescriptor::key).doesNotContain("z");
        assertThat(manager.summary().queues()).extracting(LockDescriptor::key).containsExactly("z");
        assertThat(manager.summary().queues().get(0).waiters()).isEqualTo(2);
        assertThat(manager.summary().age()).isNotNull();
        assertThat(manager.summary().problem()).isNull();
        assertThat(manager.summary().totals())
                .isEqualTo(new SummaryDescriptor.Totals(121, 121, 1, 2, Duration.ZERO, Duration.ZERO));
        assertThat(endpoint(Show.NEVER)
                        .locks(null, null, null, null, null, null, null, null, null)
                        .toString())
                .doesNotContain("order:", "key=z");
    }

    @Test
    void a_long_queue_behind_the_page_is_advised_on() {
        IntStream.range(0, 120).forEach(i -> first.holdElsewhere("order:" + i, TTL));
        first.holdElsewhere("z", TTL);
        IntStream.range(0, 12).forEach(i -> first.queueElsewhere("z"));

        assertThat(endpoint(Show.ALWAYS)
                        .locks(null, null, null, null, null, null, null, null, null)
                        .advice())
                .singleElement()
                .satisfies(advice -> {
                    assertThat(advice.subject()).isEqualTo("z");
                    assertThat(advice.problem()).contains("12 wait for it");
                });
    }

    @Test
    void locks_are_found_by_a_part_of_the_key_by_their_owner_and_by_their_queue() {
        first.holdElsewhere("order:1", TTL);
        first.holdElsewhere("order:2", TTL.multipliedBy(2));
        first.queueElsewhere("order:2");
        first.holdElsewhere("job:2", TTL.multipliedBy(3));
        SyncGuardEndpoint endpoint = endpoint(Show.ALWAYS);

        assertThat(keys(endpoint.locks(null, null, null, null, null, "r:", null, null, null)))
                .containsExactly("order:1", "order:2");
        assertThat(keys(endpoint.locks(null, null, null, null, null, ":2", null, true, null)))
                .containsExactly("order:2");
        assertThat(keys(endpoint.locks(null, null, null, null, null, null, "elsewhere", false, null)))
                .containsExactly("job:2", "order:1", "order:2");
        assertThat(keys(endpoint.locks(null, null, null, null, null, null, "nobody", null, null)))
                .isEmpty();
        LocksDescriptor.Manager page = endpoint.locks(null, null, null, 2, null, null, null, null, LockOrder.ENDS_FIRST)
                .managers()
                .get("lockManager");
        assertThat(page.locks()).extracting(LockDescriptor::key).containsExactly("order:1", "order:2");
        assertThat(keys(endpoint.locks(null, null, page.next(), 2, null, null, null, null, LockOrder.ENDS_FIRST)))
                .containsExactly("job:2");
    }

    @Test
    void hidden_keys_are_sorted_and_found_by_what_is_shown_only() {
        first.holdElsewhere("order:1", TTL.multipliedBy(2));
        first.holdElsewhere("order:2", TTL);
        first.queueElsewhere("order:1");
        SyncGuardEndpoint endpoint = endpoint(Show.NEVER);

        assertRefused(() -> endpoint.locks(null, null, null, null, null, "order", null, null, null), "'contains'");
        assertRefused(
                () -> endpoint.locks(null, null, "5:order:1", null, null, null, null, null, LockOrder.ENDS_FIRST),
                "'after'");
        assertThat(keys(endpoint.locks(null, null, null, null, null, null, null, true, null)))
                .hasSize(1);
        LocksDescriptor.Manager page = endpoint.locks(
                        null, null, null, 1, null, null, "elsewhere", null, LockOrder.ENDS_FIRST)
                .managers()
                .get("lockManager");
        assertThat(page.locks().get(0).waiters()).isZero();
        assertThat(page.next()).doesNotContain("order");
        assertThat(endpoint.locks(null, null, page.next(), 1, null, null, null, null, LockOrder.ENDS_FIRST)
                        .managers()
                        .get("lockManager")
                        .locks())
                .singleElement()
                .extracting(LockDescriptor::waiters)
                .isEqualTo(1);
    }

    @Test
    void the_leases_of_an_owner_are_listed_and_released_only_on_request() {
        first.holdElsewhere("order:1", TTL);
        first.holdElsewhere("order:2", TTL);
        LockHandle own = first.engine.acquire(LockRequest.of("order:3"));
        first.queueElsewhere("order:3");
        SyncGuardEndpointWebExtension web = web(Show.ALWAYS);

        WebEndpointResponse<?> listed = web.forceReleaseByParameter(ANN, null, null, "elsewh", null, null, null);
        assertThat(listed.getStatus()).isEqualTo(200);
        OwnerReleaseDescriptor dry = (OwnerReleaseDescriptor) listed.getBody();
        assertThat(dry.dryRun()).isTrue();
        assertThat(dry.complete()).isTrue();
        assertThat(dry.leases())
                .extracting(lease -> lease.key() + " " + lease.owner() + " " + lease.outcome())
                .containsExactly("order:1 elsewhere LISTED", "order:2 elsewhere LISTED");
        assertThat(endpoint(Show.ALWAYS)
                        .forceReleaseAll("elsewh", null, null, null)
                        .dryRun())
                .isTrue();
        assertThat(first.engine.isLocked("order:1")).isTrue();

        OwnerReleaseDescriptor done = (OwnerReleaseDescriptor)
                web.forceReleaseByParameter(ANN, null, null, "elsewh", false, null, "the host died")
                        .getBody();
        assertThat(done.leases())
                .extracting(OwnerReleaseDescriptor.Lease::outcome)
                .containsExactly(Outcome.RELEASED, Outcome.RELEASED);
        assertThat(first.engine.isLocked("order:1")).isFalse();
        assertThat(own.isHeld()).isTrue();
        assertThat(web.forceReleaseByParameter(ANN, null, null, "elsewh", false, null, null)
                        .getStatus())
                .isEqualTo(404);
    }

    @Test
    void the_next_holder_keeps_the_key_and_what_remains_is_told() {
        AcquireRequest gone = first.holdElsewhere("order:1", TTL);
        first.holdElsewhere("order:2", TTL);
        first.holdElsewhere("order:3", TTL);
        List<String> asked = new ArrayList<>();
        first.backend.beforeForcedRelease = key -> {
            asked.add(key);
            if (key.equals("order:1")) {
                first.releaseElsewhere(gone);
                first.holdElsewhere("order:1", TTL);
            } else if (key.equals("order:2")) {
                throw new LockBackendException(LockErrorCode.SERVICE_UNAVAILABLE, "away", null);
            }
        };

        WebEndpointResponse<?> answer =
                web(Show.ALWAYS).forceReleaseByParameter(ANN, null, null, "elsewhere", false, null, null);

        assertThat(answer.getStatus()).isEqualTo(409);
        assertThat(((OwnerReleaseDescriptor) answer.getBody()).leases())
                .extracting(OwnerReleaseDescriptor.Lease::outcome)
                .containsExactly(Outcome.OVER, Outcome.FAILED, Outcome.NOT_TRIED);
        assertThat(first.engine.isLocked("order:1")).isTrue();
        assertThat(asked).doesNotContain("order:3");
    }

    @Test
    void hidden_keys_stay_hidden_when_the_leases_of_an_owner_are_listed() {
        first.holdElsewhere("order:1", TTL);

        assertThat(body(web(Show.NEVER).forceReleaseByParameter(ANN, null, null, "elsewhere", null, null, null)))
                .contains("elsewhere")
                .doesNotContain("order:1");
    }

    @Test
    void a_release_names_either_a_key_or_an_owner() {
        SyncGuardEndpointWebExtension web = web(Show.ALWAYS);

        assertThat(web.forceReleaseByParameter(ANN, null, null, null, null, null, null)
                        .getStatus())
                .isEqualTo(400);
        assertThat(web.forceReleaseByParameter(ANN, "a", null, "b", null, null, null)
                        .getStatus())
                .isEqualTo(400);
        assertThat(web.forceReleaseByParameter(ANN, "a", null, null, true, null, null)
                        .getStatus())
                .isEqualTo(400);
        assertThat(web.forceReleaseByParameter(ANN, null, 7L, "b", null, null, null)
                        .getStatus())
                .isEqualTo(400);
        assertThat(web.forceReleaseByParameter(ANN, null, null, "", false, null, null)
                        .getStatus())
                .isEqualTo(400);
    }

    private static List<String> keys(LocksDescriptor found) {
        return found.managers().get("lockManager").locks().stream()
                .map(LockDescriptor::key)
                .toList();
    }

    @Test
    void who_releases_by_force_and_why_makes_no_line_of_the_log() {
        first.holdElsewhere("order:1\nWARN forged", TTL);
        try (CapturedLog log = new CapturedLog()) {
            web(Show.NEVER)
                    .forceRelease(
                            new User("ann\nWARN forged", "ADMIN"),
                            "order:1\nWARN forged",
                            null,
                            null,
                            "hangs\r\nWARN forged");

            assertThat(log.messages())
                    .singleElement()
                    .asString()
                    .contains("hangs")
                    .doesNotContain("\n", "\r");
        }
    }

    @Test
    void bad_arguments_are_refused() {
        SyncGuardEndpoint endpoint = endpoint(Show.ALWAYS);
        assertThatThrownBy(() -> endpoint.locks(null, null, null, 0, null, null, null, null, null))
                .isInstanceOf(InvalidEndpointRequestException.class)
                .hasMessageContaining("from 1 to 1000");
        assertThatThrownBy(() -> endpoint.lock("k".repeat(513), null))
                .isInstanceOf(InvalidEndpointRequestException.class)
                .hasMessageContaining("512");
        assertThatThrownBy(() -> endpoint.forceRelease("k".repeat(513), null, null, null))
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

    /**
     * Others know as little of a lease. The number of permits is in a queue entry, in a request or annotation of this
     * process.
     */
    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
            elsewhere | none    |
            elsewhere | partner | 5
            here      | none    | 3
            here      | partner | 3 5
            here      | part    | 3
            waiting   | none    | 1
            """)
    void it_shows_how_many_permits_are_in_use_and_of_how_many_if_this_process_knows(
            String who, String name, @Nullable String of) {
        annotated.put(name, Set.of(5));
        LockRequest request = LockRequest.of("partner", "42").waitTime(TTL);
        first.engine.acquire(who.equals("here") ? request.permits(3) : request.shared());
        FutureTask<LockHandle> waiter =
                who.equals("waiting") ? first.startWaiting(request.permits(1)) : new FutureTask<>(() -> null);

        LockDescriptor lock = endpoint(Show.NEVER)
                .locks(null, null, null, null, null, null, null, null, null)
                .managers()
                .get("lockManager")
                .locks()
                .get(0);

        assertThat(lock.permitsInUse()).isEqualTo(1);
        assertThat(lock.permits().stream().map(String::valueOf).toList())
                .isEqualTo(of == null ? List.of() : List.of(of.split(" ")));
        waiter.cancel(true);
    }

    @Test
    void keys_are_hashed_unless_they_may_be_shown() {
        first.holdElsewhere("order:ann@example.com", TTL);
        first.holdElsewhere("order:bob@example.com", TTL);

        assertThat(endpoint(Show.NEVER)
                        .locks(null, null, null, 1, null, null, null, null, null)
                        .toString())
                .doesNotContain("example");
        assertThat(endpoint(Show.WHEN_AUTHORIZED)
                        .locks(null, null, null, 1, null, null, null, null, null)
                        .toString())
                .doesNotContain("example");
        assertThat(body(web(Show.NEVER).locks(ANN, null, null, null, 1, null, null, null, null, null)))
                .doesNotContain("example");
        assertThat(body(web(Show.WHEN_AUTHORIZED).locks(ANONYMOUS, null, null, null, 1, null, null, null, null, null)))
                .doesNotContain("example");
        assertThat(body(web(Show.WHEN_AUTHORIZED, "OPERATOR")
                        .locks(ANN, null, null, null, 1, null, null, null, null, null)))
                .doesNotContain("example");
        assertThat(body(web(Show.WHEN_AUTHORIZED, "ADMIN")
                        .locks(ANN, null, null, null, 1, null, null, null, null, null)))
                .contains("ann@example.com");
        assertThat(body(web(Show.ALWAYS).locks(ANONYMOUS, null, null, null, 1, null, null, null, null, null)))
                .contains("ann@example.com");
    }

    @Test
    void hidden_keys_cannot_be_asked_for_by_a_guess() {
        first.holdElsewhere("order:ann@example.com", TTL);
        SyncGuardEndpoint endpoint = endpoint(Show.NEVER);
        SyncGuardEndpointWebExtension web = web(Show.WHEN_AUTHORIZED, "OPERATOR");

        assertRefused(() -> endpoint.locks("order:a", null, null, null, null, null, null, null, null), "'prefix'");
        assertRefused(() -> endpoint.locks(null, null, "order:a", null, null, null, null, null, null), "'after'");
        assertRefused(
                () -> endpoint.locks(null, "order:ann@example.com", null, null, null, null, null, null, null),
                "no lock has this hash now");
        assertRefused(
                () -> endpoint.locks(null, "free", null, null, null, null, null, null, null),
                "no lock has this hash now");
        assertRefused(() -> endpoint.lock("order:ann@example.com", null), "no lock has this hash now");
        assertRefused(
                () -> endpoint.lock(Hashes.abbreviated("order:ann@example.com"), null), "no lock has this hash now");
        assertThat(web.locks(ANN, "order:a", null, null, null, null, null, null, null, null)
                        .getStatus())
                .isEqualTo(400);
        assertThat(web.locks(ANN, null, null, "order:a", null, null, null, null, null, null)
                        .getStatus())
                .isEqualTo(400);
        assertThat(web.lock(ANN, "order:ann@example.com", null).getStatus()).isEqualTo(400);
    }

    private static void assertRefused(ThrowingCallable question, String hint) {
        assertThatThrownBy(question)
                .isInstanceOf(InvalidEndpointRequestException.class)
                .hasMessageContaining("Keys are hidden")
                .hasMessageContaining(hint)
                .hasMessageNotContaining("order:a");
    }

    @Test
    void hashes_of_hidden_keys_cannot_be_computed_without_the_secret() {
        first.holdElsewhere("order:1", TTL);
        String secret = "0123456789abcdef0123456789abcdef";

        String random = onlyKey(endpoint(Show.NEVER));

        assertThat(random)
                .hasSize(24)
                .isNotEqualTo(Hashes.abbreviated("order:1"))
                .isNotEqualTo(onlyKey(endpoint(Show.NEVER)));
        assertThat(onlyKey(endpoint(Show.NEVER, secret)))
                .isEqualTo(onlyKey(endpoint(Show.NEVER, secret)))
                .isNotEqualTo(onlyKey(endpoint(Show.NEVER, secret.replace('0', 'x'))))
                .isEqualTo("44c090594be12f6df91a0816");
    }

    @Test
    void the_order_and_the_pages_of_hidden_keys_tell_nothing_about_their_order() {
        List<String> keys = IntStream.range(0, 40).mapToObj(i -> "order:" + i).toList();
        keys.forEach(key -> first.holdElsewhere(key, TTL));
        SyncGuardEndpoint endpoint = endpoint(Show.NEVER);

        List<String> pages = new ArrayList<>();
        String after = null;
        do {
            LocksDescriptor.Manager page = page(endpoint, after, 7);
            assertThat(page.complete()).isTrue();
            page.locks().forEach(lock -> pages.add(lock.key()));
            after = page.next();
        } while (after != null);

        assertThat(pages).hasSize(40).doesNotHaveDuplicates().isSorted();
        assertThat(page(endpoint, null, 40).next()).isNull();
        assertRefused(() -> page(endpoint, pages.get(0) + "x", 7), "'after'");
    }

    @Test
    void an_operator_names_a_hidden_key_by_its_hash() {
        first.holdElsewhere("order:1", TTL);
        first.backend.blockingSessions =
                List.of(new BlockingSession(7, "orders", "ann", "active", NOW, "SELECT 'ann'", List.of(8)));
        SyncGuardEndpoint endpoint = endpoint(Show.NEVER);
        SyncGuardEndpointWebExtension web =
                new SyncGuardEndpointWebExtension(endpoint, Show.NEVER, Set.of(), headers -> {}, () -> null);
        String hash = onlyKey(endpoint);

        assertThat(endpoint.lock(hash, null).key()).isEqualTo(hash);
        assertThat(lock(endpoint, hash).sessions())
                .containsExactly(new BlockingSession(7, "orders", "ann", "active", NOW, "", List.of(8)));
        ForcedReleaseDescriptor done = (ForcedReleaseDescriptor)
                web.forceRelease(ANN, hash, null, null, "it hangs").getBody();
        assertThat(done.key()).isEqualTo(hash);
        assertThat(done.released()).hasSize(1);
        assertThat(first.engine.isLocked("order:1")).isFalse();
        assertThat(web.lock(ANN, hash, null).getStatus()).isEqualTo(404);
        LocksDescriptor after = endpoint.locks(null, null, null, null, null, null, null, null, null);
        assertThat(after.managers().get("lockManager").locks()).isEmpty();
        assertThat(after.events()).extracting(EventDescriptor::key).containsExactly(hash);
    }

    @Test
    void instances_with_one_secret_understand_the_hashes_of_each_other() {
        String secret = "0123456789abcdef0123456789abcdef";
        second.holdElsewhere("order:1", TTL);
        LocksDescriptor shown =
                endpoint(Show.NEVER, secret).locks(null, null, null, null, null, null, null, null, null);
        String hash = shown.managers().get("secondLockManager").locks().get(0).key();

        assertThat(endpoint(Show.NEVER, secret).lock(hash, "secondLockManager").key())
                .isEqualTo(hash);
        assertThat(endpoint(Show.NEVER, secret).lock(hash, null)).isNull();
        assertThat(endpoint(Show.NEVER, secret)
                        .forceRelease(hash, null, "secondLockManager", null)
                        .released())
                .hasSize(1);
        assertRefused(() -> endpoint(Show.NEVER, secret).lock(hash, null), "no lock has this hash now");
    }

    @Test
    void a_release_by_force_takes_a_hidden_key_that_the_operator_knows_from_elsewhere() {
        first.holdElsewhere("order:1", TTL);

        ForcedReleaseDescriptor done = endpoint(Show.NEVER).forceRelease("order:1", null, null, null);

        assertThat(done.released()).hasSize(1);
        assertThat(done.fence()).isEqualTo(2L);
    }

    @Test
    void a_release_names_the_grant_that_was_seen_and_spares_the_next_one() {
        LockHandle hung = first.engine.acquire(LockRequest.of("order:1"));
        hung.release();
        first.holdElsewhere("order:1", TTL);
        first.queueElsewhere("order:1");

        WebEndpointResponse<?> answer =
                web(Show.ALWAYS).forceRelease(ANN, "order:1", hung.fence().value(), null, "it hangs");

        assertThat(answer.getStatus()).isEqualTo(409);
        ForcedReleaseDescriptor done = (ForcedReleaseDescriptor) answer.getBody();
        assertThat(done.released()).isEmpty();
        assertThat(done.remaining()).singleElement().satisfies(holder -> {
            assertThat(holder.fence()).isEqualTo(hung.fence().value() + 1);
            assertThat(holder.mode()).isEqualTo(LockMode.EXCLUSIVE);
            assertThat(holder.since()).isEqualTo(Instant.ofEpochMilli(0));
        });
        assertThat(done.lock().waiters()).isEqualTo(1);
        assertThat(first.engine.isLocked("order:1")).isTrue();
    }

    @Test
    void a_release_says_whom_it_has_ended_and_who_is_next() {
        LockHandle hangs = first.engine.acquire(LockRequest.of("order:1"));
        first.queueElsewhere("order:1");
        SyncGuardEndpointWebExtension web = web(Show.ALWAYS);

        WebEndpointResponse<?> answer =
                web.forceReleaseByParameter(ANN, "order:1", hangs.fence().value(), null, null, null, "it hangs");

        assertThat(answer.getStatus()).isEqualTo(200);
        ForcedReleaseDescriptor done = (ForcedReleaseDescriptor) answer.getBody();
        assertThat(done.released())
                .extracting(ForcedReleaseDescriptor.Grant::fence)
                .containsExactly(hangs.fence().value());
        assertThat(done.lock().queue()).hasSize(1);
        assertThat(web.forceRelease(ANN, "order:2", 7L, null, null).getStatus()).isEqualTo(404);
        assertThat(web.forceRelease(ANN, "order:2", 0L, null, null).getStatus()).isEqualTo(400);
    }

    @Test
    void one_of_several_shared_leases_ends_alone() {
        LockHandle hangs = first.engine.acquire(LockRequest.of("order:1").shared());
        LockHandle works = first.engine.acquire(LockRequest.of("order:1").shared());

        WebEndpointResponse<?> answer =
                web(Show.ALWAYS).forceRelease(ANN, "order:1", hangs.fence().value(), null, "it hangs");

        assertThat(answer.getStatus()).isEqualTo(200);
        assertThat(hangs.state()).isEqualTo(LockHandle.State.LOST);
        assertThat(works.isHeld()).isTrue();
    }

    @Test
    void a_store_that_does_not_answer_again_hides_no_release() {
        LockHandle hangs = first.engine.acquire(LockRequest.of("order:1"));
        first.backend.afterForcedRelease = () -> first.backend.beforeLookup = () -> {
            throw new LockBackendException(LockErrorCode.SERVICE_UNAVAILABLE, "away", null);
        };

        ForcedReleaseDescriptor done =
                endpoint(Show.ALWAYS).forceRelease("order:1", hangs.fence().value(), null, null);

        assertThat(done.released()).hasSize(1);
        assertThat(done.lock()).isNull();
    }

    @Test
    void a_failure_of_the_store_does_not_name_a_hidden_key() {
        first.holdElsewhere("order:1", TTL);
        SyncGuardEndpoint endpoint = endpoint(Show.NEVER);
        String hash = onlyKey(endpoint);
        first.backend.afterForcedRelease = () -> {
            throw new LockBackendException(LockErrorCode.SERVICE_UNAVAILABLE, "lock 'order:1' is away", null);
        };

        assertThatThrownBy(() -> endpoint.forceRelease(hash, null, null, null))
                .isInstanceOfSatisfying(
                        LockException.class,
                        failure -> assertThat(failure.code()).isEqualTo(LockErrorCode.SERVICE_UNAVAILABLE))
                .hasMessageNotContaining("order:1")
                .hasNoCause();
    }

    @Test
    void one_key_is_shown_with_the_sessions_that_block_it() {
        first.holdElsewhere("order:1", TTL);
        first.holdElsewhere("order:10", TTL);
        BlockingSession session = new BlockingSession(7, "orders", "ann", "active", NOW, "SELECT 'ann'", List.of(8));
        first.backend.blockingSessions = List.of(session);

        assertThat(lock(endpoint(Show.ALWAYS), "order:1").sessions()).containsExactly(session);
        assertThat(endpoint(Show.ALWAYS).lock("order:1", null).sessions()).containsExactly(session);
        assertThat(page(endpoint(Show.ALWAYS), null, 1).locks().get(0).sessions())
                .isEmpty();
    }

    @Test
    void it_shows_the_events_and_counts_of_this_process() {
        LockHandle held = first.engine.acquire(LockRequest.of("order", "1"));
        first.time.advance(Duration.ofSeconds(3));
        held.release();
        first.engine.admin().forceRelease("order:1", "by ann");

        LocksDescriptor shown = endpoint(Show.ALWAYS).locks(null, null, null, null, null, null, null, null, null);

        assertThat(shown.events())
                .extracting(EventDescriptor::type)
                .containsExactly(EventType.ACQUIRED, EventType.RELEASED, EventType.NOT_HELD);
        assertThat(shown.events().get(1))
                .isEqualTo(new EventDescriptor(
                        2, NOW, EventType.RELEASED, "order", "order:1", 1L, Duration.ofSeconds(3), ""));
        assertThat(shown.names())
                .containsOnly(
                        Map.entry("order", new NameDescriptor(1, 0, 0, 1, 0, 0, Duration.ofSeconds(3), Duration.ZERO)));
        assertThat(endpoint(Show.ALWAYS)
                        .locks(null, null, null, null, shown.instance() + ":2", null, null, null, null)
                        .events())
                .extracting(EventDescriptor::number)
                .containsExactly(3L);
    }

    @Test
    void a_reader_behind_a_balancer_gets_the_events_of_each_instance_once() {
        EventJournal otherJournal = new EventJournal(Clock.fixed(NOW, ZoneOffset.UTC));
        SyncGuardEndpoint one = endpoint(Show.ALWAYS);
        SyncGuardEndpoint other =
                new SyncGuardEndpoint(managers(), () -> null, otherJournal, Map::of, Show.ALWAYS, null);
        journal.forceReleased(ForcedRelease.ofFreeKey("order:1"), "by ann");
        otherJournal.forceReleased(ForcedRelease.ofFreeKey("order:2"), "by ann");
        otherJournal.forceReleased(ForcedRelease.ofFreeKey("order:3"), "by ann");
        LocksDescriptor ofOne = one.locks(null, null, null, null, null, null, null, null, null);
        LocksDescriptor ofOther = other.locks(null, null, null, null, ofOne.instance() + ":1", null, null, null, null);

        String seen = ofOne.instance() + ":1," + ofOther.instance() + ":1";

        assertThat(ofOne.instance()).isNotEqualTo(ofOther.instance());
        assertThat(ofOther.events()).hasSize(2);
        assertThat(one.locks(null, null, null, null, seen, null, null, null, null)
                        .events())
                .isEmpty();
        assertThat(other.locks(null, null, null, null, seen, null, null, null, null)
                        .events())
                .extracting(EventDescriptor::key)
                .containsExactly("order:3");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {"1", "x", "0a1b2c3d", "0a1b2c3d:", "0a1b2c3d:-1", "0a1b2c3d:9999999999999999999", "0a1b2c3d:1,,"
            })
    void events_that_the_reader_knows_are_named_by_instance_and_number(String since) {
        assertThatThrownBy(() -> endpoint(Show.ALWAYS).locks(null, null, null, null, since, null, null, null, null))
                .isInstanceOf(InvalidEndpointRequestException.class)
                .hasMessageContaining("as instance:number");
    }

    @Test
    void the_longest_hold_and_wait_count_those_that_are_not_over() {
        first.engine.acquire(LockRequest.of("order", "1"));
        FutureTask<LockHandle> waiter =
                first.startWaiting(LockRequest.of("report", "1").key("order:1"));
        first.time.advance(Duration.ofSeconds(3));

        Map<String, NameDescriptor> names = endpoint(Show.NEVER)
                .locks(null, null, null, null, null, null, null, null, null)
                .names();

        assertThat(names.get("order").longestHeld()).isEqualTo(Duration.ofSeconds(3));
        assertThat(names.get("order").longestWait()).isEqualTo(Duration.ZERO);
        assertThat(names.get("report").longestWait()).isEqualTo(Duration.ofSeconds(3));
        assertThat(names.get("report").longestHeld()).isEqualTo(Duration.ZERO);
        waiter.cancel(true);
    }

    @Test
    void a_longer_hold_of_the_past_remains_the_longest() {
        LockHandle before = first.engine.acquire(LockRequest.of("order", "1"));
        first.time.advance(Duration.ofSeconds(7));
        before.release();
        first.engine.acquire(LockRequest.of("order", "2"));
        first.time.advance(Duration.ofSeconds(3));

        assertThat(endpoint(Show.NEVER)
                        .locks(null, null, null, null, null, null, null, null, null)
                        .names()
                        .get("order")
                        .longestHeld())
                .isEqualTo(Duration.ofSeconds(7));
    }

    @Test
    void the_name_of_a_lock_stands_beside_its_hidden_key() {
        first.engine.acquire(LockRequest.of("order", "ann"));
        first.engine.acquire(LockRequest.of("export:ann").meterName("ReportService.export"));
        first.engine.acquire(LockRequest.of("secret:ann"));
        first.engine.acquire(LockRequest.of("used:ann").meterName("cleanup")).release();
        first.holdElsewhere("used:ann", TTL);
        first.holdElsewhere("order:bob", TTL);
        first.holdElsewhere("ordered:bob", TTL);
        SyncGuardEndpoint endpoint = endpoint(Show.NEVER);

        LocksDescriptor hidden = endpoint.locks(null, null, null, null, null, null, null, null, null);

        assertThat(hidden.toString()).doesNotContain("ann", "bob");
        assertThat(hidden.managers().get("lockManager").locks())
                .extracting(LockDescriptor::name)
                .containsExactlyInAnyOrder("order", "order", "ReportService.export", "cleanup", null, null);
        assertThat(endpoint(Show.ALWAYS)
                        .locks("order", null, null, null, null, null, null, null, null)
                        .managers()
                        .get("lockManager")
                        .locks())
                .extracting(LockDescriptor::name)
                .containsExactly("order", "order", null);
        String hash = hidden.managers().get("lockManager").locks().stream()
                .filter(lock -> "cleanup".equals(lock.name()))
                .map(LockDescriptor::key)
                .findFirst()
                .orElseThrow();
        assertThat(endpoint.lock(hash, null).name()).isEqualTo("cleanup");
        endpoint.forceRelease(hash, null, null, "hangs");
        assertThat(endpoint.locks(null, null, null, null, null, null, null, null, null)
                        .events())
                .filteredOn(event -> event.type() == EventType.FORCE_RELEASED)
                .extracting(EventDescriptor::name)
                .containsExactly("cleanup");
    }

    @Test
    void the_callers_of_this_process_are_told_apart_by_their_threads() {
        first.engine.acquire(LockRequest.of("order:1"));
        FutureTask<LockHandle> one = first.startWaiting(LockRequest.of("order:1"));
        FutureTask<LockHandle> two =
                first.startWaiting(LockRequest.of("order:1").owner("a label of its own"));
        first.queueElsewhere("order:1");
        first.time.advance(Duration.ofSeconds(3));
        // The engine lists a caller when it has the answer of the store.
        eventually().until(() -> first.engine.diagnostics().locks().size() == 3);
        String here =
                Thread.currentThread().getName() + " #" + Thread.currentThread().getId();

        LockDescriptor shown = endpoint(Show.ALWAYS).lock("order:1", null);
        LockDescriptor hidden = page(endpoint(Show.NEVER), null, 1).locks().get(0);

        assertThat(shown.holders()).extracting(LockDescriptor.Holder::thread).containsExactly(here);
        assertThat(shown.queue().subList(0, 2))
                .extracting(LockDescriptor.Waiter::thread)
                .doesNotHaveDuplicates()
                .allMatch(thread -> thread.matches("another #\\d+"));
        assertThat(shown.queue().get(2).thread()).isNull();
        assertThat(hidden.queue().subList(0, 2))
                .extracting(LockDescriptor.Waiter::thread)
                .doesNotHaveDuplicates()
                .allMatch(thread -> thread.matches("#\\d+"));
        assertThat(hidden.holders().get(0).thread()).matches("#\\d+");
        one.cancel(true);
        two.cancel(true);
    }

    @Test
    void it_gives_advice() {
        first.holdElsewhere("order:1", Duration.ofHours(1));
        first.holdElsewhere("leader:jobs", Duration.ofHours(1));
        first.time.advance(Duration.ofMinutes(16));

        assertThat(endpoint(Show.ALWAYS)
                        .locks(null, null, null, null, null, null, null, null, null)
                        .advice())
                .singleElement()
                .satisfies(advice -> {
                    assertThat(advice.subject()).isEqualTo("order:1");
                    assertThat(advice.problem()).isEqualTo("elsewhere has held it for 16 minutes");
                });
        LocksDescriptor hidden = endpoint(Show.NEVER).locks(null, null, null, null, null, null, null, null, null);
        assertThat(hidden.managers().get("lockManager").locks())
                .extracting(LockDescriptor::key)
                .contains(hidden.advice().get(0).subject());
    }

    @Test
    void the_primary_manager_is_asked_unless_another_is_named() {
        first.holdElsewhere("order:1", TTL);
        second.holdElsewhere("order:2", TTL);

        assertThat(web(Show.ALWAYS).lock(ANN, "order:1", null).getStatus()).isEqualTo(200);
        assertThat(web(Show.ALWAYS).lock(ANN, "order:2", null).getStatus()).isEqualTo(404);
        assertThat(web(Show.ALWAYS).lock(ANN, "order:2", "secondLockManager").getStatus())
                .isEqualTo(200);
    }

    @Test
    void elections_are_shown_with_the_locks_of_their_leaders_whichever_store_they_are_in() {
        second.holdElsewhere("leader:dispatcher", TTL);
        try (LeaderElection election = new LeaderElection(first.engine, "test", Duration.ZERO)) {
            election.start();
            election.join("settlement");
            election.define("dispatcher", LeaderSettings.defaults(), second.engine);
            election.join("dispatcher");
            election.define("idle", LeaderSettings.defaults(), first.engine);
            EngineFixture.eventually().until(() -> election.isLeader("settlement"));

            Map<String, LocksDescriptor.Election> shown = new SyncGuardEndpoint(
                            managers(), () -> election, journal, Map::of, Show.NEVER, null)
                    .locks(null, null, null, null, null, null, null, null, null)
                    .elections();

            assertThat(shown).containsOnlyKeys("dispatcher", "idle", "settlement");
            assertThat(shown.get("settlement").joined()).isTrue();
            assertThat(shown.get("settlement").leads()).isTrue();
            assertThat(shown.get("settlement").lock().key()).isEqualTo("leader:settlement");
            assertThat(shown.get("dispatcher").joined()).isTrue();
            assertThat(shown.get("dispatcher").leads()).isFalse();
            assertThat(shown.get("dispatcher").lock().holders())
                    .extracting(LockDescriptor.Holder::owner)
                    .containsExactly("elsewhere");
            assertThat(shown.get("idle")).isEqualTo(new LocksDescriptor.Election(false, false, true, null));
        }
    }

    @Test
    void while_a_store_is_away_the_answer_has_what_the_process_itself_knows_and_the_other_store() {
        LockHandle held = first.engine.acquire(LockRequest.of("order:1"));
        second.holdElsewhere("job", TTL);
        SyncGuardEndpoint endpoint = endpoint(Show.ALWAYS);
        endpoint.locks(null, null, null, null, null, null, null, null, null);
        first.backend.beforeLookup = InterceptedBackend.failing(LockErrorCode.SERVICE_UNAVAILABLE);

        LocksDescriptor away = endpoint.locks(null, null, null, null, null, null, null, null, null);

        LocksDescriptor.Manager store = away.managers().get("lockManager");
        assertThat(store.summary().problem()).isNotNull();
        assertThat(store.summary().totals()).isNotNull();
        assertThat(store.complete()).isFalse();
        assertThat(store.problem()).isEqualTo(store.process().outage().message());
        assertThat(store.process().outage().code()).isEqualTo(LockErrorCode.SERVICE_UNAVAILABLE);
        assertThat(store.process().held()).isEqualTo(1);
        assertThat(store.locks()).extracting(LockDescriptor::key).containsExactly("order:1");
        assertThat(store.age()).isPositive();
        assertThat(store.own()).singleElement().satisfies(own -> {
            assertThat(own.key()).isEqualTo("order:1");
            assertThat(own.fence()).isEqualTo(held.fence().value());
            assertThat(own.timeLeft()).isEqualTo(TTL);
        });
        assertThat(away.advice()).extracting(AdviceDescriptor::problem).anyMatch(text -> text.contains("not answered"));
        LocksDescriptor.Manager other = away.managers().get("secondLockManager");
        assertThat(other.complete()).isTrue();
        assertThat(other.problem()).isNull();
        assertThat(other.locks()).extracting(LockDescriptor::key).containsExactly("job");

        first.backend.beforeLookup = () -> {};
        LocksDescriptor.Manager back = page(endpoint, null, 10);
        assertThat(back.problem()).isNull();
        assertThat(back.process().outage()).isNull();
    }

    @Test
    void one_key_and_elections_are_answered_while_the_store_is_away() {
        first.engine.acquire(LockRequest.of("order:1"));
        first.backend.beforeLookup = InterceptedBackend.failing(LockErrorCode.SERVICE_UNAVAILABLE);
        try (LeaderElection election = new LeaderElection(first.engine, "test", Duration.ZERO)) {
            election.define("idle", LeaderSettings.defaults(), first.engine);

            LocksDescriptor away = new SyncGuardEndpoint(
                            managers(), () -> election, journal, Map::of, Show.ALWAYS, null)
                    .locks(null, "order:1", null, null, null, null, null, null, null);

            assertThat(away.managers().get("lockManager").locks()).isEmpty();
            assertThat(away.managers().get("lockManager").own()).hasSize(1);
            assertThat(away.elections().get("idle")).isEqualTo(new LocksDescriptor.Election(false, false, false, null));
        }
    }

    @Test
    void a_store_that_hangs_delays_an_answer_by_less_than_a_second() throws Exception {
        for (int i = 0; i < 300; i++) {
            first.engine.acquire(LockRequest.of("order:" + i));
        }
        CountDownLatch goOn = new CountDownLatch(1);
        first.backend.beforeLookup = () -> awaitUninterrupted(goOn);
        second.backend.beforeLookup = first.backend.beforeLookup;
        try {
            Instant began = Instant.now();

            LocksDescriptor.Manager hangs = page(endpoint(Show.ALWAYS), null, 10);

            assertThat(Duration.between(began, Instant.now())).isLessThan(Duration.ofSeconds(1));
            assertThat(hangs.own()).hasSize(OwnLockDescriptor.MAX);
            assertThat(hangs.process().held()).isEqualTo(300);
            assertThat(hangs.age()).isNull();
            assertThat(hangs.problem()).isEqualTo("The store has not answered within 700 ms");
        } finally {
            goOn.countDown();
        }
    }

    @Test
    void a_hidden_key_is_in_no_part_of_an_answer_about_an_outage() {
        first.engine.acquire(LockRequest.of("secret-key"));
        first.backend.beforeLookup = () -> {
            throw new LockBackendException(LockErrorCode.SERVICE_UNAVAILABLE, "Failed to read secret-key", null);
        };

        LocksDescriptor hidden = endpoint(Show.NEVER).locks(null, null, null, null, null, null, null, null, null);

        assertThat(hidden.managers().get("lockManager").own()).hasSize(1);
        assertThat(hidden.toString()).contains("SERVICE_UNAVAILABLE").doesNotContain("secret-key");
    }

    @Test
    void no_lock_id_is_shown() {
        AcquireRequest held = first.holdElsewhere("order:1", TTL);
        AcquireRequest waits = first.queueElsewhere("order:1");

        assertThat(endpoint(Show.ALWAYS)
                        .locks(null, null, null, null, null, null, null, null, null)
                        .toString())
                .doesNotContain(held.lockId())
                .doesNotContain(waits.lockId());
    }

    @Test
    void what_nobody_holds_is_not_found() {
        assertThat(endpoint(Show.ALWAYS).lock("free", null)).isNull();
        assertThat(web(Show.ALWAYS).lock(ANN, "free", null).getStatus()).isEqualTo(404);
        assertThat(web(Show.ALWAYS).forceRelease(ANN, "free", null, null, null).getStatus())
                .isEqualTo(404);
        assertThat(web(Show.ALWAYS)
                        .forceReleaseByParameter(ANN, "a/b", null, null, null, null, null)
                        .getStatus())
                .isEqualTo(404);
    }

    @Test
    void a_release_by_force_is_logged_with_user_and_reason() {
        second.holdElsewhere("order:1", TTL);

        WebEndpointResponse<?> done;
        try (CapturedLog log = new CapturedLog()) {
            done = web(Show.ALWAYS).forceRelease(ANN, "order:1", null, "secondLockManager", "it hangs");
            assertThat(log.messages()).singleElement().asString().endsWith("Reason: by ann: it hangs");
        }

        assertThat(done.getStatus()).isEqualTo(200);
        assertThat(done.getBody())
                .isEqualTo(new ForcedReleaseDescriptor(
                        "order:1",
                        List.of(new ForcedReleaseDescriptor.Grant(LockMode.EXCLUSIVE, "elsewhere", Instant.EPOCH, 1)),
                        List.of(),
                        2L,
                        null));
        assertThat(second.engine.isLocked("order:1")).isFalse();
    }

    @Test
    void a_release_that_finds_nothing_is_an_event_of_its_own_type() {
        web(Show.ALWAYS).forceRelease(ANN, "order:1", null, null, "order:1 hangs");

        assertThat(endpoint(Show.ALWAYS)
                        .locks(null, null, null, null, null, null, null, null, null)
                        .events())
                .extracting(event -> event.type() + ": " + event.text())
                .containsExactly("NOT_HELD: release by force; by ann: order:1 hangs");
        assertThat(endpoint(Show.NEVER)
                        .locks(null, null, null, null, null, null, null, null, null)
                        .events())
                .extracting(EventDescriptor::text)
                .containsExactly("release by force");
    }

    @Test
    void the_loss_by_a_release_by_force_says_so() {
        first.engine.acquire(LockRequest.of("order:1"));
        web(Show.ALWAYS).forceRelease(ANN, "order:1", null, null, "it hangs");

        EngineFixture.eventually()
                .untilAsserted(() -> assertThat(journal.eventsAfter(0))
                        .filteredOn(event -> event.type() == EventType.LOST)
                        .extracting(EventDescriptor::text)
                        .containsExactly("released by force"));
    }

    @Test
    void a_release_without_user_and_reason_says_so() {
        try (CapturedLog log = new CapturedLog(Level.INFO)) {
            web(Show.ALWAYS).forceRelease(ANONYMOUS, "order:1", null, null, null);
            endpoint(Show.ALWAYS).forceRelease("order:1", null, null, null);

            assertThat(log.messages().toString())
                    .contains(
                            "by an unknown user: no reason was given", "by somebody through JMX: no reason was given");
        }
    }

    @Test
    void a_lease_under_which_a_transaction_commits_is_a_conflict() {
        first.backend.answerForcedRelease("order:1", 0, 1);
        // The engine does not try again.
        first.backend.afterForcedRelease = () -> first.time.advance(Duration.ofSeconds(1));
        assertThat(web(Show.ALWAYS)
                        .forceRelease(ANN, "order:1", null, null, null)
                        .getStatus())
                .isEqualTo(409);
        first.backend.answerForcedRelease("order:1", 1, 1);
        assertThat(web(Show.ALWAYS)
                        .forceRelease(ANN, "order:1", null, null, null)
                        .getStatus())
                .as("another reader has ended")
                .isEqualTo(409);
    }

    @Test
    void a_failure_of_the_store_is_not_taken_for_a_bad_argument() {
        first.backend.afterForcedRelease = InterceptedBackend.failing(LockErrorCode.SERVICE_UNAVAILABLE);
        assertThatThrownBy(() -> endpoint(Show.ALWAYS).forceRelease("order:1", null, null, null))
                .isInstanceOf(LockBackendException.class);
    }

    @Test
    void an_unknown_manager_is_refused() {
        assertThatThrownBy(() -> endpoint(Show.ALWAYS).lock("order:1", "none"))
                .isInstanceOf(InvalidEndpointRequestException.class)
                .hasMessageContaining("'none'")
                .hasMessageContaining("[lockManager, secondLockManager]");
    }

    private static String body(WebEndpointResponse<?> answer) {
        return String.valueOf(answer.getBody());
    }

    private static void awaitUninterrupted(CountDownLatch latch) {
        try {
            latch.await();
        } catch (InterruptedException ex) {
            Thread.currentThread().interrupt();
        }
    }

    private static LocksDescriptor.Manager page(SyncGuardEndpoint endpoint, @Nullable String after, int limit) {
        return endpoint.locks(null, null, after, limit, null, null, null, null, null)
                .managers()
                .get("lockManager");
    }

    private static String onlyKey(SyncGuardEndpoint endpoint) {
        List<LockDescriptor> locks = page(endpoint, null, 10).locks();
        assertThat(locks).hasSize(1);
        return locks.get(0).key();
    }

    private static LockDescriptor lock(SyncGuardEndpoint endpoint, String key) {
        LocksDescriptor found = endpoint.locks(null, key, null, null, null, null, null, null, null);
        assertThat(found.managers().get("secondLockManager").locks()).isEmpty();
        assertThat(found.managers().get("lockManager").locks()).hasSize(1);
        return found.managers().get("lockManager").locks().get(0);
    }

    @Test
    void a_manager_that_came_after_an_expensive_look_at_the_own_locks_is_shown() {
        Map<String, LockEngine> managers = new LinkedHashMap<>(Map.of("lockManager", first.engine));
        ManualTime time = new ManualTime();
        Supplier<Map<String, Set<Integer>>> expensive = () -> {
            time.advance(Duration.ofMillis(50));
            return Map.of();
        };
        SyncGuardEndpoint endpoint =
                new SyncGuardEndpoint(managers, () -> null, journal, expensive, Show.ALWAYS, null, time);
        endpoint.locks(null, null, null, null, null, null, null, null, null);
        managers.put("tenant", second.engine);
        second.engine.acquire(LockRequest.of("order:1"));

        LocksDescriptor shown = endpoint.locks(null, null, null, null, null, null, null, null, null);

        assertThat(shown.managers().get("tenant").own())
                .extracting(OwnLockDescriptor::key)
                .containsExactly("order:1");
    }

    private SyncGuardEndpoint endpoint(Show show) {
        return new SyncGuardEndpoint(managers(), () -> null, journal, () -> annotated, show, null);
    }

    private SyncGuardEndpoint endpoint(Show show, String secret) {
        return new SyncGuardEndpoint(managers(), () -> null, journal, Map::of, show, secret);
    }

    private Map<String, LockEngine> managers() {
        Map<String, LockEngine> managers = new LinkedHashMap<>();
        managers.put("lockManager", first.engine);
        managers.put("secondLockManager", second.engine);
        return managers;
    }

    private SyncGuardEndpointWebExtension web(Show show, String... roles) {
        return new SyncGuardEndpointWebExtension(endpoint(show), show, Set.of(roles), headers -> {}, () -> null);
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
