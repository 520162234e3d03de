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

    private final Supplier<RedisConfiguration> details;

    /** @param details returns those that the application has at that moment */
    RedisConfiguredCredentials(Supplier<RedisConfiguration> details) {
        this.details = details;
    }

    @Override
    public RedisCredentialsProvider createCredentialsProvider(RedisConfiguration ofStart) {
        return provider(() -> {
            RedisConfiguration now = details.get();
            return credentials(
                    RedisConfiguration.getUsernameOrElse(now, () -> null),
                    RedisConfiguration.getPasswordOrElse(now, RedisPassword::none));
        });
    }

    @Override
    public RedisCredentialsProvider createSentinelCredentialsProvider(RedisSentinelConfiguration ofStart) {
        return provider(() -> {
            RedisSentinelConfiguration now = (RedisSentinelConfiguration) details.get();
            return credentials(now.getSentinelUsername(), now.getSentinelPassword());
        });
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
