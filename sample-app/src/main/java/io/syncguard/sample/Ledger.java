package io.syncguard.sample;

import io.syncguard.Fence;
import io.syncguard.fencing.FenceGuard;
import java.time.OffsetDateTime;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.stereotype.Repository;
import org.springframework.transaction.annotation.Transactional;

/**
 * The ledger of the accounting, in place of an external service. It refuses a smaller fence than it has seen, so a
 * leader that was paused until another one led cannot change it.
 */
@Repository
class Ledger {

    private static final String BOOK = """
            UPDATE ledger SET orders = :orders, fence = :fence, booked_at = now() WHERE account = 'sales'
            """;

    private static final String READ = "SELECT orders, fence, booked_at FROM ledger WHERE account = 'sales'";

    private final JdbcClient jdbc;
    private final FenceGuard fences;

    Ledger(JdbcClient jdbc, FenceGuard fences) {
        this.jdbc = jdbc;
        this.fences = fences;
    }

    @Transactional
    public void book(long orders, Fence fence) {
        fences.check("ledger", fence);
        jdbc.sql(BOOK).param("orders", orders).param("fence", fence.value()).update();
    }

    public Settlement read() {
        return jdbc.sql(READ)
                .query((row, number) -> new Settlement(
                        row.getLong("orders"),
                        row.getLong("fence"),
                        row.getObject("booked_at", OffsetDateTime.class).toInstant()))
                .single();
    }
}
