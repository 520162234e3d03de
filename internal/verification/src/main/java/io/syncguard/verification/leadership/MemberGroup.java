package io.syncguard.verification.leadership;

import static java.util.function.Predicate.not;

import io.syncguard.leader.LeaderProcess;
import io.syncguard.testing.ChildJvm;
import io.syncguard.testing.ServerProxy;
import io.syncguard.verification.history.LeadershipTerms;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.awaitility.Awaitility;
import org.awaitility.core.ConditionFactory;

/** The members of an election, each in a separate process behind a separate proxy. Used by one thread. */
final class MemberGroup {

    private final LeadershipServer server;
    private final Path directory;
    private final List<Member> members = new ArrayList<>();

    /** All members, including the killed ones. */
    private final List<Member> all = new ArrayList<>();

    MemberGroup(LeadershipServer server, Path directory) {
        this.server = server;
        this.directory = directory;
    }

    /** @param name the name with the number of the process */
    record Member(int index, String name, ServerProxy proxy, ChildJvm process, Path proofs) {}

    void start(int count) {
        for (int i = 0; i < count; i++) {
            members.add(startMember(i));
        }
        members.forEach(MemberGroup::join);
    }

    /** Starts a new member instead of one that was killed, and waits for the next leader. */
    void replace(Member killed) {
        Member successor = startMember(killed.index());
        awaitSuccessor(killed);
        members.set(killed.index(), successor);
        join(successor);
    }

    List<Member> members() {
        return members;
    }

    Member awaitLeader() {
        return awaitLeader(members);
    }

    /** Waits until another member leads. */
    Member awaitSuccessor(Member leader) {
        return awaitLeader(except(leader));
    }

    private Member startMember(int index) {
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
        // The rules compare times of different processes.
        if (now < before || now > System.nanoTime()) {
            throw new IllegalStateException("System.nanoTime of two processes cannot be compared on this system");
        }
    }

    private List<Member> except(Member leader) {
        return members.stream().filter(not(leader::equals)).toList();
    }

    static boolean leads(Member member) {
        return member.process().ask("leads").equals("true");
    }

    private static Member awaitLeader(List<Member> candidates) {
        List<Member> leading = new ArrayList<>();
        eventually().until(() -> {
            candidates.stream().filter(MemberGroup::leads).forEach(leading::add);
            return !leading.isEmpty();
        });
        return leading.get(0);
    }

    /** Waits until all members except the leader are in the queue. */
    void awaitQueue() {
        awaitLeader();
        eventually().until(() -> server.waiters() == members.size() - 1);
    }

    /** Waits long enough for a campaign that pauses for seconds after errors. */
    static ConditionFactory eventually() {
        return Awaitility.await().atMost(Duration.ofMinutes(1)).pollInterval(Duration.ofMillis(5));
    }

    /** The proofs that the members have recorded so far. */
    LeadershipTerms read() {
        LeadershipTerms history = new LeadershipTerms();
        all.forEach(member -> history.read(member.proofs()));
        return history;
    }

    /** Ends the processes that still run. */
    void close() throws IOException {
        for (Member member : all) {
            member.process().close();
            member.proxy().close();
        }
    }
}
