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
 * The pages of the endpoint. A page of hidden keys tells nothing about their order: a reader who could compare a hidden
 * key with keys of its own would find it step by step. Thread-safe.
 */
final class LockLists implements AutoCloseable {

    /** How many locks with hidden keys are listed. */
    static final int MAX_HIDDEN = 10_000;

    /** How long a request waits for the list of a manager. */
    private static final Duration PATIENCE = Duration.ofSeconds(2);

    /** How long it collects locks with hidden keys. */
    private static final Duration BUDGET = Duration.ofSeconds(10);

    private static final Pattern HASH = Pattern.compile("[0-9a-f]{24}");

    private final HiddenKeys hidden;
    private final Time time;
    private final SharedLists<Question> shared;

    LockLists(HiddenKeys hidden) {
        this(hidden, PATIENCE, Time.SYSTEM);
    }

    LockLists(HiddenKeys hidden, Duration patience, Time time) {
        this.hidden = hidden;
        this.time = time;
        this.shared = new SharedLists<>(patience, time);
    }

    ListedLocks page(LockEngine engine, LocksQuestion question, KeyView view) {
        return view.isPlain() ? plainPage(engine, question.query()) : hiddenPage(engine, question);
    }

    /** The key of a hash that this process or another one has shown; {@code null} if there is none. */
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

    /** The next list of this manager begins after now. */
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

    /** Answers to prefixes and keys would reveal hidden keys. */
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

    /** If there are too many locks, those with the smallest hashes: which these are depends on no key's neighbours. */
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
