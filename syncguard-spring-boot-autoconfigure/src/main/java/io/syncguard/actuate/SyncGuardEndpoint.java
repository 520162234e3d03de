package io.syncguard.actuate;

import io.syncguard.Fence;
import io.syncguard.ForcedRelease;
import io.syncguard.LockAdmin;
import io.syncguard.LockBackendException;
import io.syncguard.LockErrorCode;
import io.syncguard.LockException;
import io.syncguard.LockLimits;
import io.syncguard.LockOrder;
import io.syncguard.LockQuery;
import io.syncguard.LockStatus;
import io.syncguard.MessageText;
import io.syncguard.OwnedLease;
import io.syncguard.actuate.OwnerReleaseDescriptor.Outcome;
import io.syncguard.concurrent.Time;
import io.syncguard.core.LockEngine;
import io.syncguard.core.ProcessStatus;
import io.syncguard.leader.LeaderElection;
import io.syncguard.leader.LeaderMember;
import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
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
// Spring Boot 3 recognises optional parameters only by the deprecated annotation.
@SuppressWarnings("deprecation")
public final class SyncGuardEndpoint implements AutoCloseable {

    private static final Log log = LogFactory.getLog(SyncGuardEndpoint.class);

    private final Map<String, LockEngine> managers;
    private final Supplier<@Nullable LeaderElection> election;
    private final EventJournal journal;
    private final Supplier<Map<String, Set<Integer>>> permits;
    private final Show showValues;
    private final HiddenKeys hiddenKeys;
    private final LockLists lists;
    private final Paced<OwnLocks> own;

    /**
     * @param managers by the names of their beans, or of their stores, the primary one first
     * @param election in which this process may take part
     * @param journal receives the events of this process
     * @param permits how many permits the annotated methods of a name have
     * @param showValues when keys are shown; their hashes are shown otherwise
     * @param hashSecret the same in all processes whose hashes are to agree; {@code null} for a random one
     */
    public SyncGuardEndpoint(
            Map<String, LockEngine> managers,
            Supplier<@Nullable LeaderElection> election,
            EventJournal journal,
            Supplier<Map<String, Set<Integer>>> permits,
            Show showValues,
            @Nullable String hashSecret) {
        this(managers, election, journal, permits, showValues, hashSecret, Time.SYSTEM);
    }

    SyncGuardEndpoint(
            Map<String, LockEngine> managers,
            Supplier<@Nullable LeaderElection> election,
            EventJournal journal,
            Supplier<Map<String, Set<Integer>>> permits,
            Show showValues,
            @Nullable String hashSecret,
            Time time) {
        this.managers = managers;
        this.election = election;
        this.journal = journal;
        this.permits = permits;
        this.showValues = showValues;
        this.hiddenKeys = new HiddenKeys(hashSecret);
        this.lists = new LockLists(hiddenKeys);
        this.own = new Paced<>(() -> OwnLocks.of(managers.values(), journal, permits.get()), time);
    }

    /**
     * Returns a page of the locks of each manager, and the events of this process.
     *
     * @param prefix the beginning of the keys; refused while keys are hidden
     * @param key the only key to look at, or its hash while keys are hidden
     * @param after {@code next} of the previous page
     * @param limit maximum number of locks, 100 if not given
     * @param since the last events that the reader knows, as {@code instance:number}. A reader behind a balancer names
     *     those of each instance, divided by commas
     * @param contains a part of the keys; refused while keys are hidden
     * @param owner a part of the label of a holder or a waiter
     * @param waitedFor whether only keys with a queue are listed
     * @param order the order of the list, by the keys or their hashes if not given
     */
    @ReadOperation
    public LocksDescriptor locks(
            @org.springframework.lang.Nullable @Nullable String prefix,
            @org.springframework.lang.Nullable @Nullable String key,
            @org.springframework.lang.Nullable @Nullable String after,
            @org.springframework.lang.Nullable @Nullable Integer limit,
            @org.springframework.lang.Nullable @Nullable String since,
            @org.springframework.lang.Nullable @Nullable String contains,
            @org.springframework.lang.Nullable @Nullable String owner,
            @org.springframework.lang.Nullable @Nullable Boolean waitedFor,
            @org.springframework.lang.Nullable @Nullable LockOrder order) {
        return locks(
                new LocksQuestion(prefix, key, after, limit, since, contains, owner, waitedFor, order),
                view(showValues == Show.ALWAYS));
    }

