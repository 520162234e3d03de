package io.syncguard.postgres;

import io.syncguard.LockOrder;
import io.syncguard.LockQuery;
import io.syncguard.core.Requests;
import io.syncguard.core.StoreCalls;
import io.syncguard.spi.AcquireRequest;
import io.syncguard.spi.FenceSource;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import javax.sql.DataSource;
import org.springframework.jdbc.core.JdbcTemplate;

/** Each operation of a backend, by the name that {@code rights-needed.txt} has for it. */
final class PostgresOperations {

    private static final Duration TTL = Duration.ofMinutes(1);

    private final JdbcTemplate rows;
    private final DataSource role;
    private final PostgresTables tables;
    private final StoreCalls other;
    private final FenceSource fences;
    private int lockIds;

    interface Operation {
        void run() throws SQLException;
    }

    /**
     * @param owner the owner of the tables
     * @param role the role whose backends run the operations
     * @param other a backend of the owner. The owner prepares each operation, so that only the operation itself can
     *     fail
     */
    PostgresOperations(DataSource owner, DataSource role, PostgresTables tables, StoreCalls other, FenceSource fences) {
        this.rows = new JdbcTemplate(owner);
        this.role = role;
        this.tables = tables;
        this.other = other;
        this.fences = fences;
    }

    Map<String, Operation> of(StoreCalls backend) {
        Map<String, Operation> all = new LinkedHashMap<>();
        all.put("start", this::start);
        all.put("acquire", () -> backend.acquire(exclusive()));
        all.put("acquire after a lapse", () -> backend.acquire(lapsed()));
        all.put("acquire, shared", () -> backend.acquire(shared()));
        all.put("refused", () -> backend.acquire(again(held())));
        all.put("wait", () -> backend.acquire(again(held()).waitingAs(1)));
        all.put("renew queue entries", () -> backend.renewWaiters(List.of(queued().keyedLockId())));
        all.put("extend", () -> backend.extendAll(List.of(Requests.extension(held().lockId(), TTL))));
        all.put("rotate", () -> backend.rotate(Requests.extension(held().lockId(), TTL)));
        all.put("release", () -> backend.release(held().lockId()));
        all.put("release, shared", () -> backend.release(heldShared().lockId()));
        all.put("leave", () -> backend.release(queued().lockId()));
        all.put("release in the background", () -> backend.releaseAll(List.of(held().keyedLockId())));
        all.put("hold at least", () -> backend.releaseAfter(held().lockId(), Duration.ofSeconds(20)));
        all.put("force release", () -> backend.forceRelease(held().key()));
        all.put("isLocked", () -> backend.isLocked("a"));
        all.put("lookup", () -> backend.lookup("a"));
        all.put("lookup by lock id", () -> backend.lookupById(newLockId()));
        all.put("list", () -> backend.list(LockQuery.all()));
        all.put(
                "search",
                () -> backend.list(LockQuery.all()
                        .startingWith("a")
                        .containing("a")
                        .owner("a")
                        .waitedFor()
                        .orderedBy(LockOrder.ENDS_FIRST)));
        all.put("summary", backend::summary);
        all.put("status", () -> backend.status("a"));
        all.put("blocking sessions", () -> backend.blockingSessions("a"));
        all.put("sweep", () -> sql("SELECT ${syncguard_locks}_sweep(ARRAY['" + lapsed().key() + "'])"));
        all.put("forget", () -> {
            other.release(held().lockId());
            rows.update(tables.fill("UPDATE ${syncguard_fence_counters} SET fence = 1"));
            sql("SELECT ${syncguard_locks}_forget('', 0::BIGINT)");
        });
        return all;
    }

    void start() {
        new PostgresSchema(role, tables, fences).initialize();
    }

    /** Runs a statement of the sweeper, which itself would need some time to send it. */
    private void sql(String statement) throws SQLException {
        try (Connection connection = new LockSessions(role, tables).open();
                Statement running = connection.createStatement()) {
            running.execute(tables.fill(statement));
        }
    }

    private String newLockId() {
        return String.format(Locale.ROOT, "%022d", ++lockIds);
    }

    private AcquireRequest exclusive() {
        return Requests.exclusive("key " + newLockId(), newLockId(), TTL, "test");
    }

    private AcquireRequest shared() {
        return Requests.shared("key " + newLockId(), newLockId(), TTL, "test");
    }

    private AcquireRequest again(AcquireRequest request) {
        return Requests.exclusive(request.key(), newLockId(), TTL, "test");
    }

    AcquireRequest held() {
        AcquireRequest request = exclusive();
        other.acquire(request);
        return request;
    }

    private AcquireRequest heldShared() {
        AcquireRequest request = shared();
        other.acquire(request);
        return request;
    }

    private AcquireRequest queued() {
        AcquireRequest request = again(held()).waitingAs(1);
        other.acquire(request);
        return request;
    }

    private AcquireRequest lapsed() {
        AcquireRequest request = held();
        rows.update(tables.fill("UPDATE ${syncguard_locks} SET expires_at_ms = 0 WHERE key = ?::TEXT"), request.key());
        return again(request);
    }
}
