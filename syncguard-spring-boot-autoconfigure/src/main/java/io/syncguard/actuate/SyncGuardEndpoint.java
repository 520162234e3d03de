package io.syncguard.actuate;

import io.syncguard.ForcedRelease;
import io.syncguard.LockErrorCode;
import io.syncguard.LockException;
import io.syncguard.LockPage;
import io.syncguard.core.LockEngine;
import io.syncguard.core.ProcessStatus;
import io.syncguard.leader.LeaderElection;
import io.syncguard.leader.LeaderMember;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.actuate.endpoint.Access;
import org.springframework.boot.actuate.endpoint.InvalidEndpointRequestException;
import org.springframework.boot.actuate.endpoint.Show;
import org.springframework.boot.actuate.endpoint.annotation.DeleteOperation;
import org.springframework.boot.actuate.endpoint.annotation.Endpoint;
import org.springframework.boot.actuate.endpoint.annotation.ReadOperation;
import org.springframework.boot.actuate.endpoint.annotation.Selector;

/**
 * The endpoint {@code syncguard}: who holds which lock, who waits for it and why, and a release by force.
 *
 * <p>A release by force needs {@code management.endpoint.syncguard.access=unrestricted}.
 */
@Endpoint(id = "syncguard", defaultAccess = Access.READ_ONLY)
// Spring Boot 3 knows optional parameters by the deprecated annotation alone.
@SuppressWarnings("deprecation")
public final class SyncGuardEndpoint {

    private final Map<String, LockEngine> managers;
    private final Supplier<@Nullable LeaderElection> election;
    private final EventJournal journal;
    private final Show showValues;
    private final PageCursor cursor = new PageCursor();

    /**
     * @param managers by the names of their beans, the primary one first
     * @param election in which this process may take part
     * @param journal receives the events of this process
     * @param showValues when keys are shown; their hashes are shown otherwise
     */
    public SyncGuardEndpoint(
            Map<String, LockEngine> managers,
            Supplier<@Nullable LeaderElection> election,
            EventJournal journal,
            Show showValues) {
        this.managers = managers;
        this.election = election;
        this.journal = journal;
        this.showValues = showValues;
    }

    /**
     * A page of the locks of each manager, and what happened in this process.
     *
     * @param prefix with what their keys begin
     * @param key the only key to look at
     * @param after {@code next} of the page before
     * @param limit how many at most, 100 if not given
     * @param since the number of the last event that is known
     */
    @ReadOperation
    public LocksDescriptor locks(
            @org.springframework.lang.Nullable @Nullable String prefix,
            @org.springframework.lang.Nullable @Nullable String key,
            @org.springframework.lang.Nullable @Nullable String after,
            @org.springframework.lang.Nullable @Nullable Integer limit,
            @org.springframework.lang.Nullable @Nullable Long since) {
        return locks(new LocksQuestion(prefix, key, after, limit, since), showValues == Show.ALWAYS);
    }

    /**
     * One lock.
     *
     * @param manager the name of a bean; the primary manager if not given
     * @return {@code null} if nobody holds the key or waits for it
     */
    @ReadOperation
    public @Nullable LockDescriptor lock(
            @Selector String key, @org.springframework.lang.Nullable @Nullable String manager) {
        return lock(key, manager, showValues == Show.ALWAYS).orElse(null);
    }

    /**
     * Ends all leases of a key, and lets those who wait for it go on.
     *
     * @param reason for the log, and for the listeners
     */
    @DeleteOperation
    public ForcedReleaseDescriptor forceRelease(
            @Selector String key,
            @org.springframework.lang.Nullable @Nullable String manager,
            @org.springframework.lang.Nullable @Nullable String reason) {
        return forceRelease(key, manager, reason, "somebody through JMX", showValues == Show.ALWAYS);
    }

