package io.syncguard.actuate;

import io.syncguard.LockException;
import io.syncguard.LockPage;
import io.syncguard.LockQuery;
import io.syncguard.LockStatus;
import io.syncguard.LockSummary;
import io.syncguard.concurrent.Time;
import io.syncguard.core.LockEngine;
import io.syncguard.spi.BlockingSession;
import io.syncguard.spi.LockSelection;
import java.time.Duration;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.Objects;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Supplier;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.actuate.endpoint.InvalidEndpointRequestException;

/**
 * What the endpoint reads from the stores. Readers do not wait for a store that is away, and no store keeps the answer
 * of another one back. A page of hidden keys reveals nothing about their order. Otherwise a reader could find a
 * hidden key step by step, by comparing it with keys of its own. Thread-safe.
 */
final class LockLists implements AutoCloseable {

    /** Maximum number of locks in a list with hidden keys. */
    static final int MAX_HIDDEN = 10_000;

    /** Maximum wait of a request for all stores: it is answered within a second also while one is away. */
    private static final Duration MAX_WAIT = Duration.ofMillis(700);

    /** Maximum time for collecting locks with hidden keys. */
    private static final Duration BUDGET = Duration.ofSeconds(10);

    private static final Pattern HASH = Pattern.compile("[0-9a-f]{24}");

    private final HiddenKeys hidden;
    private final Duration maxWait;
    private final Time time;

    /** The lists of a manager, which may take long. */
    private final Map<LockEngine, SharedLists<Listed>> lists = new ConcurrentHashMap<>();

    /** The summaries of a manager. They take long on Redis, and lists do not wait for them. */
    private final Map<LockEngine, SharedLists<Boolean>> summaries = new ConcurrentHashMap<>();

    /** The looks at some keys of a manager. */
    private final Map<LockEngine, SharedLists<Look>> looks = new ConcurrentHashMap<>();

    LockLists(HiddenKeys hidden) {
        this(hidden, MAX_WAIT, Time.SYSTEM);
    }

    LockLists(HiddenKeys hidden, Duration maxWait, Time time) {
        this.hidden = hidden;
        this.maxWait = maxWait;
        this.time = time;
    }

    /** Begins to read a page of locks, and returns it later. */
    Supplier<ListedLocks> page(LockEngine engine, LocksQuestion question, KeyView view) {
        return view.isPlain() ? plainPage(engine, question.query()) : hiddenPage(engine, question);
    }

    /** Begins to count all locks, and returns their summary with those that are waited for longest later. */
    Supplier<ListedLocks> summary(LockEngine engine) {
        return summaries
                .computeIfAbsent(engine, each -> new SharedLists<>(maxWait, time))
                .begin(true, () -> new ListedLocks(engine.admin().summary()));
    }

    /** The summary as this reader sees it: keys that wait equally long are not in the order of hidden keys. */
    ListedLocks shown(ListedLocks summary, KeyView view) {
        return view.isPlain() ? summary : page(summary, LockSummary.QUEUES);
    }

    /** Begins to read the locks with these keys, and returns those that are held or waited for later. */
    Supplier<ListedLocks> look(LockEngine engine, Set<String> keys) {
        return look(engine, new Look(keys, false));
    }

    /** Begins to read one lock, with the sessions of the store's server that lock its rows. */
    Supplier<ListedLocks> look(LockEngine engine, String key) {
        return look(engine, new Look(Set.of(key), true));
    }

    private Supplier<ListedLocks> look(LockEngine engine, Look look) {
        return looks.computeIfAbsent(engine, each -> new SharedLists<>(maxWait, time))
                .begin(look, () -> {
                    List<LockStatus> found = look.keys().stream()
                            .flatMap(key -> engine.admin().status(key).stream())
                            .toList();
                    List<BlockingSession> sessions = found.stream()
                            .filter(lock -> look.withSessions())
                            .flatMap(lock -> engine.diagnostics().blockingSessions(lock.key()).stream())
                            .toList();
                    return new ListedLocks(found, sessions);
                });
    }

    /** @param withSessions whether the answer has the sessions of the store's server that lock their rows */
    private record Look(Set<String> keys, boolean withSessions) {}

    /**
     * A list of a manager.
     *
     * @param byHash whether it has all locks, in the order of their hashes
     */
    private record Listed(LockQuery query, boolean byHash) {}

    /** How old these locks are; {@code null} if the store was never read. */
    @Nullable
    Duration age(ListedLocks locks) {
        Long readAt = locks.readAt();
        return readAt == null ? null : Duration.ofNanos(time.nanoTime() - readAt);
    }

