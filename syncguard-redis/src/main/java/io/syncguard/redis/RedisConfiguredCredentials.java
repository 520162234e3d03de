package io.syncguard.redis;

import io.lettuce.core.RedisCredentials;
import io.lettuce.core.RedisCredentialsProvider;
import io.lettuce.core.RedisCredentialsProvider.ImmediateRedisCredentialsProvider;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.springframework.data.redis.connection.RedisConfiguration;
import org.springframework.data.redis.connection.RedisPassword;
import org.springframework.data.redis.connection.RedisSentinelConfiguration;
import org.springframework.data.redis.connection.lettuce.RedisCredentialsProviderFactory;
import org.springframework.util.StringUtils;

/**
 * Reads user and password from the connection details for each connection, because the application may change them. The
 * driver reads this kind of provider in its event loop. It would read others in the common pool, where the application
 * may delay it, and where it may close the connection of a refused user before it has recorded the reason.
 */
final class RedisConfiguredCredentials implements RedisCredentialsProviderFactory {

    @Override
    public RedisCredentialsProvider createCredentialsProvider(RedisConfiguration details) {
        return provider(() -> credentials(
                RedisConfiguration.getUsernameOrElse(details, () -> null),
                RedisConfiguration.getPasswordOrElse(details, RedisPassword::none)));
    }

    @Override
    public RedisCredentialsProvider createSentinelCredentialsProvider(RedisSentinelConfiguration details) {
        return provider(() -> credentials(details.getSentinelUsername(), details.getSentinelPassword()));
    }

    private static RedisCredentialsProvider provider(Supplier<RedisCredentials> credentials) {
        ImmediateRedisCredentialsProvider provider = credentials::get;
        return provider;
    }

    private static RedisCredentials credentials(@Nullable String user, RedisPassword password) {
        String named = StringUtils.hasText(user) ? user : null;
        // A user without a password has to send an empty one. Without it, the server would choose the default user.
        char[] none = named == null ? null : new char[0];
        return RedisCredentials.just(named, password.toOptional().orElse(none));
    }
}
