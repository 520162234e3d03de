package io.syncguard.redis;

import io.lettuce.core.RedisCommandExecutionException;
import io.syncguard.redis.RedisTarget.Kind;
import java.io.IOException;
import java.util.List;
import java.util.Objects;
import java.util.Properties;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;
import org.springframework.data.redis.connection.NamedNode;
import org.springframework.data.redis.connection.RedisConnection;
import org.springframework.data.redis.connection.RedisNode;
import org.springframework.data.redis.connection.RedisSentinelConnection;
import org.springframework.data.redis.connection.RedisStandaloneConfiguration;
import org.springframework.data.redis.connection.lettuce.LettuceClientConfiguration;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

/** Asks servers that lack a command what they are, and sentinels that do not know the master for the others. */
final class RedisInquiry {

    private static final Log log = LogFactory.getLog(RedisInquiry.class);

    private final RedisTarget target;
    private final LettuceClientConfiguration client;

    RedisInquiry(RedisTarget target, LettuceClientConfiguration client) {
        this.target = target;
        this.client = client;
    }

    /**
     * Explains why there is no connection. Blocks.
     *
     * @param sentinels leads to the sentinels, if the settings do
     */
    Throwable explained(Throwable error, RedisMistakes mistakes, LettuceConnectionFactory sentinels) {
        RedisCommandExecutionException answer = RedisErrors.answerOf(error);
        if (answer != null && RedisAnswer.of(String.valueOf(answer.getMessage())) == RedisAnswer.UNKNOWN_COMMAND) {
            Kind actual = kind();
            return actual == null ? error : mistakes.explained(actual, error);
        }
        return mistakes.isUnknownMaster(error)
                ? mistakes.explainedBy(mistakes.unknownMaster(knownTo(sentinels), error))
                : mistakes.explained(error);
    }

    private static List<String> knownTo(LettuceConnectionFactory sentinels) {
        try (RedisSentinelConnection connection = sentinels.getSentinelConnection()) {
            return connection.masters().stream()
                    .map(NamedNode::getName)
                    .filter(Objects::nonNull)
                    .map(name -> "'" + name + "'")
                    .toList();
        } catch (IOException | RuntimeException ex) {
            log.debug("Sentinels could not be asked for their masters", ex);
            return List.of();
        }
    }

    private @Nullable Kind kind() {
        for (RedisNode node : target.nodes()) {
            try {
                Kind kind = kindOf(node);
                if (kind != null) {
                    return kind;
                }
            } catch (RuntimeException ex) {
                log.debug("Redis could not be asked what it is", ex);
            }
        }
        return null;
    }

    private @Nullable Kind kindOf(RedisNode node) {
        RedisStandaloneConfiguration details = new RedisStandaloneConfiguration(
                Objects.requireNonNull(node.getHost()), Objects.requireNonNull(node.getPort()));
        LettuceConnectionFactory one = new LettuceConnectionFactory(details, client);
        one.afterPropertiesSet();
        one.start();
        try (RedisConnection connection = one.getConnection()) {
            Properties info = Objects.requireNonNull(connection.serverCommands().info("server"));
            // The second is the name in Valkey.
            return Kind.ofMode(info.getProperty("redis_mode", info.getProperty("server_mode", "")));
        } finally {
            one.destroy();
        }
    }
}
