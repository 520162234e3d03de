package io.syncguard.verification.inputs;

import io.syncguard.CommitGuard;
import io.syncguard.LockHandle;
import io.syncguard.LockManager;
import io.syncguard.LockMode;
import io.syncguard.LockPage;
import io.syncguard.LockQuery;
import io.syncguard.LockRequest;
import io.syncguard.LockTemplate;
import io.syncguard.OnLost;
import io.syncguard.TryResult;
import io.syncguard.leader.LeaderElection;
import io.syncguard.leader.LeaderSettings;
import java.text.Normalizer;
import java.time.Duration;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.Callable;

/**
 * Random calls of the API. Some arguments are {@code null}, because callers need not check for that. Nothing is held
 * between two calls, except keys with {@code holdAtLeast}.
 */
@SuppressWarnings("NullAway")
final class LockCalls {

    private final Inputs inputs;
    private final Answers answers;
    private final LockManager manager;
    private final LockTemplate template;
    private final LeaderElection election;
    private final List<Runnable> calls;

    /** Keys that may still be locked after their release. */
    private final Set<String> kept = new HashSet<>();

    LockCalls(Inputs inputs, Answers answers, LockManager manager, LeaderElection election) {
        this.inputs = inputs;
        this.answers = answers;
        this.manager = manager;
        this.template = new LockTemplate(manager);
        this.election = election;
        LookCalls looks = new LookCalls(inputs, answers, manager);
        this.calls = List.of(
                this::grant,
                this::grant,
                this::tryAnyRequest,
                this::tryAnyRequest,
                this::runUnderALock,
                this::nest,
                this::handle,
                looks::look,
                looks::lookByLockId,
                looks::list,
                looks::forceRelease,
                this::elect,
                looks::limits);
    }

    void makeOne() {
        inputs.oneOf(calls).run();
    }

    /** Keys that are locked and should not be. */
    Set<String> stillLocked() {
        Set<String> found = new TreeSet<>();
        LockQuery query = LockQuery.all().limit(LockQuery.MAX_LIMIT);
        LockPage page = manager.admin().list(query);
        while (true) {
            page.locks().forEach(lock -> found.add(lock.key()));
            if (page.next() == null) {
                found.removeAll(kept);
                return found;
            }
            page = manager.admin().list(query.after(page.next()));
        }
    }

    /** A legal key is granted. It is found under all its spellings and under no other key. */
    private void grant() {
        String key = inputs.newKey();
        LockHandle lock = answers.call("acquire", true, () -> manager.acquire(LockRequest.of(key)));
        if (lock == null) {
            answers.violated("A free key is not granted: " + key);
            return;
        }
        String normal = Inputs.nfc(key);
        answers.require(lock.key().equals(normal), "The handle has another key than " + key);
        String other = relative(key);
        boolean same = Inputs.nfc(other).equals(normal);
        answers.require(
                Boolean.valueOf(same).equals(answers.call("isLocked", true, () -> manager.isLocked(other))),
                "'" + key + "' and '" + other + "' are " + (same ? "two locks" : "one lock"));
        answers.require(
                manager.admin()
                        .status(key)
                        .filter(status -> status.key().equals(normal))
                        .isPresent(),
                "The lock is not found by its key " + key);
        answers.require(Boolean.TRUE.equals(answers.call("release", true, lock::release)), "It was not held: " + key);
    }

    private String relative(String key) {
        return switch (inputs.number(7)) {
            case 0 -> Normalizer.normalize(key, Normalizer.Form.NFD);
            case 1 -> Normalizer.normalize(key, Normalizer.Form.NFKC);
            case 2 -> key.toUpperCase(Locale.ROOT);
            case 3 -> key + " ";
            case 4 -> key + "\n";
            case 5 -> "fence:" + key;
            default -> key.strip();
        };
    }

    private void tryAnyRequest() {
        LockRequest request = answers.call("request", null, this::anyRequest);
        if (request == null) {
            return;
        }
        if (!request.holdAtLeast().isZero()) {
            kept.add(request.key());
        }
        TryResult<?> ran = answers.call("tryExecute", null, () -> template.tryExecute(request, lock -> "done"));
        if (ran != null && ran.acquired()) {
            answers.count("tryExecute", "ran");
        }
    }

