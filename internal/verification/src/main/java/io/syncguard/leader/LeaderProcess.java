package io.syncguard.leader;

import io.syncguard.LockException;
import io.syncguard.autoconfigure.ApplicationBackend;
import io.syncguard.core.DefaultSettings;
import io.syncguard.core.LockEngine;
import io.syncguard.core.TransactionBoundary;
import io.syncguard.spi.LockBackend;
import io.syncguard.testing.ChildJvm;
import io.syncguard.testing.ThreadShortage;
import io.syncguard.verification.history.HistoryEvent;
import io.syncguard.verification.history.HistoryEvent.Kind;
import io.syncguard.verification.history.HistoryEvent.Lease;
import io.syncguard.verification.history.HistoryEvent.Outcome;
import io.syncguard.verification.recording.HistoryRecorder;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;
import org.springframework.util.function.SingletonSupplier;

/**
 * A member of an election, with a thread that continuously checks whether it leads and records each proof: the main
 * class of a {@link ChildJvm}.
 */
public final class LeaderProcess {

    public static final String ELECTION = "scheduler";

    /** Short, because a run often waits until a lease ends and its tolerance is over. */
    public static final Duration TTL = Duration.ofMillis(900);

    private static final LeaderSettings SETTINGS =
            LeaderSettings.of(TTL).heartbeat(Duration.ofMillis(250)).fenceRotation(Duration.ofMillis(400));

    /** Longer than the ttl, so that a call hangs beyond the end of the lease. */
    private static final Duration NETWORK_TIMEOUT = Duration.ofSeconds(2);

    private static final Duration WAITER_TTL = Duration.ofSeconds(2);

    private static final int STARTS = 10;

    private static final long BETWEEN_PROOFS_NANOS = 500_000;

    private final LeaderMember member;
    private final HistoryRecorder proofs;

    /** The failure that ended the observer; it records no proofs after it. */
    private volatile @Nullable Throwable failure;

    /** Used only by the thread that answers commands. */
    private @Nullable ThreadShortage shortage;

    private LeaderProcess(String url, Path proofs) {
        LockEngine locks =
                new LockEngine(backend(url), DefaultSettings.of("member"), TransactionBoundary.NONE, List.of());
        LeaderElection election = new LeaderElection(locks, "member", Duration.ofSeconds(1));
        election.start();
        this.member = election.join(ELECTION, SETTINGS);
        this.proofs = new HistoryRecorder(String.valueOf(proofs.getFileName()), proofs);
        Thread observer = new Thread(this::observe, "observer");
        observer.setDaemon(true);
        observer.start();
    }

    /** @param arguments the URL of the server, and the file for the proofs. Joins the election at the first command */
    public static void main(String[] arguments) throws IOException {
        // Created at the first command, so that the parent takes no log line for an answer.
        SingletonSupplier<LeaderProcess> process =
                SingletonSupplier.of(() -> new LeaderProcess(arguments[0], Path.of(arguments[1])));
        ChildJvm.serve(question -> process.obtain().answer(question));
    }

    /** Retries, because the first attempts may get no connection in time on a busy machine. */
    private static LockBackend backend(String url) {
        for (int tries = 1; ; tries++) {
            try {
                return ApplicationBackend.on(url, 4, NETWORK_TIMEOUT, WAITER_TTL);
            } catch (LockException ex) {
                if (tries == STARTS) {
                    throw ex;
                }
            }
        }
    }

    private String answer(String question) {
        if (failure != null) {
            throw new IllegalStateException("The check of the leadership failed", failure);
        }
        return switch (question) {
            case "now" -> String.valueOf(System.nanoTime());
            case "leads" -> String.valueOf(member.isLeader());
            case "resign" -> {
                member.resign();
                yield "resigned";
            }
            case "short of threads" -> {
                shortage = ThreadShortage.begin();
                yield "no thread can be started";
            }
            case "enough threads" -> {
                Objects.requireNonNull(shortage).end();
                yield "threads can be started";
            }
            default -> throw new IllegalArgumentException(question);
        };
    }

    private void observe() {
        try {
            observeTerms();
        } catch (RuntimeException | Error ex) {
            failure = ex;
            throw ex;
        }
    }

    private void observeTerms() {
        int number = 0;
        LeaderTerm last = null;
        while (true) {
            LeaderTerm term = member.membership().term();
            if (term != last) {
                last = term;
                number++;
            }
            if (term != null) {
                observe(term, number);
            }
            LockSupport.parkNanos(BETWEEN_PROOFS_NANOS);
        }
    }

    private void observe(LeaderTerm term, int number) {
        HistoryEvent asked = proofs.begin(Kind.LED, "observer", ELECTION, "");
        boolean leads = member.isLeader() || member.fence().isPresent();
        long fence = term.fence().value();
        HistoryEvent proof = asked.answered(System.nanoTime(), Outcome.OK)
                .with(Lease.ofFence(fence))
                .with(number);
        // Each term is a new object. If it is still the same, the check was about this term.
        if (leads && member.membership().term() == term) {
            proofs.write(proof);
        }
    }
}