    LocksDescriptor locks(LocksQuestion question, boolean showKeys) {
        Advisor advisor = new Advisor(showKeys);
        Map<String, LocksDescriptor.Manager> found = new TreeMap<>();
        managers.forEach((name, engine) -> found.put(name, manager(engine, question, advisor, showKeys)));
        Map<String, NameDescriptor> names = journal.names();
        names.forEach(advisor::lookAt);
        return new LocksDescriptor(showKeys, found, elections(), names, events(question, showKeys), advisor.advice());
    }

    Optional<LockDescriptor> lock(String key, @Nullable String manager, boolean showKeys) {
        return describe(engine(manager), key, showKeys);
    }

    ForcedReleaseDescriptor forceRelease(
            String key, @Nullable String manager, @Nullable String reason, String user, boolean showKeys) {
        ForcedRelease done = valid(() -> engine(manager)
                .forceRelease(key, "by " + user + ": " + (reason == null ? "no reason was given" : reason)));
        return ForcedReleaseDescriptor.of(done, showKeys);
    }

    private LocksDescriptor.Manager manager(
            LockEngine engine, LocksQuestion question, Advisor advisor, boolean showKeys) {
        ProcessStatus process = engine.diagnostics().process();
        advisor.lookAt(process);
        if (question.key() != null) {
            return new LocksDescriptor.Manager(
                    process, describe(engine, question.key(), showKeys).stream().toList(), null);
        }
        LockPage page = valid(() -> engine.list(question.query(cursor)));
        page.locks().forEach(advisor::lookAt);
        return new LocksDescriptor.Manager(
                process,
                page.locks().stream()
                        .map(lock -> LockDescriptor.of(lock, showKeys))
                        .toList(),
                next(page, showKeys));
    }

    private @Nullable String next(LockPage page, boolean showKeys) {
        String last = page.next();
        if (last == null) {
            return null;
        }
        return showKeys ? cursor.show(last) : cursor.seal(last);
    }

    private static Optional<LockDescriptor> describe(LockEngine engine, String key, boolean showKeys) {
        return valid(() -> engine.status(key))
                .map(lock -> LockDescriptor.of(lock, engine.diagnostics().blockingSessions(key), showKeys));
    }

    private List<EventDescriptor> events(LocksQuestion question, boolean showKeys) {
        return journal.eventsAfter(question.since() == null ? 0 : question.since()).stream()
                .map(event -> showKeys ? event : event.hidden())
                .toList();
    }

    private Map<String, LocksDescriptor.Election> elections() {
        Map<String, LocksDescriptor.Election> found = new TreeMap<>();
        LeaderElection elections = election.get();
        if (elections != null) {
            elections.members().forEach(member -> found.put(member.name(), election(member)));
        }
        return found;
    }

    /** The name of an election is no personal data, unlike a key. Its lock is in one of the stores. */
    private LocksDescriptor.Election election(LeaderMember member) {
        return new LocksDescriptor.Election(
                member.isJoined(),
                member.isLeader(),
                managers.values().stream()
                        .flatMap(engine -> engine.status(member.key()).stream())
                        .map(lock -> LockDescriptor.of(lock, true))
                        .findFirst()
                        .orElse(null));
    }

    /** A bad argument is the mistake of the caller, and answered with 400. */
    private static <T> T valid(Supplier<T> operation) {
        try {
            return operation.get();
        } catch (LockException ex) {
            if (ex.code() != LockErrorCode.INVALID_ARGUMENT) {
                throw ex;
            }
            throw new InvalidEndpointRequestException(String.valueOf(ex.getMessage()), "Invalid argument", ex);
        }
    }

    private LockEngine engine(@Nullable String manager) {
        LockEngine engine =
                manager == null ? managers.values().stream().findFirst().orElse(null) : managers.get(manager);
        if (engine == null) {
            throw new InvalidEndpointRequestException(
                    "There is no lock manager '" + manager + "'. Use one of " + managers.keySet(),
                    "No such lock manager");
        }
        return engine;
    }
}
