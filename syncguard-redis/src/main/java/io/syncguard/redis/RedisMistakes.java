package io.syncguard.redis;

import io.lettuce.core.RedisCommandExecutionException;
import io.lettuce.core.RedisCommandTimeoutException;
import io.lettuce.core.RedisConnectionException;
import io.lettuce.core.protocol.RedisProtocolException;
import io.netty.handler.ssl.NotSslRecordException;
import io.syncguard.LockErrorCode;
import io.syncguard.LockSetupException;
import io.syncguard.redis.RedisTarget.Kind;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import javax.net.ssl.SSLException;
import org.jspecify.annotations.Nullable;

/**
 * Recognises an error that comes from settings for another kind of server, and names the settings that fit.
 * Thread-safe.
 */
final class RedisMistakes {

    /** A node of a cluster says this to a client that does not know of the cluster. */
    private static final Pattern IN_CLUSTER = Pattern.compile("\\b(MOVED|CLUSTERDOWN)\\b|not allowed in cluster mode");

    private static final Pattern REPLICA = Pattern.compile("\\b(READONLY|MASTERDOWN)\\b");

    /** The first byte of an alert of TLS, in the driver's message. */
    private static final String TLS_ALERT = "Invalid first byte: 21 ";

    private static final Pattern ADDRESS = Pattern.compile("Unable to connect to \\[?([^\\s\\[/:]+)(?:/[^:]*)?:(\\d+)");

    private static final String PLAIN =
            "set spring.data.redis.ssl.enabled=false, and begin spring.data.redis.url with redis://";

    private final RedisTarget target;

    RedisMistakes(RedisTarget target) {
        this.target = target;
    }

    /** Returns the error, with the mistake in its causes if there is one. */
    Throwable explained(Throwable error) {
        LockSetupException mistake = RedisErrors.mistakeIn(error) == null ? mistake(error) : null;
        return mistake == null ? error : explainedBy(mistake);
    }

    /** The same for an error of a server that has been asked for its kind. */
    Throwable explained(Kind actual, Throwable error) {
        return actual == target.kind() ? error : explainedBy(other(actual, error));
    }

    Throwable explainedBy(LockSetupException mistake) {
        return new RedisConnectionException(mistake.problem(), mistake);
    }

    boolean isUnknownMaster(Throwable error) {
        return target.kind() == Kind.SENTINEL && says("using sentinel for masterId", error);
    }

    private @Nullable LockSetupException mistake(Throwable error) {
        if (says("DENIED Redis is running in protected mode", error)) {
            return mistake(
                    LockErrorCode.AUTH_FAILED,
                    " is in protected mode, in which it accepts only clients of its own machine",
                    error,
                    "Have an administrator set a password, and set spring.data.redis.password",
                    "Have an administrator turn off protected-mode, in a network that nobody else reaches");
        }
        RedisCommandExecutionException answer = RedisErrors.answerOf(error);
        return answer == null ? withoutAnswer(error) : ofAnswer(RedisErrors.wordsOf(answer), error);
    }

    private @Nullable LockSetupException ofAnswer(String words, Throwable error) {
        if (target.kind() != Kind.CLUSTER && IN_CLUSTER.matcher(words).find()) {
            return other(Kind.CLUSTER, error);
        }
        if (target.kind() == Kind.CLUSTER && words.contains("cluster support disabled")) {
            return other(Kind.SERVER, error);
        }
        if (target.kind() == Kind.SERVER && REPLICA.matcher(words).find()) {
            return mistake(
                    LockErrorCode.SERVICE_UNAVAILABLE,
                    " is a replica, which takes no writes",
                    error,
                    "Set " + Kind.SERVER.properties() + " to its master",
                    "Let sentinels name the master: set " + Kind.SENTINEL.properties(),
                    "Wait if the address moves to the master");
        }
        return target.kind() == Kind.SENTINEL
                        && RedisAnswer.of(words) == RedisAnswer.REFUSED_LOGIN
                        && says("Redis Sentinel", error)
                ? mistake(
                        LockErrorCode.AUTH_FAILED,
                        " refuse the user or its password: " + words,
                        error,
                        "Correct spring.data.redis.sentinel.password and, if they want a user,"
                                + " spring.data.redis.sentinel.username")
                : null;
    }

    private @Nullable LockSetupException withoutAnswer(Throwable error) {
        if (isUnknownMaster(error)) {
            return unknownMaster(List.of(), error);
        }
        LockSetupException ofTls = target.tls() ? withTls(error) : withoutTls(error);
        return ofTls == null ? ofAnnouncedAddress(error) : ofTls;
    }