    private LockRequest anyRequest() {
        LockRequest request = inputs.chance(50)
                ? LockRequest.of(inputs.textOrNull())
                : inputs.chance(50)
                        ? LockRequest.of(inputs.text(), inputs.textOrNull())
                        : LockRequest.of(inputs.newKey());
        for (int i = inputs.number(4); i > 0; i--) {
            request = changed(request);
        }
        return request;
    }

    private LockRequest changed(LockRequest request) {
        return switch (inputs.number(13)) {
            case 0 -> request.ttl(inputs.durationOrNull());
            case 1 -> request.waitTime(inputs.durationOrNull());
            case 2 -> request.heartbeat(inputs.durationOrNull());
            case 3 -> request.holdAtLeast(inputs.durationOrNull());
            case 4 -> request.holdAtMost(inputs.durationOrNull());
            case 5 -> request.owner(inputs.textOrNull());
            case 6 -> request.meterName(inputs.textOrNull());
            case 7 -> request.shared();
            case 8 -> request.noHeartbeat();
            case 9 -> request.onLost(inputs.chance(10) ? null : OnLost.NOTIFY);
            case 10 -> request.commitGuard(inputs.chance(10) ? null : inputs.oneOf(List.of(CommitGuard.values())));
            case 11 -> request.permits(inputs.number(12_000) - 1_000);
            default -> request.key(inputs.textOrNull());
        };
    }

    private void runUnderALock() {
        String key = inputs.textOrNull();
        if (key != null && kept.contains(Inputs.nfc(key))) {
            return;
        }
        boolean legal = Inputs.isLockable(key);
        if (inputs.chance(5)) {
            answers.call("execute without a body", false, () -> template.execute(key, null));
            answers.call("tryExecute without a body", false, () -> template.tryExecuteWithoutResult(key, null));
        }
        answers.call("execute", legal, () -> template.execute(key, LockHandle::fence));
        answers.call("acquire null", false, () -> manager.acquire((LockRequest) null));
    }

    private void nest() {
        String key = inputs.newKey();
        LockMode mode = inputs.oneOf(List.of(LockMode.values()));
        LockRequest outer = LockRequest.of(key);
        answers.call(
                "nest",
                mode == LockMode.SHARED ? null : true,
                () -> template.execute(
                        mode == LockMode.SHARED ? outer.shared() : outer,
                        lock -> template.execute(
                                key, joined -> LockHandle.current(key).isPresent())));
    }

    private void handle() {
        LockHandle lock = manager.tryAcquire(LockRequest.of(inputs.newKey()));
        if (lock == null) {
            return;
        }
        Duration ttl = inputs.durationOrNull();
        answers.call("extend", Inputs.isLegalTtl(ttl), () -> lock.extend(ttl));
        answers.call("rotate", null, lock::rotateFence);
        Runnable callback = inputs.chance(10) ? null : () -> {};
        answers.call("onLost", callback != null, () -> {
            lock.onLost(callback);
            return true;
        });
        answers.call("bind", false, () -> lock.bind((Callable<String>) null));
        answers.call("handle toString", true, () -> oneLine(lock.toString()));
        answers.call("close", null, () -> {
            lock.close();
            return true;
        });
    }

    private void elect() {
        String name = inputs.textOrNull();
        boolean legal = name != null && Inputs.isLegalKey("leader:" + name);
        answers.call("leader", legal, () -> election.leader(name));
        answers.call("isLeader", null, () -> election.isLeader(name));
        answers.call(
                "settings",
                null,
                () -> LeaderSettings.of(inputs.durationOrNull())
                        .heartbeat(inputs.durationOrNull())
                        .fenceRotation(inputs.durationOrNull())
                        .owner(inputs.textOrNull()));
    }

    private String oneLine(String text) {
        answers.requireOneLine("toString", text);
        return text;
    }
}
