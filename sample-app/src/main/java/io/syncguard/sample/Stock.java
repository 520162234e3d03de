package io.syncguard.sample;

import io.syncguard.Fence;
import org.springframework.dao.OptimisticLockingFailureException;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.stereotype.Repository;

/**
 * The table of what is available. It remembers the fence of its last change.
 */
@Repository
class Stock {

    private static final String FIND_AVAILABLE = "SELECT available FROM stock WHERE sku = :sku";

    /**
     * A writer that was paused until its lock was lost, and granted to others, comes with a smaller fence than theirs:
     * its number is out of date and changes nothing.
     */
    private static final String CHANGE =
            "UPDATE stock SET available = :available, fence = :fence WHERE sku = :sku AND fence < :fence";

    private final JdbcClient jdbc;

    Stock(JdbcClient jdbc) {
        this.jdbc = jdbc;
    }

    /** What is available of this article; 0 of one that is not kept. */
    int available(String sku) {
        return jdbc.sql(FIND_AVAILABLE)
                .param("sku", sku)
                .query(Integer.class)
                .optional()
                .orElse(0);
    }

    void change(String sku, int available, Fence fence) {
        int changed = jdbc.sql(CHANGE)
                .param("sku", sku)
                .param("available", available)
                .param("fence", fence.value())
                .update();
        if (changed == 0) {
            throw new OptimisticLockingFailureException(
                    "The stock of " + sku + " was changed under a later fence than " + fence);
        }
    }
}