    /** Returns the key of a hash that this process or another one has shown; {@code null} if there is none. */
    @Nullable
    String find(Collection<LockEngine> engines, String shown) {
        String known = hidden.find(shown);
        if (known != null || !HASH.matcher(shown).matches()) {
            return known;
        }
        List<ListedLocks> all = engines.stream().map(engine -> all(engine, LockQuery.all())).toList().stream()
                .map(Supplier::get)
                .toList();
        String found = all.stream()
                .flatMap(locks -> locks.locks().stream())
                .map(LockStatus::key)
                .filter(key -> hidden.hash(key).equals(shown))
                .findFirst()
                .orElse(null);
        LockException failure = all.stream()
                .map(ListedLocks::failure)
                .filter(Objects::nonNull)
                .findFirst()
                .orElse(null);
        if (found == null && failure != null) {
            throw failure;
        }
        return found;
    }

    /** Forgets the lists of this manager, so that the next one begins after this call. */
    void forget(LockEngine engine) {
        Stream.of(lists, looks, summaries)
                .map(ofManagers -> ofManagers.get(engine))
                .filter(Objects::nonNull)
                .forEach(SharedLists::forgetAll);
    }

    @Override
    public void close() {
        lists.values().forEach(SharedLists::close);
        looks.values().forEach(SharedLists::close);
        summaries.values().forEach(SharedLists::close);
    }

    private Supplier<ListedLocks> plainPage(LockEngine engine, LockQuery query) {
        return listsOf(engine).begin(new Listed(query, false), () -> {
            LockPage page = engine.admin().list(query);
            return new ListedLocks(page.locks(), page.next(), null);
        });
    }

    private Supplier<ListedLocks> hiddenPage(LockEngine engine, LocksQuestion question) {
        requireNoKeys(question);
        LockQuery query = question.query();
        Supplier<ListedLocks> all = all(engine, question.locks());
        return () -> page(all.get(), query);
    }

    private ListedLocks page(ListedLocks all, LockQuery query) {
        LockSelection selection = new LockSelection(query, lock -> hidden.hash(lock.key()));
        all.locks().forEach(selection::offer);
        LockPage page = selection.page();
        return all.page(page.locks(), page.next());
    }

    /** Begins to read all locks that fit this query without a key. */
    private Supplier<ListedLocks> all(LockEngine engine, LockQuery query) {
        return listsOf(engine).begin(new Listed(query, true), () -> byHash(engine, query));
    }

    private SharedLists<Listed> listsOf(LockEngine engine) {
        return lists.computeIfAbsent(engine, each -> new SharedLists<>(maxWait, time));
    }

    /** Refuses prefixes and keys, because answers to them would reveal hidden keys. */
    private static void requireNoKeys(LocksQuestion question) {
        requireNoPart("prefix", question.prefix());
        requireNoPart("contains", question.contains());
        String after = question.query().position().key();
        if (!after.isEmpty() && !HASH.matcher(after).matches()) {
            throw new InvalidEndpointRequestException(
                    "Keys are hidden, so a page continues after a hash. Pass the 'next' of the page before as 'after',"
                            + " or begin with the first page",
                    "Keys are hidden");
        }
    }

    private static void requireNoPart(String parameter, @Nullable String part) {
        if (part != null && !part.isEmpty()) {
            throw new InvalidEndpointRequestException(
                    "Keys are hidden, so locks cannot be listed by a part of them. Leave out '" + parameter
                            + "', or let management.endpoint.syncguard.show-values show keys",
                    "Keys are hidden");
        }
    }

    /**
     * Lists locks in the order of their hashes. If there are too many, keeps those with the smallest hashes, because
     * this choice does not depend on neighbouring keys.
     */
    private ListedLocks byHash(LockEngine engine, LockQuery locks) {
        long deadline = time.nanoTime() + BUDGET.toNanos();
        NavigableMap<String, LockStatus> found = new TreeMap<>();
        LockQuery query = locks.limit(LockQuery.MAX_LIMIT);
        String problem = null;
        while (true) {
            LockPage page = engine.admin().list(query);
            for (LockStatus lock : page.locks()) {
                found.put(hidden.hash(lock.key()), lock);
                if (found.size() > MAX_HIDDEN) {
                    found.pollLastEntry();
                    problem = "The store has more than " + MAX_HIDDEN + " locks";
                }
            }
            String next = page.next();
            if (next == null) {
                return new ListedLocks(List.copyOf(found.values()), null, problem);
            }
            if (time.nanoTime() > deadline) {
                return new ListedLocks(
                        List.copyOf(found.values()),
                        null,
                        "Reading all locks takes longer than " + BUDGET.toSeconds() + " s");
            }
            query = query.after(next);
        }
    }
}
