package io.syncguard.redis;

import io.lettuce.core.RedisCredentialsProvider;
import io.lettuce.core.StaticCredentialsProvider;
import org.jspecify.annotations.Nullable;
import org.springframework.data.redis.connection.RedisConfiguration;
import org.springframework.data.redis.connection.RedisPassword;
import org.springframework.data.redis.connection.RedisSentinelConfiguration;
import org.springframework.data.redis.connection.lettuce.RedisCredentialsProviderFactory;
import org.springframework.util.StringUtils;

/**
 * User and password of the connection details, in a form that the driver takes in its event loop. Otherwise it goes
 * through the common pool for them, where the application may hold it up; and where it may close the connection of a
 * user who was refused before it has noted why.
 */
final class RedisStaticCredentials implements RedisCredentialsProviderFactory {

    @Override
    public RedisCredentialsProvider createCredentialsProvider(RedisConfiguration details) {
        return credentials(
                RedisConfiguration.getUsernameOrElse(details, () -> null),
                RedisConfiguration.getPasswordOrElse(details, RedisPassword::none));
    }

    @Override
    public RedisCredentialsProvider createSentinelCredentialsProvider(RedisSentinelConfiguration details) {
        return credentials(details.getSentinelUsername(), details.getSentinelPassword());
    }

    private static RedisCredentialsProvider credentials(@Nullable String user, RedisPassword password) {
        String named = StringUtils.hasText(user) ? user : null;
        // A user who needs no password has to send one all the same, or would be the default user.
        char[] none = named == null ? null : new char[0];
        return new StaticCredentialsProvider(named, password.toOptional().orElse(none));
    }
}
