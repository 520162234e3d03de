package io.syncguard.redis;

import io.lettuce.core.RedisCommandExecutionException;
import io.lettuce.core.RedisCommandInterruptedException;
import io.lettuce.core.RedisCommandTimeoutException;
import io.lettuce.core.RedisConnectionException;
import io.lettuce.core.RedisException;
import io.lettuce.core.protocol.RedisProtocolException;
import io.netty.channel.ChannelException;
import io.netty.channel.unix.Errors;
import io.syncguard.LockBackendException;
import io.syncguard.LockErrorCode;
import io.syncguard.LockSetupException;
import io.syncguard.concurrent.Chain;
import io.syncguard.spi.RequestNotSentException;
import java.io.IOException;
import java.net.SocketException;
import java.util.ArrayDeque;
import java.util.Collections;
import java.util.Deque;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CancellationException;
import java.util.concurrent.TimeoutException;
import java.util.function.Predicate;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Translates errors of Redis and of its driver.
 */
final class RedisErrors {

    /** Maximum number of errors, with causes and suppressed ones, in which an answer of the server is looked for. */
    private static final int MAX_ERRORS = 1_000;

    /**
     * Parts of a request that the server quotes and that may contain a lock id or its beginning: the arguments of an
     * unknown command, and a key that the user may not access.
     */
    private static final Pattern QUOTED = Pattern.compile(
            "(with args beginning with:).*|(id:)[\\w-]+|(?<![\\w-])[\\w-]{22}(?![\\w-])",
            Pattern.CASE_INSENSITIVE | Pattern.DOTALL);

    private static final Pattern MOVED = Pattern.compile("\\bMOVED\\b");

    /** The driver's message when the server closes a connection that has just begun. */
    private static final String CLOSED = "Connection closed prematurely";

    private RedisErrors() {}

    /** Translates an error that does not come from a connection. */
    static LockBackendException translate(String doing, Throwable error) {
        return translate(doing, "Redis", error);
    }

    /**
     * @param doing the operation, such as {@code acquiring lock 'order:42'}, without a lock id
     * @param server what failed, such as {@code Redis at 127.0.0.1:6379}
     */
    static LockBackendException translate(String doing, String server, Throwable error) {
        LockErrorCode code = codeOf(error);
        return new LockBackendException(
                code,
                "Failed while " + doing + ": "
                        + (code == LockErrorCode.ABORTED ? "the thread was interrupted" : explain(server, error)),
                withoutLockId(error));
    }

    /** Explains why the server does not grant locks, and what to do. */
    static String explain(String server, Throwable error) {
        LockSetupException mistake = mistakeIn(error);
        return mistake == null ? server + nextStep(codeOf(error), error) : String.valueOf(mistake.getMessage());
    }

    /** Returns the mistake in the settings from which an error comes, if it is known. */
    static @Nullable LockSetupException mistakeIn(Throwable error) {
        return (LockSetupException) find(error, LockSetupException.class::isInstance);
    }

    /** Translates the error of a script that was not sent, because there was no connection. */
    static RequestNotSentException notSent(String doing, String server, Throwable error) {
        return new RequestNotSentException(
                error instanceof LockBackendException known ? known : translate(doing, server, error));
    }

    /** Reports an answer that no script returns. */
    static LockBackendException malformed(String doing, Exception error) {
        return new LockBackendException(
                LockErrorCode.INTERNAL,
                "Failed while " + doing
                        + ": the server's answer is malformed. Look for a proxy between the application and"
                        + " Redis that changes answers",
                error);
    }