    /**
     * Returns one lock.
     *
     * @param key the key, or its hash while keys are hidden
     * @param manager its name in the answer; the primary manager if not given
     * @return {@code null} if nobody holds the key or waits for it
     */
    @ReadOperation
    public @Nullable LockDescriptor lock(
            @Selector String key, @org.springframework.lang.Nullable @Nullable String manager) {
        return lock(key, manager, view(showValues == Show.ALWAYS)).orElse(null);
    }

    /**
     * Ends the leases of a key, so that its waiters go on.
     *
     * @param key the key; also its hash while keys are hidden
     * @param fence that of the only lease to end; all end if not given
     * @param reason the reason, for the log and the listeners
     */
    @DeleteOperation
    public ForcedReleaseDescriptor forceRelease(
            @Selector String key,
            @org.springframework.lang.Nullable @Nullable Long fence,
            @org.springframework.lang.Nullable @Nullable String manager,
            @org.springframework.lang.Nullable @Nullable String reason) {
        return forceRelease(key, fence, manager, reason, "somebody through JMX", view(showValues == Show.ALWAYS));
    }

    /**
     * Lists the leases of an owner, such as a host that died, and ends them if this is no dry run: each by its fence,
     * so the next holder of a key keeps it.
     *
     * @param owner a part of the label of the holders
     * @param dryRun whether to list them only, which is so if not given
     * @param reason the reason, for the log and the listeners
     */
    @DeleteOperation
    public OwnerReleaseDescriptor forceReleaseAll(
            String owner,
            @org.springframework.lang.Nullable @Nullable Boolean dryRun,
            @org.springframework.lang.Nullable @Nullable String manager,
            @org.springframework.lang.Nullable @Nullable String reason) {
        return forceReleaseAll(
                owner,
                !Boolean.FALSE.equals(dryRun),
                manager,
                reason,
                "somebody through JMX",
                view(showValues == Show.ALWAYS));
    }

    /** Ends a running list. */
    @Override
    public void close() {
        lists.close();
    }

    LocksDescriptor locks(LocksQuestion question, KeyView view) {
        long seen = journal.lastSeen(question.since());
        Optional<String> key = ask(
                view,
                () -> Optional.ofNullable(question.key())
                        .map(shown -> LockLimits.key(view.isPlain() ? shown : keyOf(shown))));
        Map<String, Supplier<ListedLocks>> begun = new TreeMap<>();
        managers.forEach((name, engine) -> begun.put(
                name,
                ask(
                        view,
                        () -> key.map(each -> lists.look(engine, each))
                                .orElseGet(() -> lists.page(engine, question, view)))));
        Map<String, Supplier<ListedLocks>> summaries = new TreeMap<>();
        managers.forEach((name, engine) -> summaries.put(name, lists.summary(engine)));
        Supplier<Map<String, LocksDescriptor.Election>> elections = elections();
        ProblemFinder problems = new ProblemFinder(view);
        Map<String, LocksDescriptor.Manager> found = new TreeMap<>();
        begun.forEach((name, list) -> {
            ListedLocks queues = lists.shown(summaries.getOrDefault(name, list).get(), view);
            found.put(name, manager(engine(name), list.get(), queues, problems, view));
        });
        Map<String, NameDescriptor> names = own.get().names();
        names.forEach(problems::lookAt);
        return new LocksDescriptor(
                journal.instance(),
                view.isPlain(),
                found,
                elections.get(),
                names,
                events(seen, view),
                problems.advice());
    }

    Optional<LockDescriptor> lock(String key, @Nullable String manager, KeyView view) {
        return describe(engine(manager), key, view);
    }

    /**
     * Also accepts a plain key while keys are hidden, because an operator may know it. Whoever may release locks can
     * test keys in this way, but each attempt is logged, and ends the lock that it finds.
     */
    ForcedReleaseDescriptor forceRelease(
            String shown,
            @Nullable Long fence,
            @Nullable String manager,
            @Nullable String reason,
            String user,
            KeyView view) {
        LockEngine engine = engine(manager);
        String hidden = view.isPlain() ? null : lists.find(managers.values(), shown);
        String key = hidden == null ? shown : hidden;
        String why = because(user, reason);
        LockAdmin admin = engine.admin();
        ForcedRelease done = ask(
                view,
                () -> fence == null ? admin.forceRelease(key, why) : admin.forceRelease(key, new Fence(fence), why));
        lists.forget(engine);
        return ForcedReleaseDescriptor.of(
                done, view.isPlain() ? done.key() : shown, lockAfterwards(admin, done.key(), view));
    }

