package io.syncguard.aop;

import io.syncguard.DistributedLock;
import io.syncguard.LockHandle;
import io.syncguard.OnContention;
import io.syncguard.OnLost;
import java.io.IOException;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Future;
import org.jspecify.annotations.Nullable;

/** Methods that return futures of all kinds. The caller completes them. */
class Imports {

    private @Nullable LockHandle handle;

    @DistributedLock(name = "import")
    public CompletableFuture<@Nullable String> future(CompletableFuture<@Nullable String> source) {
        handle = LockHandle.current().orElseThrow();
        return source;
    }

    @DistributedLock(name = "import")
    public CompletionStage<@Nullable String> stage(CompletionStage<@Nullable String> source) {
        return source;
    }

    @DistributedLock(name = "import")
    public Future<@Nullable String> plain(Future<@Nullable String> source) {
        handle = LockHandle.current().orElseThrow();
        return source;
    }

    @DistributedLock(name = "import")
    public Object undeclared(Object source) {
        return source;
    }

    @DistributedLock(name = "import")
    public <T> T generic(T source) {
        return source;
    }

    @DistributedLock(name = "import")
    public @Nullable CompletableFuture<String> none() {
        return null;
    }

    @DistributedLock(name = "import")
    public CompletableFuture<String> failing() throws IOException {
        throw new IOException("before the future");
    }

    @DistributedLock(name = "import", key = "#ids", onContention = OnContention.SKIP)
    public CompletableFuture<@Nullable String> all(List<String> ids, CompletableFuture<@Nullable String> source) {
        return source;
    }

    @DistributedLock(name = "short", ttl = "300ms")
    public CompletableFuture<@Nullable String> shortLived(CompletableFuture<@Nullable String> source) {
        return source;
    }

    @DistributedLock(name = "import", onLost = OnLost.NOTIFY)
    public CompletableFuture<@Nullable String> notified(CompletableFuture<@Nullable String> source) {
        handle = LockHandle.current().orElseThrow();
        return source;
    }

    LockHandle handle() {
        if (handle == null) {
            throw new AssertionError("No body has run");
        }
        return handle;
    }
}
