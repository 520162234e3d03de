package io.syncguard.actuate;

import io.syncguard.LockOrder;
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
 * @param contains a part of the keys
 * @param owner a part of the label of a holder or a waiter
 * @param waitedFor whether only keys with a queue are listed
 * @param order the order of the list
 */
record LocksQuestion(
        @Nullable String prefix,
        @Nullable String key,
        @Nullable String after,
        @Nullable Integer limit,
        @Nullable String since,
        @Nullable String contains,
        @Nullable String owner,
        @Nullable Boolean waitedFor,
        @Nullable LockOrder order) {

    LockQuery query() {
        return locks().startingWith(prefix == null ? "" : prefix)
                .containing(contains == null ? "" : contains)
                .orderedBy(order == null ? LockOrder.KEY : order)
                .after(after == null ? "" : after)
                .limit(limit == null ? LockQuery.all().limit() : limit);
    }

    /** All locks that fit, whatever their keys. */
    LockQuery locks() {
        LockQuery ofOwner = LockQuery.all().owner(owner == null ? "" : owner);
        return Boolean.TRUE.equals(waitedFor) ? ofOwner.waitedFor() : ofOwner;
    }
}
