package io.syncguard.sample;

import java.util.Objects;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.data.redis.autoconfigure.DataRedisConnectionDetails;
import org.springframework.boot.data.redis.autoconfigure.DataRedisConnectionDetails.Standalone;
import org.springframework.boot.test.web.server.LocalServerPort;
import org.springframework.test.context.ActiveProfiles;
import org.springframework.test.context.TestPropertySource;

/**
 * {@link LeadershipTests} with the lock of the leader in Redis.
 */
@ActiveProfiles("redis")
@TestPropertySource(properties = "sample.redis-port=0")
@Tag("verification")
class LeadershipOnRedisTests extends LeadershipTests {

    @Autowired
    private DataRedisConnectionDetails redis;

    LeadershipOnRedisTests(@LocalServerPort int port) {
        super(port);
    }

    @Override
    Stream<String> servers() {
        Standalone server = Objects.requireNonNull(redis.getStandalone());
        Stream<String> settings = Stream.of(
                "--spring.profiles.active=redis",
                "--spring.data.redis.url=redis://" + server.getHost() + ":" + server.getPort());
        return Stream.concat(super.servers(), settings);
    }
}
