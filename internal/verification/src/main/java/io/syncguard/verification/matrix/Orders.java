package io.syncguard.verification.matrix;

import io.syncguard.DistributedLock;
import io.syncguard.LockHandle;
import io.syncguard.LockMode;
import io.syncguard.LockRequest;
import io.syncguard.LockTemplate;
import io.syncguard.verification.matrix.Call.Kind;
import java.util.function.Consumer;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.transaction.annotation.Transactional;
import org.springframework.transaction.interceptor.TransactionAspectSupport;

/**
 * A service as users write it. The server's commit times give the order of the effects. Guarded transactions lock no
 * row of the application: only the guard keeps them in order.
 */
public class Orders {

    static final String TABLES = """
            CREATE TABLE heads (
                key TEXT NOT NULL, kind TEXT NOT NULL, version BIGINT NOT NULL, PRIMARY KEY (key, kind));
            CREATE TABLE effects (
                id BIGINT GENERATED ALWAYS AS IDENTITY, key TEXT NOT NULL, kind TEXT NOT NULL, fence BIGINT NOT NULL);
            """;

    private static final String CHANGE = """
            INSERT INTO heads VALUES (?, ?, 1) ON CONFLICT (key, kind) DO UPDATE SET version = heads.version + 1
            """;

    private static final String WRITE = "INSERT INTO effects (key, kind, fence) VALUES (?, ?, ?)";

    private final JdbcTemplate jdbc;
    private final LockTemplate template;

    public Orders(JdbcTemplate jdbc, LockTemplate template) {
        this.jdbc = jdbc;
        this.template = template;
    }

    @Transactional
    @DistributedLock(key = "#order")
    public void guarded(String order, Consumer<LockHandle> visit) {
        visitAndWrite(Kind.GUARDED, visit);
    }

    /** @param undone whether the transaction is rolled back after the body has released the lock */
    @Transactional
    public void inside(String order, boolean undone, Consumer<LockHandle> visit) {
        template.executeWithoutResult(LockRequest.of(order), lock -> visitAndWrite(Kind.INSIDE, visit));
        if (undone) {
            TransactionAspectSupport.currentTransactionStatus().setRollbackOnly();
        }
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

    @DistributedLock(key = "#order", permits = "" + Call.PERMITS)
    public void permitted(String order, Consumer<LockHandle> visit) {
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
        if (kind == Kind.FENCED || kind == Kind.PLAIN) {
            jdbc.update(CHANGE, lock.key(), kind.name());
        }
        jdbc.update(WRITE, lock.key(), kind.name(), lock.fence().value());
    }

    private static LockHandle current() {
        return LockHandle.current().orElseThrow();
    }
}