    static LockErrorCode codeOf(Throwable error) {
        LockSetupException mistake = mistakeIn(error);
        if (mistake != null) {
            return mistake.code();
        }
        RedisCommandExecutionException answer = answerOf(error);
        if (answer != null) {
            return RedisAnswer.of(String.valueOf(answer.getMessage())).code();
        }
        if (hasCause(InterruptedException.class, error) || hasCause(RedisCommandInterruptedException.class, error)) {
            return LockErrorCode.ABORTED;
        }
        // Check timeouts before the driver's other errors, because the driver wraps a timeout of a connection attempt
        // into one of them.
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

    /** Whether a person has to change something before a request can succeed. */
    static boolean isPermanent(LockBackendException failure) {
        return switch (failure.code()) {
            case AUTH_FAILED, INVALID_ARGUMENT -> true;
            case INTERNAL -> answerOf(failure) != null;
            // In a cluster, the driver follows later.
            case SERVICE_UNAVAILABLE -> mistakeIn(failure) != null && isMoved(failure);
            default -> false;
        };
    }

    /** Whether a node of a cluster named another one. */
    static boolean isMoved(Throwable error) {
        RedisCommandExecutionException answer = answerOf(error);
        return answer != null && MOVED.matcher(wordsOf(answer)).find();
    }

    /**
     * Returns the error message of the server, which may be the cause of a failed connection attempt. Several sentinels
     * or nodes may each have sent one.
     */
    static @Nullable RedisCommandExecutionException answerOf(Throwable error) {
        return (RedisCommandExecutionException) find(error, RedisCommandExecutionException.class::isInstance);
    }

    /** Returns the first such error among an error, its causes and those that they suppress. */
    static @Nullable Throwable find(Throwable error, Predicate<Throwable> wanted) {
        Deque<Throwable> left = new ArrayDeque<>(List.of(error));
        Set<Throwable> seen = Collections.newSetFromMap(new IdentityHashMap<>());
        while (!left.isEmpty() && seen.size() < MAX_ERRORS) {
            Throwable each = left.remove();
            if (wanted.test(each)) {
                return each;
            }
            if (seen.add(each)) {
                left.addAll(List.of(each.getSuppressed()));
                Stream.ofNullable(each.getCause()).forEach(left::add);
            }
        }
        return null;
    }

    static boolean hasCause(Class<? extends Throwable> type, Throwable error) {
        return Chain.causes(error).anyMatch(type::isInstance);
    }

    /** Returns the error, or a copy of the answer if it may have the beginning of a lock id. */
    static Throwable withoutLockId(Throwable error) {
        if (mistakeIn(error) != null) {
            return error;
        }
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
        if (answer == null) {
            return nextStepWithoutAnswer(code, error);
        }
        String words = ": " + wordsOf(answer) + ". ";
        return switch (RedisAnswer.of(String.valueOf(answer.getMessage()))) {
            case REFUSED_LOGIN ->
                " refuses the user or its password" + words
                        + "Correct spring.data.redis.username and spring.data.redis.password";
            case MISSING_RIGHT -> " denies the user a right" + words + "Grant the rights that docs/security.md lists";
            case UNKNOWN_DATABASE -> " does not have the database" + words + "Correct spring.data.redis.database";
            case UNKNOWN_COMMAND ->
                " lacks a command that locks need" + words
                        + "Look for rename-command, a proxy, or a sentinel in its place";
            default -> nextStep(code, words);
        };
    }

    private static String nextStep(LockErrorCode code, String words) {
        return switch (code) {
            case SERVICE_UNAVAILABLE -> " does not serve writes now" + words + "Try again later";
            case INVALID_ARGUMENT ->
                " refuses a key" + words
                        + "Look for other users of the keys of syncguard.redis.key-prefix, and for a cluster in which"
                        + " that prefix has no hash tag";
            case RATE_LIMITED ->
                " is out of memory or connections, or busy with a script" + words
                        + "See maxmemory, maxclients and SCRIPT KILL";
            default -> " refuses a lock" + words + "Correct what Redis names";
        };
    }

    private static String nextStepWithoutAnswer(LockErrorCode code, Throwable error) {
        return switch (code) {
            case SERVICE_UNAVAILABLE -> nextStepWithoutConnection(error);
            case NETWORK_TIMEOUT -> " did not answer in time. Look for slow commands, and at the network";
            default -> " failed. See the cause";
        };
    }

    private static String nextStepWithoutConnection(Throwable error) {
        if (find(error, RedisProtocolException.class::isInstance) != null) {
            return " answers, but is no Redis. Correct spring.data.redis.*";
        }
        Throwable reason = find(error, cause -> cause instanceof IOException && cause.getMessage() != null);
        if (reason == null ? isClosed(error) : isBroken(error, reason)) {
            return " closes each new connection. Set spring.data.redis.ssl.enabled=true if it uses TLS, correct"
                    + " spring.data.redis.* if it is no Redis, or try again later";
        }
        return " cannot be reached"
                + (reason == null ? "" : ": " + withoutAddress(String.valueOf(reason.getMessage())))
                + ". Start it, correct spring.data.redis.*, or try again later";
    }

    /** Whether the server closed a connection that had just begun. */
    static boolean isClosed(Throwable error) {
        return find(error, cause -> CLOSED.equals(cause.getMessage())) != null;
    }

    /**
     * Whether a new connection broke, mostly because the server closed it with bytes that it had not read. The types
     * tell, because the text is in the system's language: an attempt to connect fails with a subclass of
     * {@link SocketException}, also where the JDK has none for the reason, and the lack of a socket with a
     * {@link ChannelException}.
     */
    private static boolean isBroken(Throwable error, Throwable reason) {
        return find(error, RedisConnectionException.class::isInstance) != null
                && find(error, ChannelException.class::isInstance) == null
                && (reason.getClass() == SocketException.class
                        || reason.getClass() == IOException.class
                        || reason instanceof Errors.NativeIoException);
    }

    /** Removes the address that the driver adds, and on Linux the name of the system call. */
    private static String withoutAddress(String message) {
        return message.replaceFirst("^\\w+\\(\\.\\.\\) failed.*error\\(-\\d+\\): ", "")
                .replaceFirst(": [^ ]*/[^ ]*:\\d+$", "");
    }

    /**
     * Returns the message without the text that older servers put before an error in a script, and without the
     * arguments of a command.
     */
    static String wordsOf(RedisCommandExecutionException answer) {
        return QUOTED.matcher(
                        String.valueOf(answer.getMessage()).replaceFirst("(?is),? with args beginning with.*$", ""))
                .replaceAll("$2...")
                .replaceFirst("^.*(?=WRONGTYPE|CROSSSLOT)", "")
                .replaceFirst(" script: \\w+, on @.*$", "")
                .replaceFirst("[ .]+$", "");
    }
}
