package io.syncguard.actuate;

import io.syncguard.LockQuery;
import org.jspecify.annotations.Nullable;

/**
 * The parameters of a request to the endpoint.
 *
 * @param prefix the beginning of the keys
 * @param key the only key to look at
 * @param after the end of the previous page
 * @param limit maximum number of locks
 * @param since the last events that the reader knows, as {@code instance:number} of each instance, divided by commas
 */
record LocksQuestion(
        @Nullable String prefix,
        @Nullable String key,
        @Nullable String after,
        @Nullable Integer limit,
        @Nullable String since) {

    LockQuery query() {
        return LockQuery.all()
                .startingWith(prefix == null ? "" : prefix)
                .after(after == null ? "" : after)
                .limit(limit == null ? LockQuery.all().limit() : limit);
    }
}
