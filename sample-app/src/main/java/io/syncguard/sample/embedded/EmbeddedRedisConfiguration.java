package io.syncguard.sample.embedded;

import io.syncguard.embedded.SharedRedis;
import io.syncguard.embedded.SharedServer;
import java.io.IOException;
import org.springframework.beans.factory.annotation.Value;
import org.springframework.boot.autoconfigure.condition.ConditionalOnProperty;
import org.springframework.boot.data.redis.autoconfigure.DataRedisConnectionDetails;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Profile;

/**
 * Starts a Redis for the sample, unless {@code spring.data.redis.url} names one.
 */
@Configuration(proxyBeanMethods = false)
@Profile("redis")
// Matches only if the property is missing, because no URL has this value. Spring Boot has no condition for a missing
// property.
@ConditionalOnProperty(name = "spring.data.redis.url", havingValue = "embedded", matchIfMissing = true)
class EmbeddedRedisConfiguration {

    private static final String REMEDY =
            "set sample.redis-port to a free port, or spring.data.redis.url to your own server";

    /**
     * The connection factory is built on this bean, so Spring closes it after the last connection of the locks is
     * closed.
     */
    @Bean
    SharedRedis sharedRedis(@Value("${sample.redis-port}") int port) throws IOException, InterruptedException {
        return SharedRedis.join(new SharedServer("syncguard-sample-redis", port, REMEDY));
    }

    @Bean
    DataRedisConnectionDetails redisConnectionDetails(SharedRedis redis) {
        return new DataRedisConnectionDetails() {
            @Override
            public Standalone getStandalone() {
                return Standalone.of(redis.host(), redis.port());
            }
        };
    }
}
