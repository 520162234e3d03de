package io.syncguard.redis;

import io.lettuce.core.RedisCredentials;
import io.lettuce.core.RedisCredentialsProvider;
import io.lettuce.core.RedisCredentialsProvider.ImmediateRedisCredentialsProvider;
import java.time.Duration;
import java.util.Objects;
import java.util.function.BiFunction;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import org.springframework.data.redis.connection.RedisConfiguration;
import org.springframework.data.redis.connection.RedisPassword;
import org.springframework.data.redis.connection.RedisSentinelConfiguration;
import org.springframework.data.redis.connection.lettuce.RedisCredentialsProviderFactory;
import org.springframework.util.StringUtils;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/**
 * Reads user and password for each connection from what the application has at that moment: its credentials provider,
 * otherwise its connection details. If it has no provider at the start, the driver reads this one in its event loop. It
 * would read others in the common pool, where the application may delay it, and where it may close the connection of a
 * refused user before it has recorded the reason.
 */
final class RedisConfiguredCredentials implements RedisCredentialsProviderFactory {

    /** The wait, in the event loop, for a provider that came after the start. */
    private static final Duration LONGEST_WAIT = Duration.ofSeconds(1);

    private final RedisApplication application;

    RedisConfiguredCredentials(RedisApplication application) {
        this.application = application;
    }

    /** A connection to one server asks it what it is: a sentinel gets the password of sentinels. */
    @Override
    public RedisCredentialsProvider createCredentialsProvider(RedisConfiguration server) {
        if (application.details() instanceof RedisSentinelConfiguration sentinels && server != sentinels) {
            return createSentinelCredentialsProvider(sentinels);
        }
        return provider(
                RedisCredentialsProviderFactory::createCredentialsProvider,
                now -> credentials(
                        RedisConfiguration.getUsernameOrElse(now, () -> null),
                        RedisConfiguration.getPasswordOrElse(now, RedisPassword::none)));
    }

    @Override
    public RedisCredentialsProvider createSentinelCredentialsProvider(RedisSentinelConfiguration ofStart) {
        return provider(
                (factory, now) -> factory.createSentinelCredentialsProvider((RedisSentinelConfiguration) now), now -> {
                    RedisSentinelConfiguration sentinels = (RedisSentinelConfiguration) now;
                    return credentials(sentinels.getSentinelUsername(), sentinels.getSentinelPassword());
                });
    }

    private RedisCredentialsProvider provider(
            BiFunction<RedisCredentialsProviderFactory, RedisConfiguration, @Nullable RedisCredentialsProvider>
                    provided,
            Function<RedisConfiguration, RedisCredentials> configured) {
        Following following = new Following(application, provided, configured);
        ImmediateRedisCredentialsProvider immediate =
                () -> Objects.requireNonNull(following.resolveCredentials().block(LONGEST_WAIT));
        return application.credentials() == null ? immediate : following;
    }

    /** Asks the provider that the application has at that moment, and makes one for each factory of providers. */
    private static final class Following implements RedisCredentialsProvider {

        private final RedisApplication application;
        private final BiFunction<
                        RedisCredentialsProviderFactory, RedisConfiguration, @Nullable RedisCredentialsProvider>
                provided;
        private final Function<RedisConfiguration, RedisCredentials> configured;

        private volatile @Nullable Made latest;

        private record Made(RedisCredentialsProviderFactory factory, RedisCredentialsProvider provider) {}

        Following(
                RedisApplication application,
                BiFunction<RedisCredentialsProviderFactory, RedisConfiguration, @Nullable RedisCredentialsProvider>
                        provided,
                Function<RedisConfiguration, RedisCredentials> configured) {
            this.application = application;
            this.provided = provided;
            this.configured = configured;
        }

        @Override
        public Mono<RedisCredentials> resolveCredentials() {
            return Mono.defer(() -> now().resolveCredentials());
        }

        @Override
        public boolean supportsStreaming() {
            return now().supportsStreaming();
        }

        @Override
        public Flux<RedisCredentials> credentials() {
            return now().credentials();
        }

        private RedisCredentialsProvider now() {
            RedisConfiguration details = application.current();
            RedisCredentialsProviderFactory factory = application.credentials();
            if (factory == null) {
                return ofDetails(details);
            }
            Made known = latest;
            if (known == null || known.factory() != factory) {
                RedisCredentialsProvider made = provided.apply(factory, details);
                known = new Made(factory, made == null ? ofDetails(details) : made);
                latest = known;
            }
            return known.provider();
        }

        private RedisCredentialsProvider ofDetails(RedisConfiguration details) {
            return () -> Mono.just(configured.apply(details));
        }
    }

    private static RedisCredentials credentials(@Nullable String user, RedisPassword password) {
        String named = StringUtils.hasText(user) ? user : null;
        // A user without a password has to send an empty one. Without it, the server would choose the default user.
        char[] none = named == null ? null : new char[0];
        return RedisCredentials.just(named, password.toOptional().orElse(none));
    }
}
