package io.syncguard.verification.leadership;

import static java.util.function.Predicate.not;

import io.syncguard.leader.LeaderProcess;
import io.syncguard.testing.ChildJvm;
import io.syncguard.testing.ServerProxy;
import io.syncguard.testing.ThreadShortage;
import io.syncguard.verification.StressSettings;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.Stream;
import org.awaitility.Awaitility;
import org.awaitility.core.ConditionFactory;
import org.springframework.util.FileSystemUtils;

/**
 * One run: starts members in separate processes, each behind a separate proxy, disturbs the leader and the shared
 * server, and reads the proofs.
 */
final class LeadershipRun {

    private static final long SECOND = 1_000_000_000;

    private static final long TTL_NANOS = LeaderProcess.TTL.toNanos();

    /** A fault of the leader or of the server. */
    enum Fault {
        RESIGNED(true, LeadershipRun::resign),
        PAUSED(true, LeadershipRun::pause),
        SHORT_OF_THREADS(true, LeadershipRun::takeThreads),
        KILLED(true, LeadershipRun::kill),
        SILENCED(true, LeadershipRun::silence),
        CUT(false, LeadershipRun::cut),
        RESET(false, LeadershipRun::reset),
        DELAYED(false, LeadershipRun::delay),
        SERVER_RESTARTED(false, LeadershipRun::restartServer);

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
        void on(LeadershipRun run, Member leader) throws Exception;
    }

    /** @param name the name with the number of the process */
    private record Member(int index, String name, ServerProxy proxy, ChildJvm process, Path proofs) {}

    private final StressSettings settings;
    private final Random random;
    private final Path directory;
    private final LeadershipServer server;
    private final List<Member> members = new ArrayList<>();
    private final List<Member> all = new ArrayList<>();

    /** The times of the faults. */
    private final Map<Fault, List<Long>> faults = new EnumMap<>(Fault.class);

    LeadershipRun(StressSettings settings, LeadershipServer.Starter starter) throws IOException {
        this.settings = settings;
        this.random = new Random(settings.seed());
        this.directory = settings.newDirectory("leadership");
        this.server = starter.start(directory);
    }

    LeadershipHistory run() throws Exception {
        long end = System.nanoTime() + settings.seconds() * SECOND;
        for (int i = 0; i < settings.workers(); i++) {
            members.add(start(i));
        }
        members.forEach(LeadershipRun::join);
        awaitQueue();
        for (Fault fault : eachOnce()) {
            inject(fault);
        }
        List<Fault> repeated = new ArrayList<>(Fault.possible());
        while (System.nanoTime() < end) {
            inject(repeated.get(random.nextInt(repeated.size())));
        }
        awaitLeader(members);
        return eventually().until(this::read, this::isComplete);
    }

    private LeadershipHistory read() {
        LeadershipHistory history = new LeadershipHistory();
        all.forEach(member -> history.read(member.name(), member.proofs()));
        return history;
    }

    /** Whether the leader after the last fault has recorded a proof. */
    private boolean isComplete(LeadershipHistory history) {
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

    /**
     * Each fault once. The lack of threads comes first, before threads for messages exist; the first resignation finds
     * all members idle.
     */
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
            leader = awaitLeader(members);
            moment = System.nanoTime();
            // It may have lost the lock during the questions to the others. If it still leads now, every later term
            // begins later.
        } while (!leads(leader));
        faults.computeIfAbsent(fault, unknown -> new ArrayList<>()).add(moment);
        fault.action.on(this, leader);
    }

    private void resign(Member leader) {
        leader.process().ask("resign");
    }

    private void pause(Member leader) {
        leader.process().pause();
        awaitLeader(except(leader));
        leader.process().resume();
        // Waits for its answer, so it runs again.
        leader.process().ask("leads");
    }

    private void kill(Member leader) {
        leader.process().kill();
        leader.proxy().close();
        Member successor = start(leader.index());
        awaitLeader(except(leader));
        members.set(leader.index(), successor);
        join(successor);
    }

    /**
     * No process can start a thread while one leader resigns and the next one loses the lock. All are connected before:
     * a driver may need a thread to connect.
     */
    private void takeThreads(Member leader) {
        awaitQueue();
        members.forEach(member -> member.process().takeThreads("short of threads"));
        leader.process().ask("resign");
        Member successor = awaitLeader(except(leader));
        successor.proxy().fallSilent();
        awaitLeader(except(successor));
        successor.proxy().speakAgain();
        members.forEach(member -> member.process().giveThreads("enough threads"));
        awaitQueue();
    }

    private void silence(Member leader) {
        leader.proxy().fallSilent();
        awaitLeader(except(leader));
        leader.proxy().speakAgain();
    }

    private void cut(Member leader) {
        leader.proxy().cut();
    }

    private void reset(Member leader) {
        leader.proxy().reset();
    }

    /** Confirmations come later and later, and at last after the end of the lease. */
    private void delay(Member leader) {
        for (int tenths = 3; tenths <= 12; tenths += 3) {
            leader.proxy().delayAnswers(LeaderProcess.TTL.multipliedBy(tenths).dividedBy(10));
            LockSupport.parkNanos(TTL_NANOS / 2);
        }
        leader.proxy().delayAnswers(Duration.ZERO);
    }

    private void restartServer(Member leader) {
        server.stop();
        LockSupport.parkNanos(TTL_NANOS);
        server.start();
    }

    private Member start(int index) {
        String name = index + "." + all.size();
        ServerProxy proxy = server.newProxy();
        Path proofs = directory.resolve(name);
        ChildJvm process = ChildJvm.start(LeaderProcess.class, proxy.url(), proofs.toString());
        Member member = new Member(index, name, proxy, process, proofs);
        all.add(member);
        return member;
    }

    private static void join(Member member) {
        member.process().ask("leads");
        long before = System.nanoTime();
        long now = Long.parseLong(member.process().ask("now"));
        // The rules rely on that.
        if (now < before || now > System.nanoTime()) {
            throw new IllegalStateException("System.nanoTime of two processes cannot be compared on this system");
        }
    }

    private List<Member> except(Member leader) {
        return members.stream().filter(not(leader::equals)).toList();
    }

    private static boolean leads(Member member) {
        return member.process().ask("leads").equals("true");
    }

    private static Member awaitLeader(List<Member> candidates) {
        List<Member> leading = new ArrayList<>();
        eventually().until(() -> {
            candidates.stream().filter(LeadershipRun::leads).forEach(leading::add);
            return !leading.isEmpty();
        });
        return leading.get(0);
    }

    /** All but the leader wait for their turn. */
    private void awaitQueue() {
        awaitLeader(members);
        eventually().until(() -> server.waiters() == members.size() - 1);
    }

    /** A campaign may rest for seconds after errors. */
    private static ConditionFactory eventually() {
        return Awaitility.await().atMost(Duration.ofMinutes(1)).pollInterval(Duration.ofMillis(5));
    }

    /** Ends whatever is left of it. */
    void stop() throws IOException {
        for (Member member : all) {
            member.process().close();
            member.proxy().close();
        }
        server.close();
    }

    /** Nobody needs the files of a run that found nothing. */
    void deleteFiles() throws IOException {
        FileSystemUtils.deleteRecursively(directory);
    }
}
