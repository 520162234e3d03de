package io.syncguard.redis;

import io.syncguard.Fence;
import io.syncguard.ForcedRelease;
import io.syncguard.LockBackendException;
import io.syncguard.LockErrorCode;
import io.syncguard.LockMode;
import io.syncguard.LockStatus;
import io.syncguard.RawLockInfo;
import io.syncguard.spi.AcquireResult;
import io.syncguard.spi.ExtendResult;
import io.syncguard.spi.Hashes;
import io.syncguard.spi.ReleaseResult;
import java.time.Duration;
import java.time.Instant;
import java.util.Comparator;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Reads the answers of the scripts. Each answer begins with the word for its outcome, or is a time.
 */
final class RedisReplyReader {

    private RedisReplyReader() {}

    static AcquireResult readAcquire(RedisReply reply, String key) {
        return switch (reply.text(0)) {
            case "granted" -> new AcquireResult.Granted(new Fence(reply.number(1)), time(reply, 2), time(reply, 3));
            case "refused" -> new AcquireResult.Refused(Duration.ofMillis(reply.number(1)), readBlocker(reply));
            case "queued" -> new AcquireResult.Queued(Duration.ofMillis(reply.number(1)), readBlocker(reply));
            case "no_fences" -> throw noFences("Lock '" + key + "' has no fences left: its counter is at ");
            default -> throw new IllegalStateException("An unknown answer to an acquire request");
        };
    }

    private static AcquireResult.@Nullable Holder readBlocker(RedisReply reply) {
        return reply.size() == 2
                ? null
                : new AcquireResult.Holder(reply.text(2), time(reply, 3), reply.number(4) == 0, false);
    }

    static ReleaseResult readRelease(RedisReply reply, int index) {
        return switch (reply.text(index)) {
            case "released" -> ReleaseResult.RELEASED;
            case "left" -> ReleaseResult.LEFT;
            case "expired" -> ReleaseResult.EXPIRED;
            case "not_found" -> ReleaseResult.NOT_FOUND;
            default -> throw new IllegalStateException("An unknown answer to a release");
        };
    }

    static ExtendResult readExtension(RedisReply reply, int index) {
        return reply.isNumber(index) ? new ExtendResult.Extended(time(reply, index)) : readNotExtended(reply, index);
    }

    static ExtendResult readRotation(RedisReply reply) {
        return switch (reply.text(0)) {
            case "rotated" -> new ExtendResult.Rotated(time(reply, 1), new Fence(reply.number(2)));
            case "no_fences" -> throw noFences("Its key has no fences left: the counter is at ");
            default -> readNotExtended(reply, 0);
        };
    }

    private static ExtendResult readNotExtended(RedisReply reply, int index) {
        return switch (reply.text(index)) {
            case "expired" -> new ExtendResult.Expired();
            case "not_found" -> new ExtendResult.NotFound();
            default -> throw new IllegalStateException("An unknown answer to an extension");
        };
    }

    /** In the order of their fences. */
    static List<RawLockInfo> readInfos(RedisReply reply) {
        return reply.replies().stream()
                .map(lease -> new RawLockInfo(
                        lease.text(5),
                        lease.text(0),
                        LockMode.valueOf(lease.text(1)),
                        timeOf(lease, 3),
                        timeOf(lease, 2),
                        new Fence(Long.parseLong(lease.text(4))),
                        lease.text(6)))
                .sorted(Comparator.comparing(RawLockInfo::fence))
                .toList();
    }

    /** In the order of their fences, and the queue in its own. Times of leases and entries are texts. */
    static LockStatus readStatus(RedisReply reply, String key) {
        List<RedisReply> lists = new RedisReply(reply.items().subList(2, 4)).replies();
        return new LockStatus(
                key,
                time(reply, 0),
                readInfos(lists.get(0)).stream().map(Hashes::shown).toList(),
                lists.get(1).replies().stream()
                        .map(RedisReplyReader::readWaiter)
                        .toList(),
                (int) reply.number(1));
    }

    private static LockStatus.Waiter readWaiter(RedisReply entry) {
        return new LockStatus.Waiter(LockMode.valueOf(entry.text(0)), entry.text(1), timeOf(entry, 2));
    }

    static ForcedRelease readForcedRelease(RedisReply reply, String key) {
        long fence = reply.number(1);
        return new ForcedRelease(key, (int) reply.number(0), 0, fence == 0 ? null : new Fence(fence));
    }

    /** Redis keeps it as a text: in a hash, or as a score. */
    private static Instant timeOf(RedisReply reply, int index) {
        return Instant.ofEpochMilli(Long.parseLong(reply.text(index)));
    }

    private static Instant time(RedisReply reply, int index) {
        return Instant.ofEpochMilli(reply.number(index));
    }

    private static LockBackendException noFences(String what) {
        return new LockBackendException(LockErrorCode.INTERNAL, what + Fence.MAX_VALUE + ". Use another key", null);
    }
}
