package io.syncguard.verification.matrix;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import org.springframework.data.redis.core.StringRedisTemplate;
import org.springframework.jdbc.core.JdbcTemplate;

/** Clocks of servers that jump, at the one place where the locks read them. */
final class Clocks {

    private static final String SCRIPT_WITH_CLOCK = "syncguard/redis/leases.lua";

    private static final String CLOCK = "clock_timestamp()";

    private static final String TIME = "local time = redis.call('TIME')";

    private static final String OFFSET = "{syncguard}:offset-of-the-clock";

    private Clocks() {}

    /** The clock of the locks in PostgreSQL, by another text of its function. */
    static Fault ofDatabase(JdbcTemplate jdbc) {
        return Fault.of(9, "the server's clock jumps by an hour, and back", random -> {
            String function =
                    jdbc.queryForObject("SELECT pg_get_functiondef('syncguard_locks_now'::regproc)", String.class);
            if (!function.contains(CLOCK)) {
                throw new IllegalStateException("The locks read the time in another way: " + function);
            }
            String hour = random.nextBoolean() ? "1 hour" : "-1 hour";
            jdbc.execute(function.replace(CLOCK, "(" + CLOCK + " + interval '" + hour + "')"));
            LinkFaults.pause(random, 100, 1000);
            jdbc.execute(function);
        });
    }

    /** Writes the script with a clock that {@link #ofRedis} moves, to the same place below the directory. */
    static void changeScript(Path directory) {
        try (InputStream script = Clocks.class.getClassLoader().getResourceAsStream(SCRIPT_WITH_CLOCK)) {
            String text = new String(script.readAllBytes(), StandardCharsets.UTF_8);
            if (!text.contains(TIME)) {
                throw new IllegalStateException(SCRIPT_WITH_CLOCK + " reads the time in another way");
            }
            Path changed = directory.resolve(SCRIPT_WITH_CLOCK);
            Files.createDirectories(changed.getParent());
            Files.writeString(
                    changed,
                    text.replace(TIME, TIME + "\ntime[1] = time[1] + (redis.call('GET', '" + OFFSET + "') or 0)"));
        } catch (IOException ex) {
            throw new UncheckedIOException(ex);
        }
    }

    /**
     * The clock of the locks in Redis. Only ahead, and back: with that clock behind, the server would expire the keys
     * before the scripts do.
     */
    static Fault ofRedis(StringRedisTemplate redis) {
        return Fault.of(9, "the server's clock jumps an hour ahead, and back", random -> {
            redis.opsForValue().set(OFFSET, "3600");
            LinkFaults.pause(random, 100, 1000);
            redis.delete(OFFSET);
        });
    }
}
