package io.syncguard.redis;

import io.lettuce.core.RedisCommandExecutionException;
import io.syncguard.Fence;
import io.syncguard.ForcedRelease;
import io.syncguard.LockBackendException;
import io.syncguard.LockErrorCode;
import io.syncguard.LockInfo;
import io.syncguard.LockMode;
import io.syncguard.LockStatus;
import io.syncguard.RawLockInfo;
import io.syncguard.spi.AcquireRequest;
import io.syncguard.spi.AcquireResult;
import io.syncguard.spi.AcquireResult.Undecided;
import io.syncguard.spi.ExtendResult;
import io.syncguard.spi.Hashes;
import io.syncguard.spi.LockBackend;
import io.syncguard.spi.ReleaseResult;
import io.syncguard.spi.ReleaseResult.HandOver;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** Reads the answers of the scripts. Each answer is a time, or begins with a word for its outcome. */
final class RedisReplyReader {

    private RedisReplyReader() {}

    static AcquireResult readAcquire(RedisReply reply, String key) {
        String[] words = reply.text(0).split(" ");
        return switch (words[0]) {
            case "granted" -> readGrant(words);
            case "refused" -> new AcquireResult.Refused(Duration.ofMillis(reply.number(1)), readBlocker(reply));
            case "queued" -> new AcquireResult.Queued(Duration.ofMillis(reply.number(1)), readBlocker(reply));
            case "no_fences" -> throw noFences("Lock '" + key + "' has no fences left: its counter is at ");
            default -> throw new IllegalStateException("An unknown answer to an acquire request");
        };
    }

    private static AcquireResult.Granted readGrant(String[] words) {
        return new AcquireResult.Granted(
                new Fence(Long.parseLong(words[1])),
                timeOf(words[2]),
                timeOf(words[3]).minusMillis(LockBackend.TOLERANCE_MILLIS));
    }

    /** Whether the caller already held the lease. Others may have got larger fences since. */
    static boolean isGrantedAgain(RedisReply reply) {
        return reply.text(0).endsWith(" again");
    }

    /** Reads the answers to requests of one caller: the position of the refused one, its answer, and the grants. */
    static List<AcquireResult> readTogether(RedisReply reply, List<AcquireRequest> requests) {
        List<AcquireResult> answers = new ArrayList<>(Collections.nCopies(requests.size(), Undecided.UNDECIDED));
        for (int i = 2; i < reply.size(); i++) {
            answers.set(i - 2, readGrant(reply.text(i).split(" ")));
        }
        int refused = (int) reply.number(0) - 1;
        if (refused >= 0) {
            answers.set(
                    refused, readAcquire(reply.answer(1), requests.get(refused).key()));
        }
        return answers;
    }

    private static AcquireResult.@Nullable Holder readBlocker(RedisReply reply) {
        return reply.size() == 2
                ? null
                : new AcquireResult.Holder(RedisLock.owner(reply.text(2)), time(reply, 3), reply.number(4) == 0, false);
    }

    static ReleaseResult readRelease(RedisReply reply) {
        return switch (reply.text(0)) {
            case "released" -> reply.size() == 1 ? ReleaseResult.RELEASED : readHandOvers(reply);
            case "left" -> ReleaseResult.LEFT;
            case "expired" -> ReleaseResult.EXPIRED;
            case "not_found" -> ReleaseResult.NOT_FOUND;
            default -> throw new IllegalStateException("An unknown answer to a release");
        };
    }

    /** Reads the answer to one of several: undecided where the server did nothing, so that it is sent alone. */
    static ReleaseResult readReleaseInBatch(RedisReply reply) {
        if (!reply.text(0).equals("error")) {
            return readRelease(reply);
        }
        LockBackendException error =
                RedisErrors.translate("running a batch", new RedisCommandExecutionException(reply.text(1)));
        if (error.code().isInDoubt()) {
            throw error;
        }
        return ReleaseResult.UNDECIDED;
    }

