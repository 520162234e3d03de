package io.syncguard.verification.matrix;

import io.syncguard.embedded.OwnRedis;
import io.syncguard.verification.matrix.Call.Kind;
import io.syncguard.verification.recording.StressStore;
import java.util.List;
import java.util.stream.Stream;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;
import org.springframework.data.redis.core.StringRedisTemplate;
import org.springframework.jdbc.core.JdbcTemplate;

/** A site whose locks are in Redis; the applications have a database in the shared PostgreSQL. */
interface LocksInRedis extends Site {

    /**
     * The connections and the database that all of these sites have.
     *
     * @param redis the test's connections to the servers
     * @param applications a database of this site
     */
    record Access(StringRedisTemplate redis, ApplicationDatabase applications) {

        /** Opens the connections and creates the database. */
        static Access by(LettuceConnectionFactory connections) {
            connections.afterPropertiesSet();
            connections.start();
            return new Access(new StringRedisTemplate(connections), ApplicationDatabase.create());
        }

        void close() {
            ((LettuceConnectionFactory) redis.getRequiredConnectionFactory()).destroy();
        }
    }

    Access access();

    /** The properties with which this process reaches the servers. */
    List<String> address(int process);

    /** The servers to which processes have connections. */
    List<OwnRedis> servers();

    @Override
    default List<String> properties(int process) {
        Stream<String> others = Stream.of(
                "spring.datasource.url=" + access().applications().url(),
                "syncguard.backend=redis",
                "syncguard.redis.network-timeout=" + NETWORK_TIMEOUT_MILLIS + "ms");
        return Stream.concat(address(process).stream(), others).toList();
    }

    @Override
    default List<Kind> kinds() {
        return WITH_FENCE_GUARD;
    }

    @Override
    default JdbcTemplate applications() {
        return access().applications().jdbc();
    }

    @Override
    default StressStore store() {
        return StressStore.of(access().redis());
    }

    /** The number of the library's connections. */
    @Override
    default long connections() {
        return servers().stream()
                .flatMap(server -> server.commands().clientList().lines())
                .filter(client -> client.contains("name=syncguard"))
                .count();
    }

    /** Zero, because the clients reconnect within the tolerance. */
    @Override
    default long longestPauseAfter(long outageMillis) {
        return 0;
    }
}
