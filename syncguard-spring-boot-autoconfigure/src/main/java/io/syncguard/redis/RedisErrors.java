package io.syncguard.redis;

import io.lettuce.core.RedisCommandExecutionException;
import io.lettuce.core.RedisCommandInterruptedException;
import io.lettuce.core.RedisCommandTimeoutException;
import io.lettuce.core.RedisException;
import io.syncguard.LockBackendException;
import io.syncguard.LockErrorCode;
import io.syncguard.spi.RequestNotSentException;
import java.io.IOException;
import java.util.concurrent.CancellationException;
import java.util.concurrent.TimeoutException;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * Translates errors of Redis and of its driver. The first word of the server's message determines the code.
 */
final class RedisErrors {

    /**
     * Finds it also behind other words: before Redis 7, a text about the script precedes the error of a command in it.
     */
    private static final Pattern WORD =
            Pattern.compile("\\b(LOADING|READONLY|MASTERDOWN|CLUSTERDOWN|TRYAGAIN|MOVED|ASK|NOREPLICAS|MISCONF"
                    + "|NOAUTH|WRONGPASS|NOPERM|DENIED|OOM|BUSY|UNKILLABLE|WRONGTYPE|CROSSSLOT)\\b"
                    + "|ACL failure in script|user executing the script can't|max number of clients|DB index");

    /**
     * What the server quotes of a request, and what may have a lock id or the beginning of one: the arguments of a
     * command that it does not know, and a key that a user may not access.
     */
    private static final Pattern QUOTED = Pattern.compile(
            "(with args beginning with:).*|(id:)[\\w-]+|(?<![\\w-])[\\w-]{22}(?![\\w-])",
            Pattern.CASE_INSENSITIVE | Pattern.DOTALL);

    private RedisErrors() {}

    /**
     * @param doing the operation, such as {@code acquiring lock 'order:42'}, without a lock id
     */
    static LockBackendException translate(String doing, Throwable error) {
        LockErrorCode code = codeOf(error);
        return new LockBackendException(
                code, "Failed while " + doing + ": " + nextStep(code, error), withoutLockId(error));
    }

    /** A script that was not sent, because there was no connection. */
    static RequestNotSentException notSent(String doing, Throwable error) {
        return new RequestNotSentException(
                error instanceof LockBackendException known ? known : translate(doing, error));
    }

    /** An answer that no script returns. */
    static LockBackendException malformed(String doing, Exception error) {
        return new LockBackendException(
                LockErrorCode.INTERNAL,
                "Failed while " + doing
                        + ": the server's answer is malformed. Look for a proxy between the application and"
                        + " Redis that changes answers",
                error);
    }

    static LockErrorCode codeOf(Throwable error) {
        RedisCommandExecutionException answer = answerOf(error);
        if (answer != null) {
            return codeOf(String.valueOf(answer.getMessage()));
        }
        if (hasCause(InterruptedException.class, error) || hasCause(RedisCommandInterruptedException.class, error)) {
            return LockErrorCode.ABORTED;
        }
        // Before the driver's other errors: the driver wraps a connection attempt that timed out into one of them.
        if (hasCause(TimeoutException.class, error)
                || hasCause(RedisCommandTimeoutException.class, error)
                || hasCause(java.net.SocketTimeoutException.class, error)
                || hasCause(io.netty.channel.ConnectTimeoutException.class, error)) {
            return LockErrorCode.NETWORK_TIMEOUT;
        }
        return hasCause(IOException.class, error)
                        || hasCause(RedisException.class, error)
                        || hasCause(CancellationException.class, error)
                ? LockErrorCode.SERVICE_UNAVAILABLE
                : LockErrorCode.INTERNAL;
    }

    private static LockErrorCode codeOf(String answer) {
        Matcher matcher = WORD.matcher(answer);
        return !matcher.find()
                ? LockErrorCode.INTERNAL
                : switch (matcher.group()) {
                    case "LOADING",
                            "READONLY",
                            "MASTERDOWN",
                            "CLUSTERDOWN",
                            "TRYAGAIN",
                            "MOVED",
                            "ASK",
                            "NOREPLICAS",
                            "MISCONF" -> LockErrorCode.SERVICE_UNAVAILABLE;
                    case "OOM", "BUSY", "UNKILLABLE", "max number of clients" -> LockErrorCode.RATE_LIMITED;
                    case "WRONGTYPE", "CROSSSLOT", "DB index" -> LockErrorCode.INVALID_ARGUMENT;
                    default -> LockErrorCode.AUTH_FAILED;
                };
    }

    /** Whether a person has to change something before a request can succeed. */
    static boolean isPermanent(LockBackendException failure) {
        return switch (failure.code()) {
            case AUTH_FAILED, INVALID_ARGUMENT -> true;
            case INTERNAL -> answerOf(failure) != null;
            default -> false;
        };
    }

    /**
     * The message of the server, which may be the cause of a failed connection attempt. Of several sentinels or nodes,
     * each has its own.
     */
    static @Nullable RedisCommandExecutionException answerOf(Throwable error) {
        for (Throwable cause = error; cause != null; cause = cause.getCause()) {
            if (cause instanceof RedisCommandExecutionException answer) {
                return answer;
            }
            for (Throwable other : cause.getSuppressed()) {
                RedisCommandExecutionException answer = answerOf(other);
                if (answer != null) {
                    return answer;
                }
            }
        }
        return null;
    }

    static boolean hasCause(Class<? extends Throwable> type, Throwable error) {
        for (Throwable cause = error; cause != null; cause = cause.getCause()) {
            if (type.isInstance(cause)) {
                return true;
            }
        }
        return false;
    }

    private static Throwable withoutLockId(Throwable error) {
        RedisCommandExecutionException answer = answerOf(error);
        String message = answer == null ? "" : String.valueOf(answer.getMessage());
        if (answer == null || !QUOTED.matcher(message).find()) {
            return error;
        }
        Throwable copy =
                new RedisCommandExecutionException(QUOTED.matcher(message).replaceAll("$1$2..."));
        copy.setStackTrace(answer.getStackTrace());
        return copy;
    }

    private static String nextStep(LockErrorCode code, Throwable error) {
        RedisCommandExecutionException answer = answerOf(error);
        RedisRefusal refusal =
                answer == null ? RedisRefusal.OTHER : RedisRefusal.of(String.valueOf(answer.getMessage()));
        return switch (refusal) {
            case PASSWORD ->
                "the server refused the password. Correct spring.data.redis.username and spring.data.redis.password";
            case RIGHT ->
                "the server refused the user. Check its access to the commands, and to the keys and channels of"
                        + " syncguard.redis.key-prefix";
            case DATABASE -> "the server does not have spring.data.redis.database";
            case COMMAND -> "the server does not know a command that locks need";
            default -> nextStep(code);
        };
    }

    private static String nextStep(LockErrorCode code) {
        return switch (code) {
            case SERVICE_UNAVAILABLE -> "the server cannot be reached or does not serve writes now. Try again later";
            case INVALID_ARGUMENT ->
                "the server refused a key. Look for other users of the keys of syncguard.redis.key-prefix, and for a"
                        + " cluster in which that prefix has no hash tag";
            case RATE_LIMITED ->
                "the server is out of memory or connections, or busy with a script. See maxmemory, maxclients"
                        + " and SCRIPT KILL";
            case NETWORK_TIMEOUT -> "the server did not answer in time. Look for slow commands, and at the network";
            case ABORTED -> "the thread was interrupted";
            default -> "see the cause";
        };
    }
}
