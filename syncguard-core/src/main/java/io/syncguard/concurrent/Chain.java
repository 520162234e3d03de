package io.syncguard.concurrent;

import java.util.ArrayList;
import java.util.Collections;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Set;
import java.util.function.Function;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Objects of others that lead from one to the next: causes of an error, layers of a connection, targets of a proxy.
 * They may lead in a circle, or make the next one anew each time. So each walk over them goes through here, and ends.
 */
public final class Chain {

    /** More than a chain with an end has. */
    static final int LIMIT = 1_000;

    private Chain() {}

    /** Returns each object once, and no more than {@value #LIMIT}. */
    public static <T> Stream<T> of(@Nullable T first, Function<T, @Nullable T> next) {
        Set<Object> seen = Collections.newSetFromMap(new IdentityHashMap<>());
        List<T> all = new ArrayList<>();
        T each = first;
        while (each != null && seen.add(each) && all.size() < LIMIT) {
            all.add(each);
            each = next.apply(each);
        }
        return all.stream();
    }

    /** Returns the last object, or the first one of a chain without end. */
    public static <T> T end(T first, Function<T, @Nullable T> next) {
        List<T> all = of(first, next).toList();
        T last = all.get(all.size() - 1);
        return all.size() == LIMIT || next.apply(last) != null ? first : last;
    }

    /** Returns the error and its causes. */
    public static Stream<Throwable> causes(@Nullable Throwable error) {
        return of(error, Throwable::getCause);
    }
}