    private static ReleaseResult readHandOvers(RedisReply reply) {
        List<HandOver> handOvers = new ArrayList<>();
        for (int i = 1; i < reply.size(); i += 4) {
            handOvers.add(new HandOver(
                    Long.parseLong(reply.text(i)),
                    new AcquireResult.Granted(
                            new Fence(Long.parseLong(reply.text(i + 1))), timeOf(reply, i + 2), timeOf(reply, i + 3))));
        }
        return new ReleaseResult(ReleaseResult.Outcome.RELEASED, handOvers);
    }

    static ExtendResult readExtension(RedisReply reply) {
        return reply.isNumber(0) ? new ExtendResult.Extended(time(reply, 0)) : readNotExtended(reply);
    }

    static ExtendResult readRotation(RedisReply reply) {
        return switch (reply.text(0)) {
            case "rotated" -> new ExtendResult.Rotated(time(reply, 1), new Fence(reply.number(2)));
            case "no_fences" -> throw noFences("Its key has no fences left: the counter is at ");
            default -> readNotExtended(reply);
        };
    }

    private static ExtendResult readNotExtended(RedisReply reply) {
        return switch (reply.text(0)) {
            case "expired" -> new ExtendResult.Expired();
            case "not_found" -> new ExtendResult.NotFound();
            default -> throw new IllegalStateException("An unknown answer to an extension");
        };
    }

    /** Returns the leases in the order of their fences. */
    static List<RawLockInfo> readInfos(RedisReply reply, String key) {
        return reply.replies().stream()
                .map(lease -> new RawLockInfo(
                        key,
                        lease.text(0),
                        LockMode.valueOf(lease.text(1)),
                        timeOf(lease, 3),
                        timeOf(lease, 2),
                        new Fence(Long.parseLong(lease.text(4))),
                        RedisLock.owner(lease.text(5))))
                .sorted(Comparator.comparing(RawLockInfo::fence))
                .toList();
    }

    private static List<LockInfo> readLockInfos(RedisReply reply, String key) {
        return readInfos(reply, key).stream().map(Hashes::abbreviated).toList();
    }

    /**
     * Returns the leases in the order of their fences, and the queue in its own order. Times of leases and entries are
     * texts.
     */
    static LockStatus readStatus(RedisReply reply, String key) {
        List<RedisReply> lists = new RedisReply(reply.items().subList(2, 4)).replies();
        return new LockStatus(
                key,
                time(reply, 0),
                readLockInfos(lists.get(0), key),
                lists.get(1).replies().stream()
                        .map(RedisReplyReader::readWaiter)
                        .toList(),
                (int) reply.number(1));
    }

    /** Reads the key of the lock with this name from a status; empty if the lock is free. */
    static Optional<String> readKey(RedisReply status, String name) {
        List<RedisReply> lists = new RedisReply(status.items().subList(2, 4)).replies();
        return Stream.concat(
                        lists.get(0).replies().stream().map(lease -> lease.text(5)),
                        lists.get(1).replies().stream().map(entry -> entry.text(1)))
                .map(label -> RedisLock.key(label, name))
                .findFirst();
    }

    private static LockStatus.Waiter readWaiter(RedisReply entry) {
        return new LockStatus.Waiter(
                LockMode.valueOf(entry.text(0)),
                (int) entry.number(3),
                RedisLock.owner(entry.text(1)),
                timeOf(entry, 2));
    }

    static ForcedRelease readForcedRelease(RedisReply reply, String key) {
        long fence = reply.number(0);
        List<RedisReply> leases = new RedisReply(reply.items().subList(1, 3)).replies();
        return new ForcedRelease(
                key,
                readLockInfos(leases.get(0), key),
                readLockInfos(leases.get(1), key),
                fence == 0 ? null : new Fence(fence));
    }

    /** Reads a time that Redis stores as a text or as a score. */
    private static Instant timeOf(RedisReply reply, int index) {
        return timeOf(reply.text(index));
    }

    private static Instant timeOf(String millis) {
        return Instant.ofEpochMilli(Long.parseLong(millis));
    }

    private static Instant time(RedisReply reply, int index) {
        return Instant.ofEpochMilli(reply.number(index));
    }

    private static LockBackendException noFences(String what) {
        return new LockBackendException(LockErrorCode.INTERNAL, what + Fence.MAX_VALUE + ". Use another key", null);
    }
}
