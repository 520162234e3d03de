package io.syncguard.actuate;

import io.syncguard.LockQuery;
import org.jspecify.annotations.Nullable;

/**
 * What a reader of the endpoint asks for.
 *
 * @param prefix with what keys begin
 * @param key one key
 * @param after the end of the page before
 * @param limit how many locks at most
 * @param since the number of the last event that is known
 */
record LocksQuestion(
        @Nullable String prefix,
        @Nullable String key,
        @Nullable String after,
        @Nullable Integer limit,
        @Nullable Long since) {

    LockQuery query() {
        return LockQuery.all()
                .startingWith(prefix == null ? "" : prefix)
                .after(after == null ? "" : after)
                .limit(limit == null ? LockQuery.all().limit() : limit);
    }
}
