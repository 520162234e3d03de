package io.syncguard.verification.leadership;

import io.syncguard.testing.ThreadShortage;
import io.syncguard.verification.StressSettings;
import io.syncguard.verification.history.LeadershipTerms;
import io.syncguard.verification.leadership.MemberGroup.Member;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.stream.Stream;
import org.springframework.util.FileSystemUtils;

/**
 * One run. It starts members in separate processes, each behind a separate proxy, disturbs the leader and the shared
 * server, and reads the proofs.
 */
final class LeadershipRun {

    private static final long SECOND = 1_000_000_000;

    /** A fault of the leader or of the server. */
    enum Fault {
        RESIGNED(true, FaultInjector::resign),
        PAUSED(true, FaultInjector::pause),
        SHORT_OF_THREADS(true, FaultInjector::takeThreads),
        KILLED(true, FaultInjector::kill),
        SILENCED(true, FaultInjector::silence),
        CUT(false, FaultInjector::cut),
        RESET(false, FaultInjector::reset),
        DELAYED(false, FaultInjector::delay),
        SERVER_RESTARTED(false, FaultInjector::restartServer);

        private final boolean endsTerm;
        private final Action action;

        Fault(boolean endsTerm, Action action) {
            this.endsTerm = endsTerm;
            this.action = action;
        }

        static List<Fault> possible() {
            return Stream.of(values())
                    .filter(fault -> fault != SHORT_OF_THREADS || ThreadShortage.isPossible())
                    .toList();
        }

        /** Whether the fault ends the term. */
        boolean endsTerm() {
            return endsTerm;
        }
    }

    @FunctionalInterface
    private interface Action {
        void on(FaultInjector injector, Member leader) throws Exception;
    }

    private final StressSettings settings;
    private final Random random;
    private final Path directory;
    private final LeadershipServer server;
    private final MemberGroup group;
    private final FaultInjector injector;

    /** The times of the faults. */
    private final Map<Fault, List<Long>> faults = new EnumMap<>(Fault.class);

    LeadershipRun(StressSettings settings, LeadershipServer.Starter starter) throws IOException {
        this.settings = settings;
        this.random = new Random(settings.seed());
        this.directory = settings.newDirectory("leadership");
        this.server = starter.start(directory);
        this.group = new MemberGroup(server, directory);
        this.injector = new FaultInjector(group, server);
    }

    LeadershipTerms run() throws Exception {
        long end = System.nanoTime() + settings.seconds() * SECOND;
        group.start(settings.workers());
        group.awaitQueue();
        for (Fault fault : eachOnce()) {
            inject(fault);
        }
        List<Fault> repeated = new ArrayList<>(Fault.possible());
        while (System.nanoTime() < end) {
            inject(repeated.get(random.nextInt(repeated.size())));
        }
        group.awaitLeader();
        return MemberGroup.eventually().until(group::read, this::isComplete);
    }

    /** Whether the leader after the last fault has recorded a proof. */
    private boolean isComplete(LeadershipTerms history) {
        return faults.entrySet().stream()
                .filter(entry -> entry.getKey().endsTerm())
                .flatMap(entry -> entry.getValue().stream())
                .allMatch(moment -> history.nanosToNextTerm(moment).isPresent());
    }

    Map<Fault, List<Long>> faults() {
        return faults;
    }

    long seed() {
        return settings.seed();
    }

    /** Each fault once, after three resignations. At the first resignation all members are idle. */
    private List<Fault> eachOnce() {
        List<Fault> others = new ArrayList<>(Fault.possible());
        others.remove(Fault.RESIGNED);
        Collections.shuffle(others, random);
        others.addAll(0, Collections.nCopies(3, Fault.RESIGNED));
        return others;
    }

    private void inject(Fault fault) throws Exception {
        Member leader;
        long moment;
        do {
            leader = group.awaitLeader();
            moment = System.nanoTime();
            // The leader may have lost the lock while the others were asked. If it still leads, every later term
            // begins after this moment.
        } while (!MemberGroup.leads(leader));
        faults.computeIfAbsent(fault, unknown -> new ArrayList<>()).add(moment);
        fault.action.on(injector, leader);
    }

    /** Ends the processes and the server if they still run. */
    void stop() throws IOException {
        group.close();
        server.close();
    }

    /** Deletes the files of a run without a violation. */
    void deleteFiles() throws IOException {
        FileSystemUtils.deleteRecursively(directory);
    }
}