    /** @param known the names that the sentinels know, as far as they were asked */
    LockSetupException unknownMaster(List<String> known, Throwable error) {
        return mistake(
                LockErrorCode.INVALID_ARGUMENT,
                " do not know the master of spring.data.redis.sentinel.master"
                        + (known.isEmpty() ? "" : ", but " + String.join(", ", known)),
                error,
                "Correct spring.data.redis.sentinel.master",
                "Correct spring.data.redis.sentinel.nodes");
    }

    private @Nullable LockSetupException withTls(Throwable error) {
        if (has(NotSslRecordException.class, error)) {
            return mistake(
                    LockErrorCode.SERVICE_UNAVAILABLE,
                    " does not use TLS, and the settings do",
                    error,
                    "Without TLS, " + PLAIN,
                    "Set the port on which it uses TLS");
        }
        if (has(RedisCommandTimeoutException.class, error)) {
            return mistake(
                    LockErrorCode.NETWORK_TIMEOUT,
                    " did not answer the TLS handshake in time: it may not use TLS",
                    error,
                    "Without TLS, " + PLAIN,
                    "Look at the network, and try again later");
        }
        Throwable refusal = RedisErrors.find(error, SSLException.class::isInstance);
        return refusal == null
                ? null
                : mistake(
                        LockErrorCode.SERVICE_UNAVAILABLE,
                        " cannot agree on TLS with the application: " + refusal.getMessage(),
                        error,
                        "Set spring.data.redis.ssl.bundle to an SSL bundle that trusts the server, and has the client"
                                + " certificate that it expects",
                        "Correct the host name if it is not that of the certificate");
    }

    private @Nullable LockSetupException withoutTls(Throwable error) {
        return has(RedisProtocolException.class, error) && says(TLS_ALERT, error)
                ? mistake(
                        LockErrorCode.SERVICE_UNAVAILABLE,
                        " uses TLS, and the settings do not",
                        error,
                        "Set spring.data.redis.ssl.enabled=true, or spring.data.redis.ssl.bundle",
                        "Begin spring.data.redis.url with rediss://")
                : null;
    }

    /** Only sentinels and clusters announce addresses: such as those of a network of containers. */
    private @Nullable LockSetupException ofAnnouncedAddress(Throwable error) {
        if (target.kind() == Kind.SERVER) {
            return null;
        }
        Throwable unreachable = RedisErrors.find(error, each -> isOfAnotherAddress(each.getMessage()));
        if (unreachable == null) {
            return null;
        }
        Matcher address = ADDRESS.matcher(String.valueOf(unreachable.getMessage()));
        String announced = address.find() ? address.group(1) + ":" + address.group(2) : "?";
        return mistake(
                RedisErrors.codeOf(error),
                (target.kind() == Kind.SENTINEL ? " name the master " : " names the node ") + announced
                        + ", which cannot be reached from here",
                error,
                "Start it, or try again later",
                "Have it announce an address that this application reaches: "
                        + (target.kind() == Kind.SENTINEL
                                ? "replica-announce-ip and sentinel announce-ip"
                                : "cluster-announce-ip or cluster-announce-hostname"),
                "Map its address by a MappingSocketAddressResolver in the ClientResources of the"
                        + " LettuceConnectionFactory");
    }

    private boolean isOfAnotherAddress(@Nullable String message) {
        Matcher address = ADDRESS.matcher(message == null ? "" : message);
        return address.find() && !target.names(address.group(1), Integer.parseInt(address.group(2)));
    }

    private LockSetupException other(Kind actual, Throwable error) {
        return mistake(
                // A running process waits: the node may serve the keys again.
                isOfNode(error) ? LockErrorCode.SERVICE_UNAVAILABLE : LockErrorCode.INVALID_ARGUMENT,
                " is " + actual.one() + ", but the settings are for "
                        + target.kind().all(),
                error,
                "Set " + actual.properties() + " instead of " + target.kind().properties(),
                "Correct " + target.kind().properties());
    }

    private static boolean isOfNode(Throwable error) {
        RedisCommandExecutionException answer = RedisErrors.answerOf(error);
        return answer != null && RedisAnswer.of(RedisErrors.wordsOf(answer)) == RedisAnswer.NO_MASTER;
    }

    private LockSetupException mistake(LockErrorCode code, String problem, Throwable error, String... steps) {
        String subject = target.name();
        if (target.kind() == Kind.SENTINEL) {
            subject = (problem.startsWith(" is ") ? "Redis at " : "The sentinels at ") + target.addresses();
        }
        return new LockSetupException(code, subject + problem, List.of(steps), RedisErrors.withoutLockId(error));
    }

    private static boolean says(String words, Throwable error) {
        return RedisErrors.find(error, each -> String.valueOf(each.getMessage()).contains(words)) != null;
    }

    private static boolean has(Class<? extends Throwable> type, Throwable error) {
        return RedisErrors.find(error, type::isInstance) != null;
    }
}
