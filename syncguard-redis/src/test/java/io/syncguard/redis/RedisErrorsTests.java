package io.syncguard.redis;

import static org.assertj.core.api.Assertions.as;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.InstanceOfAssertFactories.STRING;

import io.lettuce.core.RedisCommandExecutionException;
import io.lettuce.core.RedisCommandTimeoutException;
import io.lettuce.core.RedisConnectionException;
import io.lettuce.core.RedisException;
import io.netty.channel.ChannelException;
import io.syncguard.LockBackendException;
import io.syncguard.LockErrorCode;
import io.syncguard.core.Requests;
import io.syncguard.core.StoreCalls;
import io.syncguard.embedded.OwnRedis;
import io.syncguard.spi.FenceSettings;
import io.syncguard.spi.FenceSource;
import io.syncguard.testing.RedisServer;
import java.io.IOException;
import java.net.ConnectException;
import java.net.NoRouteToHostException;
import java.net.SocketException;
import java.net.UnknownHostException;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CancellationException;
import java.util.concurrent.TimeoutException;
import java.util.stream.Stream;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.assertj.core.util.Throwables;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.data.redis.RedisConnectionFailureException;

/** What an error of Redis or of its driver means, with the messages of several server versions. */
class RedisErrorsTests {

    @Test
    @Timeout(10)
    void errors_that_lead_in_a_circle_are_searched_once() {
        RedisException error = new RedisConnectionException("no master");
        error.initCause(new IllegalStateException("a wrapper", error));
        RedisException sentinel = new RedisException("a sentinel", error);
        error.addSuppressed(sentinel);
        assertThat(RedisErrors.answerOf(error)).isNull();
        assertThat(RedisErrors.hasCause(TimeoutException.class, error)).isFalse();

        RedisCommandExecutionException answer = new RedisCommandExecutionException("NOAUTH Authentication required.");
        sentinel.addSuppressed(answer);
        assertThat(RedisErrors.answerOf(error)).isSameAs(answer);
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "SERVICE_UNAVAILABLE | LOADING Redis is loading the dataset in memory",
                "SERVICE_UNAVAILABLE | READONLY You can't write against a read only replica.",
                "SERVICE_UNAVAILABLE | ERR Error running script (call to f_0): @user_script:1: @user_script: 1: -READONLY You can't write against a read only replica.",
                "SERVICE_UNAVAILABLE | MASTERDOWN Link with MASTER is down and replica-serve-stale-data is set to 'no'.",
                "SERVICE_UNAVAILABLE | CLUSTERDOWN Hash slot not served",
                "SERVICE_UNAVAILABLE | TRYAGAIN Multiple keys request during rehashing of slot",
                "SERVICE_UNAVAILABLE | NOREPLICAS Not enough good replicas to write.",
                "SERVICE_UNAVAILABLE | MISCONF Errors writing to the AOF file: No space left on device",
                "AUTH_FAILED         | NOAUTH Authentication required.",
                "AUTH_FAILED         | WRONGPASS invalid username-password pair or user is disabled.",
                "AUTH_FAILED         | NOPERM this user has no permissions to run the 'evalsha' command",
                "AUTH_FAILED         | ERR Error running script (call to f_0): @user_script:1: The user executing the script can't run this command or subcommand",
                "AUTH_FAILED         | ERR ACL failure in script: User limited has no permissions to run the 'zadd' command script: 0, on @user_script:1.",
                "AUTH_FAILED         | DENIED Redis is running in protected mode",
                "RATE_LIMITED        | OOM command not allowed when used memory > 'maxmemory'.",
                "RATE_LIMITED        | BUSY Redis is busy running a script. You can only call SCRIPT KILL or SHUTDOWN NOSAVE.",
                "RATE_LIMITED        | ERR max number of clients reached",
                "INVALID_ARGUMENT    | WRONGTYPE Operation against a key holding the wrong kind of value",
                "INVALID_ARGUMENT    | CROSSSLOT Keys in request don't hash to the same slot",
                "INTERNAL            | ERR Error compiling script",
                "INTERNAL            | ERR value is not an integer or out of range",
            })
    void the_word_of_the_server_decides(LockErrorCode code, String message) {
        assertThat(RedisErrors.codeOf(new RedisCommandExecutionException(message)))
                .isEqualTo(code);
        assertThat(RedisErrors.codeOf(new RedisConnectionFailureException(
                        "Unable to connect to Redis",
                        new RedisConnectionException(
                                "Unable to connect", new RedisCommandExecutionException(message)))))
                .isEqualTo(code);
    }

    @Test
    void what_the_driver_says_by_itself_is_about_the_way_there() {
        assertThat(RedisErrors.codeOf(
                        new RedisConnectionException("Unable to connect", new ConnectException("refused"))))
                .isEqualTo(LockErrorCode.SERVICE_UNAVAILABLE);
        assertThat(RedisErrors.codeOf(new CancellationException())).isEqualTo(LockErrorCode.SERVICE_UNAVAILABLE);
        assertThat(RedisErrors.codeOf(new TimeoutException())).isEqualTo(LockErrorCode.NETWORK_TIMEOUT);
        assertThat(RedisErrors.codeOf(new RedisCommandTimeoutException())).isEqualTo(LockErrorCode.NETWORK_TIMEOUT);
        assertThat(RedisErrors.codeOf(new RedisConnectionException(
                        "Unable to connect", new RedisCommandTimeoutException("Connection initialization timed out"))))
                .isEqualTo(LockErrorCode.NETWORK_TIMEOUT);
        assertThat(RedisErrors.codeOf(new InterruptedException())).isEqualTo(LockErrorCode.ABORTED);
        assertThat(RedisErrors.codeOf(new IllegalStateException())).isEqualTo(LockErrorCode.INTERNAL);
    }

    /** The text is that of the system, in the user's language. A type says whether there was a connection before. */
    @Test
    void a_new_connection_that_ends_is_told_in_any_language() {
        String reset = "Die Verbindung wurde vom Kommunikationspartner zurückgesetzt";
        assertThat(Stream.of(new IOException(reset), new SocketException("Bağlantı karşı taraftan sıfırlandı")))
                .allSatisfy(reason -> assertThat(explanationOf(reason)).contains("closes each new connection"));
        assertThat(Stream.of(
                        new ConnectException("Verbindungsaufbau abgelehnt"),
                        new NoRouteToHostException("Keine Route zum Zielrechner"),
                        new SocketException("Das Netzwerk ist nicht erreichbar") {},
                        new ChannelException(new SocketException("Zu viele offene Dateien")),
                        new UnknownHostException("redis.example")))
                .allSatisfy(reason -> assertThat(explanationOf(reason)).contains("cannot be reached"));
        assertThat(RedisErrors.explain("Redis", new RedisException(new IOException(reset))))
                .as("of a connection that served requests before")
                .contains("cannot be reached: " + reset);
    }

    private static String explanationOf(Throwable reason) {
        return RedisErrors.explain("Redis", new RedisConnectionException("Unable to connect", reason));
    }

    /** Redis 7 quotes the key to which a user has no access. */
    @ParameterizedTest
    @ValueSource(strings = {"{syncguard}:", "", "locks"})
    void a_lock_id_that_the_server_quotes_is_not_passed_on(String prefix) {
        String lockId = "A".repeat(22);
        Throwable error = new RedisCommandExecutionException(
                "NOPERM User limited has no permissions to access the '" + prefix + "id:" + lockId + "' key");

        LockBackendException translated = RedisErrors.translate("releasing a lock", error);

        assertThat(translated.code()).isEqualTo(LockErrorCode.AUTH_FAILED);
        assertThat(translated).hasStackTraceContaining("no permissions to access the '" + prefix + "id:...' key");
        assertThat(translated).asString().doesNotContain(lockId);
        assertThat(translated.getCause()).asString().doesNotContain(lockId);
    }

    /** As servers and proxies word it. The server quotes at most 128 characters of the arguments. */
    @ParameterizedTest
    @ValueSource(
            strings = {
                "ERR unknown command `EVALSHA`, with args beginning with: `6b1c`, `2`, `{syncguard}:`, `%s`, ",
                "ERR unknown command 'EVALSHA', with args beginning with: '6b1c' '2' '{syncguard}:' '%s' ",
                "ERR Unknown Command 'evalsha', With Args Beginning With: '6b1c' '%s",
                "NOPERM User limited has no permissions to access the 'id:%s' key",
                "ERR syntax error near '%s'"
            })
    void no_beginning_of_a_lock_id_is_passed_on(String message) {
        String lockId = "Ab3dEf6hIj9lMn2pQr5tUv";
        for (int length = message.contains("near") ? 22 : 4; length <= 22; length++) {
            Throwable error = new RedisCommandExecutionException(String.format(message, lockId.substring(0, length)));

            LockBackendException translated = RedisErrors.translate("acquiring lock 'order:42'", error);
            assertThat(translated).asString().doesNotContain(lockId.substring(0, 4));
            assertThat(translated.getCause())
                    .asString()
                    .doesNotContain(lockId.substring(0, 4))
                    .containsAnyOf("EVALSHA", "evalsha", "NOPERM", "syntax error");
        }
    }

    /** A managed Redis without the command. */
    @ParameterizedTest
    @EnumSource(RedisBatching.class)
    void a_server_without_the_command_tells_no_lock_id(RedisBatching batching) {
        String lockId = "Ab3dEf6hIj9lMn2pQr5tUv";
        RedisSettings settings = new RedisSettings(
                RedisSettings.KEY_PREFIX,
                Duration.ofSeconds(10),
                RedisSettings.WAITER_TTL,
                1,
                FenceSettings.from(FenceSource.CLOCK));
        try (OwnRedis redis = new OwnRedis("rename-command EVALSHA \"\"");
                StoreCalls backend = batching.backend(RedisServer.connections(redis.url()), settings)) {
            Stream.<ThrowingCallable>of(
                            () -> backend.acquire(
                                    Requests.exclusive("order:42", lockId, Duration.ofMinutes(1), "test")),
                            () -> backend.release(lockId),
                            () -> backend.extendAll(List.of(Requests.extension(lockId, Duration.ofMinutes(1)))))
                    .forEach(operation -> assertThatExceptionOfType(LockBackendException.class)
                            .isThrownBy(operation)
                            .satisfies(ex -> assertThat(ex)
                                    .hasStackTraceContaining("unknown command")
                                    .extracting(Throwables::getStackTrace, as(STRING))
                                    .doesNotContain(lockId.substring(0, 4))));
        }
    }
}
