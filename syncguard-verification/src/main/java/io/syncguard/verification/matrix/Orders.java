package io.syncguard.verification.matrix;

import io.syncguard.DistributedLock;
import io.syncguard.LockHandle;
import io.syncguard.LockMode;
import io.syncguard.verification.matrix.Call.Kind;
import java.util.function.Consumer;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.transaction.annotation.Transactional;

/**
 * A service as users write it. The version of an order grows with each effect, in the same transaction, so the
 * versions are in the order of the commits.
 */
public class Orders {

    static final String TABLES = """
            CREATE TABLE heads (
                key TEXT NOT NULL, kind TEXT NOT NULL, version BIGINT NOT NULL, PRIMARY KEY (key, kind));
            CREATE TABLE effects (
                key TEXT NOT NULL, kind TEXT NOT NULL, version BIGINT NOT NULL, fence BIGINT NOT NULL,
                PRIMARY KEY (key, kind, version));
            """;

    private static final String WRITE = """
            WITH next AS (
                INSERT INTO heads VALUES (?, ?, 1)
                ON CONFLICT (key, kind) DO UPDATE SET version = heads.version + 1
                RETURNING version)
            INSERT INTO effects SELECT ?, ?, next.version, ? FROM next
            """;

    private final JdbcTemplate jdbc;

    public Orders(JdbcTemplate jdbc) {
        this.jdbc = jdbc;
    }

    @Transactional
    @DistributedLock(key = "#order")
    public void guarded(String order, Consumer<LockHandle> visit) {
        visitAndWrite(Kind.GUARDED, visit);
    }

    @Transactional
    @DistributedLock(key = "#order", fencedResource = "#order")
    public void fenced(String order, Consumer<LockHandle> visit) {
        visitAndWrite(Kind.FENCED, visit);
    }

    @DistributedLock(key = "#order")
    public void plain(String order, Consumer<LockHandle> visit) {
        visitAndWrite(Kind.PLAIN, visit);
    }

    @DistributedLock(key = "#order", mode = LockMode.SHARED)
    public void read(String order, Consumer<LockHandle> visit) {
        visit.accept(current());
    }

    @DistributedLock(key = "{#order, #other}")
    public void pair(String order, String other, Consumer<LockHandle> first, Consumer<LockHandle> second) {
        first.accept(LockHandle.current(order).orElseThrow());
        second.accept(LockHandle.current(other).orElseThrow());
    }

    private void visitAndWrite(Kind kind, Consumer<LockHandle> visit) {
        LockHandle lock = current();
        visit.accept(lock);
        jdbc.update(
                WRITE,
                lock.key(),
                kind.name(),
                lock.key(),
                kind.name(),
                lock.fence().value());
    }

    private static LockHandle current() {
        return LockHandle.current().orElseThrow();
    }
}