    OwnerReleaseDescriptor forceReleaseAll(
            String owner,
            boolean dryRun,
            @Nullable String manager,
            @Nullable String reason,
            String user,
            KeyView view) {
        LockEngine engine = engine(manager);
        List<OwnedLease> leases = ask(view, () -> engine.admin().leasesOf(owner));
        List<OwnerReleaseDescriptor.Lease> done = new ArrayList<>();
        Outcome last = Outcome.LISTED;
        for (OwnedLease lease : leases) {
            last = dryRun
                    ? Outcome.LISTED
                    : last == Outcome.FAILED || last == Outcome.NOT_TRIED
                            ? Outcome.NOT_TRIED
                            : released(engine.admin(), lease, because(user, reason));
            done.add(OwnerReleaseDescriptor.Lease.of(lease, view, last));
        }
        if (!dryRun) {
            lists.forget(engine);
        }
        return new OwnerReleaseDescriptor(owner, dryRun, done, leases.size() < LockQuery.MAX_LIMIT);
    }

    /** The others were released, so the answer says that also if the store has failed meanwhile. */
    private static Outcome released(LockAdmin admin, OwnedLease owned, String why) {
        Fence fence = owned.lease().fence();
        try {
            ForcedRelease done = admin.forceRelease(owned.key(), fence, why);
            return !done.released().isEmpty()
                    ? Outcome.RELEASED
                    : done.remaining().stream().anyMatch(lease -> lease.fence().equals(fence))
                            ? Outcome.REMAINS
                            : Outcome.OVER;
        } catch (LockException ex) {
            log.debug("The endpoint could not release a lock by force", ex);
            return Outcome.FAILED;
        }
    }

    private static String because(String user, @Nullable String reason) {
        return "by " + user + ": " + (reason == null ? "no reason was given" : reason);
    }

    /** The leases have ended, so the answer says that also if the store does not answer again. */
    private static @Nullable LockDescriptor lockAfterwards(LockAdmin admin, String key, KeyView view) {
        try {
            return admin.status(key).map(lock -> LockDescriptor.of(lock, view)).orElse(null);
        } catch (LockException ex) {
            log.debug("The endpoint could not read the lock after its release by force", ex);
            return null;
        }
    }

    /** @param isShown whether the reader may see keys */
    KeyView view(boolean isShown) {
        return isShown ? KeyView.PLAIN : hiddenKeys;
    }

    private LocksDescriptor.Manager manager(
            LockEngine engine, ListedLocks list, ListedLocks queues, ProblemFinder problems, KeyView view) {
        ask(view, () -> refuseIfInvalid(list));
        ProcessStatus process = engine.diagnostics().process();
        problems.lookAt(process);
        Stream.concat(queues.locks().stream(), list.locks().stream())
                .collect(Collectors.toMap(LockStatus::key, lock -> lock, (queue, same) -> queue, LinkedHashMap::new))
                .values()
                .forEach(problems::lookAt);
        OwnLocks.OfManager locks = ownLocks(engine);
        LocalView local = new LocalView(view, locks.names(), locks.callers());
        return new LocksDescriptor.Manager(
                view.isPlain() ? process : process.withoutMessages(),
                locks.first().stream()
                        .map(lock -> OwnLockDescriptor.of(lock, local))
                        .toList(),
                list.locks().stream()
                        .map(lock -> LockDescriptor.of(lock, list.sessions(), local))
                        .toList(),
                list.next(),
                list.isComplete(),
                lists.age(list),
                problem(list, view),
                summary(queues, local));
    }

    private SummaryDescriptor summary(ListedLocks queues, LocalView local) {
        return SummaryDescriptor.of(queues, lists.age(queues), problem(queues, local.keys()), local);
    }

    private static boolean refuseIfInvalid(ListedLocks list) {
        if (list.failure() != null && list.failure().code() == LockErrorCode.INVALID_ARGUMENT) {
            throw list.failure();
        }
        return true;
    }

    private static @Nullable String problem(ListedLocks list, KeyView view) {
        LockException failure = list.failure();
        return failure == null || view.isPlain()
                ? list.problem()
                : failure.code().toString();
    }

