package io.syncguard.sample;

import io.syncguard.Fence;
import java.time.OffsetDateTime;
import org.springframework.dao.OptimisticLockingFailureException;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.stereotype.Repository;

/**
 * The ledger of the accounting, in place of an external service. It remembers the largest fence that it has seen, and
 * refuses smaller ones.
 */
@Repository
class Ledger {

    /**
     * A leader that was paused until another one led has a smaller fence, and changes nothing. The same fence is
     * accepted, because a leader books many times under it.
     */
    private static final String BOOK = """
            UPDATE ledger SET orders = :orders, fence = :fence, booked_at = now()
            WHERE account = 'sales' AND fence <= :fence
            """;

    private static final String READ = "SELECT orders, fence, booked_at FROM ledger WHERE account = 'sales'";

    private final JdbcClient jdbc;

    Ledger(JdbcClient jdbc) {
        this.jdbc = jdbc;
    }

    void book(long orders, Fence fence) {
        int booked = jdbc.sql(BOOK)
                .param("orders", orders)
                .param("fence", fence.value())
                .update();
        if (booked == 0) {
            throw new OptimisticLockingFailureException("The ledger has seen a later fence than " + fence);
        }
    }

    Settlement read() {
        return jdbc.sql(READ)
                .query((row, number) -> new Settlement(
                        row.getLong("orders"),
                        row.getLong("fence"),
                        row.getObject("booked_at", OffsetDateTime.class).toInstant()))
                .single();
    }
}
