package io.syncguard.verification.matrix;

import io.syncguard.postgres.PostgresTables;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import org.springframework.data.redis.core.StringRedisTemplate;
import org.springframework.jdbc.core.JdbcTemplate;

/** Makes the clocks of servers jump, at the single place where the locks read them. */
final class Clocks {

    private static final String NOW = PostgresTables.DEFAULT.locks() + "_now()";

    private static final String DEFINITION = "SELECT pg_get_functiondef('" + NOW + "'::regprocedure)";

    private static final String JUMPED = """
        CREATE OR REPLACE FUNCTION %s RETURNS BIGINT LANGUAGE sql VOLATILE AS $function$
            SELECT floor(extract(epoch FROM clock_timestamp() + interval '%s') * 1000)::BIGINT
        $function$
        """;

    /** The resource with which every script begins. */
    private static final String FIRST_PART = "syncguard/redis/leases.lua";

    private static final String OFFSET = "{syncguard}:offset-of-the-clock";

    /** A prefix of the scripts that replaces the {@code redis} library and its clock. */
    private static final String MOVABLE_CLOCK = """
        local server = redis
        local redis = setmetatable({}, { __index = server })
        function redis.call(command, ...)
            local answer = server.call(command, ...)
            if command == 'TIME' then
                answer[1] = answer[1] + (server.call('GET', '%s') or 0)
            end
            return answer
        end
        """.formatted(OFFSET);

    private Clocks() {}

    /** Moves the clock of the locks in PostgreSQL, by replacing its function. */
    static Fault ofDatabase(JdbcTemplate jdbc) {
        return Fault.of(9, "the server's clock jumps by an hour, and back", random -> {
            String right = jdbc.queryForObject(DEFINITION, String.class);
            jdbc.execute(JUMPED.formatted(NOW, random.nextBoolean() ? "1 hour" : "-1 hour"));
            LinkFaults.pause(random, 100, 1000);
            jdbc.execute(right);
        });
    }

    /** Writes the script, with a clock that {@link #ofRedis} moves, to the same path below the directory. */
    static void changeScript(Path directory) {
        try (InputStream script = Clocks.class.getClassLoader().getResourceAsStream(FIRST_PART)) {
            Path changed = directory.resolve(FIRST_PART);
            Files.createDirectories(changed.getParent());
            Files.writeString(changed, MOVABLE_CLOCK + new String(script.readAllBytes(), StandardCharsets.UTF_8));
        } catch (IOException ex) {
            throw new UncheckedIOException(ex);
        }
    }

    /**
     * Moves the clock of the locks in Redis ahead and back again. It never falls behind: then the server would expire
     * the keys before the scripts do.
     */
    static Fault ofRedis(StringRedisTemplate redis) {
        return Fault.of(9, "the server's clock jumps an hour ahead, and back", random -> {
            redis.opsForValue().set(OFFSET, "3600");
            LinkFaults.pause(random, 100, 1000);
            redis.delete(OFFSET);
        });
    }
}