    private Optional<LockDescriptor> describe(LockEngine engine, String shown, KeyView view) {
        String key = view.isPlain() ? shown : ask(view, () -> keyOf(shown));
        OwnLocks.OfManager locks = ownLocks(engine);
        LocalView local = new LocalView(view, locks.names(), locks.callers());
        return ask(
                view,
                () -> engine.admin()
                        .status(key)
                        .map(lock ->
                                LockDescriptor.of(lock, engine.diagnostics().blockingSessions(key), local)));
    }

    private OwnLocks.OfManager ownLocks(LockEngine engine) {
        OwnLocks.OfManager known = own.get().byManager().get(engine);
        // The manager of a tenant may be newer than the last look.
        return known != null ? known : OwnLocks.OfManager.of(engine, journal, permits.get());
    }

    private String keyOf(String hash) {
        String key = lists.find(managers.values(), hash);
        if (key == null) {
            throw new InvalidEndpointRequestException(
                    "Keys are hidden (management.endpoint.syncguard.show-values="
                            + showValues.name().toLowerCase(Locale.ROOT).replace('_', '-')
                            + "), and no lock has this hash now: GET /actuator/syncguard shows the hashes. To look at a"
                            + " lock by its key, set show-values to when-authorized or always",
                    "Keys are hidden");
        }
        return key;
    }

    private List<EventDescriptor> events(long seen, KeyView view) {
        return journal.eventsAfter(seen).stream()
                .map(event -> view.isPlain() ? event : event.hidden(view))
                .toList();
    }

    /** Begins to look for the leaders, and returns them later. */
    private Supplier<Map<String, LocksDescriptor.Election>> elections() {
        LeaderElection elections = election.get();
        Collection<LeaderMember> members = elections == null ? List.of() : elections.members();
        Set<String> keys = members.stream().map(LeaderMember::key).collect(Collectors.toUnmodifiableSet());
        List<Supplier<ListedLocks>> looks = keys.isEmpty()
                ? List.of()
                : managers.values().stream()
                        .map(engine -> lists.look(engine, keys))
                        .toList();
        return () -> {
            List<ListedLocks> answers = looks.stream().map(Supplier::get).toList();
            Map<String, LocksDescriptor.Election> found = new TreeMap<>();
            members.forEach(member -> found.put(member.name(), election(member, answers)));
            return found;
        };
    }

    /**
     * Finds the lock of an election in one of the stores. Unlike a key, the name of an election is no personal data.
     */
    private static LocksDescriptor.Election election(LeaderMember member, List<ListedLocks> stores) {
        LockDescriptor lock = stores.stream()
                .flatMap(store -> store.locks().stream())
                .filter(each -> each.key().equals(member.key()))
                .map(each -> LockDescriptor.of(each, KeyView.PLAIN))
                .findFirst()
                .orElse(null);
        return new LocksDescriptor.Election(
                member.isJoined(), member.isLeader(), stores.stream().allMatch(ListedLocks::isComplete), lock);
    }

    /**
     * Runs an operation. A bad argument is a mistake of the caller and answered with 400. Other messages may name keys,
     * so only readers who may see keys get them.
     */
    private static <T> T ask(KeyView view, Supplier<T> operation) {
        try {
            return operation.get();
        } catch (LockException ex) {
            boolean fromStore = ex instanceof LockBackendException;
            if (ex.code() == LockErrorCode.INVALID_ARGUMENT && (view.isPlain() || !fromStore)) {
                throw new InvalidEndpointRequestException(String.valueOf(ex.getMessage()), "Invalid argument", ex);
            }
            if (view.isPlain()) {
                throw ex;
            }
            log.debug("The endpoint could not ask the store", ex);
            throw new LockException(
                    ex.code(), "The store could not be asked: " + ex.code() + ". The debug log has the reason", null);
        }
    }

    private LockEngine engine(@Nullable String manager) {
        LockEngine engine =
                manager == null ? managers.values().stream().findFirst().orElse(null) : managers.get(manager);
        if (engine == null) {
            throw new InvalidEndpointRequestException(
                    "There is no lock manager '" + MessageText.shortened(String.valueOf(manager)) + "'. Use one of "
                            + MessageText.listed(managers.keySet()),
                    "No such lock manager");
        }
        return engine;
    }
}
