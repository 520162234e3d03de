package io.syncguard.actuate;

import io.syncguard.LockPage;
import io.syncguard.LockQuery;
import io.syncguard.LockStatus;
import io.syncguard.concurrent.Time;
import io.syncguard.core.LockEngine;
import java.time.Duration;
import java.util.Collection;
import java.util.List;
import java.util.NavigableMap;
import java.util.TreeMap;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.actuate.endpoint.InvalidEndpointRequestException;

/**
 * The pages of the endpoint. A page of hidden keys reveals nothing about their order. Otherwise a reader could find a
 * hidden key step by step, by comparing it with keys of its own. Thread-safe.
 */
final class LockLists implements AutoCloseable {

    /** Maximum number of locks in a list with hidden keys. */
    static final int MAX_HIDDEN = 10_000;

    /** Maximum wait of a request for the list of a manager. */
    private static final Duration MAX_WAIT = Duration.ofSeconds(2);

    /** Maximum time for collecting locks with hidden keys. */
    private static final Duration BUDGET = Duration.ofSeconds(10);

    private static final Pattern HASH = Pattern.compile("[0-9a-f]{24}");

    private final HiddenKeys hidden;
    private final Time time;
    private final SharedLists<Question> shared;

    LockLists(HiddenKeys hidden) {
        this(hidden, MAX_WAIT, Time.SYSTEM);
    }

    LockLists(HiddenKeys hidden, Duration maxWait, Time time) {
        this.hidden = hidden;
        this.time = time;
        this.shared = new SharedLists<>(maxWait, time);
    }

    ListedLocks page(LockEngine engine, LocksQuestion question, KeyView view) {
        return view.isPlain() ? plainPage(engine, question.query()) : hiddenPage(engine, question);
    }

    /** Returns the key of a hash that this process or another one has shown; {@code null} if there is none. */
    @Nullable
    String find(Collection<LockEngine> engines, String shown) {
        String known = hidden.find(shown);
        if (known != null || !HASH.matcher(shown).matches()) {
            return known;
        }
        return engines.stream()
                .flatMap(engine -> all(engine).locks().stream())
                .map(LockStatus::key)
                .filter(key -> hidden.hash(key).equals(shown))
                .findFirst()
                .orElse(null);
    }

    /** Forgets the lists of this manager, so that the next one begins after this call. */
    void forget(LockEngine engine) {
        shared.forget(question -> question.engine() == engine);
    }

    @Override
    public void close() {
        shared.close();
    }

    private ListedLocks plainPage(LockEngine engine, LockQuery query) {
        return shared.ask(new Question(engine, query), () -> {
            LockPage page = engine.admin().list(query);
            return new ListedLocks(page.locks(), page.next(), true);
        });
    }

    private ListedLocks hiddenPage(LockEngine engine, LocksQuestion question) {
        requireNoKeys(question);
        int limit = question.query().limit();
        String after = question.after() == null ? "" : question.after();
        ListedLocks all = all(engine);
        List<LockStatus> rest = all.locks().stream()
                .filter(lock -> hidden.hash(lock.key()).compareTo(after) > 0)
                .limit(limit + 1L)
                .toList();
        return rest.size() <= limit
                ? new ListedLocks(rest, null, all.complete())
                : new ListedLocks(
                        rest.subList(0, limit), hidden.hash(rest.get(limit - 1).key()), all.complete());
    }

    private ListedLocks all(LockEngine engine) {
        return shared.ask(new Question(engine, null), () -> byHash(engine));
    }

    /** Refuses prefixes and keys, because answers to them would reveal hidden keys. */
    private static void requireNoKeys(LocksQuestion question) {
        if (question.prefix() != null && !question.prefix().isEmpty()) {
            throw new InvalidEndpointRequestException(
                    "Keys are hidden, so locks cannot be listed by a prefix. Leave out 'prefix', or let"
                            + " management.endpoint.syncguard.show-values show keys",
                    "Keys are hidden");
        }
        String after = question.after();
        if (after != null && !after.isEmpty() && !HASH.matcher(after).matches()) {
            throw new InvalidEndpointRequestException(
                    "Keys are hidden, so a page continues after a hash. Pass the 'next' of the page before as 'after',"
                            + " or begin with the first page",
                    "Keys are hidden");
        }
    }

    /**
     * Lists locks in the order of their hashes. If there are too many, keeps those with the smallest hashes, because
     * this choice does not depend on neighbouring keys.
     */
    private ListedLocks byHash(LockEngine engine) {
        long deadline = time.nanoTime() + BUDGET.toNanos();
        NavigableMap<String, LockStatus> found = new TreeMap<>();
        LockQuery query = LockQuery.all().limit(LockQuery.MAX_LIMIT);
        boolean complete = true;
        while (true) {
            LockPage page = engine.admin().list(query);
            for (LockStatus lock : page.locks()) {
                found.put(hidden.hash(lock.key()), lock);
                if (found.size() > MAX_HIDDEN) {
                    found.pollLastEntry();
                    complete = false;
                }
            }
            String next = page.next();
            if (next == null || time.nanoTime() > deadline) {
                return new ListedLocks(List.copyOf(found.values()), null, complete && next == null);
            }
            query = query.after(next);
        }
    }

    /** @param query {@code null} for all locks, by their hashes */
    private record Question(LockEngine engine, @Nullable LockQuery query) {}
}
