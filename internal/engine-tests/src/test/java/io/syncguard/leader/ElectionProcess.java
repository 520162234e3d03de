package io.syncguard.leader;

import io.syncguard.LockHandle;
import io.syncguard.LockListener;
import io.syncguard.LockRequest;
import io.syncguard.core.DefaultSettings;
import io.syncguard.core.LockEngine;
import io.syncguard.core.TransactionBoundary;
import io.syncguard.memory.InMemoryLockBackend;
import io.syncguard.memory.InMemoryStore;
import io.syncguard.testing.ChildJvm;
import io.syncguard.testing.ThreadShortage;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.Collectors;

/** A process with two members of an election and some locks, all in memory: the main class of a {@link ChildJvm}. */
final class ElectionProcess {

    private static final String NAME = "scheduler";

    private final InMemoryStore store = new InMemoryStore();
    private final LockEngine locks = engine();
    private final List<String> events = new CopyOnWriteArrayList<>();
    private final LeaderElection one = election("one", locks);
    private final LeaderElection two = election("two", engine());
    private final AtomicReference<LockHandle> lost = new AtomicReference<>();

    /** Used only by the thread that answers. */
    private ThreadShortage shortage;

    public static void main(String[] arguments) throws IOException {
        ElectionProcess process = new ElectionProcess();
        ChildJvm.serve(process::answer);
    }

    private String answer(String question) {
        return switch (question) {
            case "join" -> {
                one.join(NAME).runWhileLeader(term -> events.add("one works"));
                while (!one.isLeader(NAME)) {
                    Thread.onSpinWait();
                }
                two.join(NAME);
                lost.set(locks.acquire(LockRequest.of("lost").noHeartbeat()));
                lost.get().onLost(() -> events.add("callback of a loss"));
                yield "joined";
            }
            case "exhaust" -> {
                shortage = ThreadShortage.begin();
                yield "exhausted";
            }
            case "make a thread" -> ThreadShortage.isOver() ? "made" : "none can be made";
            case "resign" -> {
                (one.isLeader(NAME) ? one : two).member(NAME).resign();
                yield "resigned";
            }
            case "lose" -> {
                store.expire("leader:" + NAME);
                store.expire("lost");
                yield "lost: " + !lost.get().extend(Duration.ofSeconds(30));
            }
            case "release" -> {
                LockHandle lock = locks.acquire(LockRequest.of("released"));
                yield "released: " + lock.release() + ", taken: " + locks.isLocked("released");
            }
            case "join another" -> join();
            case "recover" -> {
                shortage.end();
                yield "recovers";
            }
            case "events" -> events.stream().sorted().collect(Collectors.joining(", "));
            default -> throw new IllegalArgumentException(question);
        };
    }

    private String join() {
        try {
            return "joined: " + one.join("another").isJoined();
        } catch (OutOfMemoryError ex) {
            return "joined: " + one.member("another").isJoined() + ", " + ex.getMessage();
        }
    }

    private LockEngine engine() {
        return new LockEngine(
                new InMemoryLockBackend(store),
                DefaultSettings.of("test"),
                TransactionBoundary.NONE,
                List.<LockListener>of());
    }

    private LeaderElection election(String member, LockEngine engine) {
        LeaderElection election = new LeaderElection(engine, member, Duration.ofSeconds(10));
        election.addListener(new LeaderListener() {
            @Override
            public void elected(LeaderElectedEvent event) {
                events.add(member + " elected " + event.fence().value());
            }

            @Override
            public void revoked(LeaderRevokedEvent event) {
                events.add(member + " revoked " + event.fence().value() + " " + event.reason());
            }
        });
        election.start();
        election.define(NAME, LeaderSettings.of(Duration.ofSeconds(3)).fenceRotation(Duration.ZERO), engine);
        return election;
    }
}
