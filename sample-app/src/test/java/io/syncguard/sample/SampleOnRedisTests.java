package io.syncguard.sample;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.test.web.server.LocalServerPort;
import org.springframework.data.redis.core.StringRedisTemplate;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.test.context.ActiveProfiles;
import org.springframework.test.context.TestPropertySource;

/**
 * The walk-through of {@link SampleApplicationTests} with the locks in a Redis of the instance's own.
 */
@ActiveProfiles("redis")
@TestPropertySource(properties = "sample.redis-port=0")
@Tag("verification")
class SampleOnRedisTests extends SampleApplicationTests {

    SampleOnRedisTests(@LocalServerPort int port) {
        super(port);
    }

    @Test
    void locksAreInRedisAndOrdersInPostgreSql(@Autowired StringRedisTemplate redis, @Autowired JdbcClient jdbc) {
        assertThat(post("/orders/44/submit").join().statusCode()).isEqualTo(200);

        long fence = Long.parseLong(redis.opsForValue().get("{syncguard}:fence:order:44"));
        assertThat(fence).as("by the clock").isGreaterThan(17_000_000_000_000L);
        assertThat(jdbc.sql("SELECT fence FROM processed_orders WHERE order_id = 44")
                        .query(Long.class)
                        .single())
                .isEqualTo(fence);
        assertThat(jdbc.sql("SELECT to_regclass('syncguard_locks')")
                        .query(String.class)
                        .optional())
                .isEmpty();
    }
}
