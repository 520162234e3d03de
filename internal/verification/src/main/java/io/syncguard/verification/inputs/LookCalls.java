package io.syncguard.verification.inputs;

import io.syncguard.Fence;
import io.syncguard.LockHandle;
import io.syncguard.LockLimits;
import io.syncguard.LockManager;
import io.syncguard.LockPage;
import io.syncguard.LockQuery;
import io.syncguard.LockRequest;
import java.time.Duration;
import java.util.List;

/** Random calls that grant nothing: lookups, calls with the lock ids of others, and the limits. */
@SuppressWarnings("NullAway")
final class LookCalls {

    private final Inputs inputs;
    private final Answers answers;
    private final LockManager manager;

    LookCalls(Inputs inputs, Answers answers, LockManager manager) {
        this.inputs = inputs;
        this.answers = answers;
        this.manager = manager;
    }

    void look() {
        String key = inputs.textOrNull();
        boolean legal = Inputs.isLegalKey(key);
        answers.call("isLocked", legal, () -> manager.isLocked(key));
        answers.call("lookup", legal, () -> manager.admin().lookup(key));
        answers.call("holders", legal, () -> manager.admin().holders(key));
        answers.call("debugLookup", legal, () -> manager.admin().debugLookup(key));
        answers.call("status", legal, () -> manager.admin().status(key));
        answers.call("current", legal, () -> LockHandle.current(key));
    }

    void lookByLockId() {
        String lockId = inputs.lockIdOrNull();
        boolean legal = lockId != null && lockId.matches("[A-Za-z0-9_-]{22}") && !lockId.endsWith("\n");
        answers.call("lookupById", legal, () -> manager.admin().lookupById(lockId));
        answers.call("owns", legal, () -> manager.owns(lockId));
        answers.call("release by lock id", legal, () -> manager.release(lockId));
        Duration ttl = inputs.durationOrNull();
        answers.call("extend by lock id", legal && Inputs.isLegalTtl(ttl), () -> manager.extend(lockId, ttl));
    }

    void list() {
        String prefix = inputs.textOrNull();
        String after = inputs.textOrNull();
        int limit = inputs.oneOf(List.of(1, 2, 1000, 0, -1, 1001, Integer.MIN_VALUE));
        boolean legal = prefix != null
                && Inputs.isLegalOrEmpty(prefix)
                && after != null
                && Inputs.isLegalOrEmpty(after)
                && limit >= 1
                && limit <= 1000;
        LockPage page = answers.call(
                "list",
                legal,
                () -> manager.admin()
                        .list(LockQuery.all().startingWith(prefix).after(after).limit(limit)));
        if (page != null) {
            answers.require(
                    page.locks().stream().allMatch(lock -> lock.key().startsWith(Inputs.nfc(prefix))),
                    "A list has keys that do not begin with '" + prefix + "'");
        }
        answers.call("list null", false, () -> manager.admin().list(null));
    }

    void forceRelease() {
        String key = inputs.textOrNull();
        String reason = inputs.textOrNull();
        answers.call(
                "forceRelease",
                Inputs.isLegalKey(key) && reason != null,
                () -> manager.admin().forceRelease(key, reason));
    }

    void limits() {
        long value = inputs.anyLong();
        answers.call("fence", value >= 1 && value <= Fence.MAX_VALUE, () -> new Fence(value));
        Duration ttl = inputs.durationOrNull();
        answers.call("ttl", Inputs.isLegalTtl(ttl), () -> LockLimits.ttl(ttl));
        String owner = inputs.textOrNull();
        answers.call(
                "owner",
                owner == null || Inputs.isLegalOrEmpty(owner),
                () -> LockRequest.of("a").owner(owner));
        String resource = inputs.textOrNull();
        answers.call("resource", Inputs.isLegalKey(resource), () -> LockLimits.resource(resource));
    }
}
