package io.syncguard.compatibility;

import io.syncguard.CommitGuard;
import io.syncguard.DistributedLock;
import io.syncguard.LockHandle;
import io.syncguard.leader.LeaderOnly;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.stereotype.Service;
import org.springframework.transaction.annotation.Transactional;

@Service
public class OrderService {

    private final JdbcTemplate jdbc;

    OrderService(JdbcTemplate jdbc) {
        this.jdbc = jdbc;
    }

    @Transactional
    @DistributedLock(
            name = "order",
            key = "#order.id",
            waitTime = "0s",
            fencedResource = "#order.id",
            commitGuard = CommitGuard.REQUIRED)
    public long submit(Order order) {
        long fence = LockHandle.current().orElseThrow().fence().value();
        jdbc.update("INSERT INTO orders VALUES (?, ?)", order.id(), fence);
        return fence;
    }

    @LeaderOnly("settlement")
    public boolean settle() {
        return LockHandle.current().isPresent();
    }
}
