package io.syncguard.leader;

import io.syncguard.LockHandle;
import io.syncguard.OneLine;
import io.syncguard.concurrent.EndingThreads;
import io.syncguard.concurrent.Shielded;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;

/**
 * The bodies that run under one term. Thread-safe.
 */
final class TermBodies implements TermBody.Hook {

    private static final Log log = LogFactory.getLog(TermBodies.class);

    private final String election;
    private final LockHandle lock;
    private final BooleanSupplier isLeader;
    private final Runnable unused;
    private final Set<TermBody> running = ConcurrentHashMap.newKeySet();

    /** @param unused runs when the last body ends after the end of the term */
    TermBodies(String election, LockHandle lock, BooleanSupplier isLeader, Runnable unused) {
        this.election = election;
        this.lock = lock;
        this.isLeader = isLeader;
        this.unused = unused;
    }

    /** Begins a body on the running thread; {@code null} when this process does not lead in this term. */
    @Nullable
    TermBody begin() {
        if (!isLeader()) {
            return null;
        }
        TermBody body = new TermBody(election, lock, this);
        running.add(body);
        // Read after the body was added: a thread that ends the term after this line finds the body.
        if (isLeader()) {
            return body;
        }
        ended(body);
        return null;
    }

    int count() {
        return running.size();
    }

    int countBeside(EndingThreads ending) {
        return (int)
                running.stream().filter(body -> !body.runsOn(ending::contains)).count();
    }

    /** Ends each body, also after a failure for another one. */
    void forEach(Consumer<TermBody> end) {
        running.forEach(body -> Shielded.run(
                () -> end.accept(body),
                log,
                () -> "A body of the leader of '" + OneLine.of(election)
                        + "' could not be informed of the end of its term"));
    }

    @Override
    public boolean isLeader() {
        return isLeader.getAsBoolean();
    }

    @Override
    public void threadInterrupted() {
        running.forEach(TermBody::interruptIfPending);
    }

    @Override
    public void ended(TermBody body) {
        running.remove(body);
        if (running.isEmpty() && !isLeader()) {
            unused.run();
        }
    }
}
