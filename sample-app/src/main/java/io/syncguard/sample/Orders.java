package io.syncguard.sample;

import io.syncguard.Fence;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.OffsetDateTime;
import java.util.Optional;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.stereotype.Repository;

/**
 * The table of the processed orders.
 */
@Repository
class Orders {

    private static final String FIND =
            "SELECT order_id, fence, processed_at FROM processed_orders WHERE order_id = :orderId";

    private static final String ADD = "INSERT INTO processed_orders (order_id, fence) VALUES (:orderId, :fence)";

    private static final String COUNT_TODAY =
            "SELECT count(*) FROM processed_orders WHERE processed_at >= current_date";

    private static final String COUNT = "SELECT count(*) FROM processed_orders";

    private final JdbcClient jdbc;

    Orders(JdbcClient jdbc) {
        this.jdbc = jdbc;
    }

    Optional<ProcessedOrder> find(long orderId) {
        return jdbc.sql(FIND).param("orderId", orderId).query(Orders::read).optional();
    }

    ProcessedOrder add(long orderId, Fence fence) {
        jdbc.sql(ADD).param("orderId", orderId).param("fence", fence.value()).update();
        return find(orderId).orElseThrow();
    }

    long countToday() {
        return jdbc.sql(COUNT_TODAY).query(Long.class).single();
    }

    long count() {
        return jdbc.sql(COUNT).query(Long.class).single();
    }

    private static ProcessedOrder read(ResultSet row, int number) throws SQLException {
        return new ProcessedOrder(
                row.getLong("order_id"),
                row.getLong("fence"),
                row.getObject("processed_at", OffsetDateTime.class).toInstant());
    }
}
