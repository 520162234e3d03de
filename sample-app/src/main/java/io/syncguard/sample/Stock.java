package io.syncguard.sample;

import io.syncguard.Fence;
import org.springframework.dao.OptimisticLockingFailureException;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.stereotype.Repository;

/**
 * The table of available quantities. Each row has the fence of its last change.
 */
@Repository
class Stock {

    private static final String FIND_AVAILABLE = "SELECT available FROM stock WHERE sku = :sku";

    /**
     * Changes nothing for a writer that was paused until it lost its lock to another one. Its fence is smaller than the
     * fence of the other one, and its quantity is out of date.
     */
    private static final String CHANGE =
            "UPDATE stock SET available = :available, fence = :fence WHERE sku = :sku AND fence < :fence";

    private final JdbcClient jdbc;

    Stock(JdbcClient jdbc) {
        this.jdbc = jdbc;
    }

    /** Returns the available quantity of an article; 0 if there is no such article. */
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
