package io.syncguard.aop;

import io.syncguard.IllegalKeyException;
import io.syncguard.LockErrorCode;
import io.syncguard.LockException;
import io.syncguard.LockLimits;
import io.syncguard.LockRequest;
import io.syncguard.LockTemplate;
import io.syncguard.interception.ResultType;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Arrays;
import java.util.Collection;
import java.util.Comparator;
import java.util.List;
import java.util.function.Supplier;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.springframework.expression.EvaluationException;
import org.springframework.util.ObjectUtils;

/**
 * The parsed annotation of one method, read and checked once.
 *
 * @param description the method, for messages
 * @param prefix the constant first part of the key, or empty
 * @param key the second part of the key
 * @param condition when to lock
 * @param fencedResource what the lock protects in the database: the second part of its name
 * @param template runs the method under its locks
 * @param defaults a request with everything that all calls have in common
 * @param waitTime how long a call waits for all its locks together
 * @param skips whether a call is skipped on contention
 * @param fallback what runs on contention instead
 * @param result the return type
 */
record LockedMethod(
        String description,
        String prefix,
        @Nullable MethodExpression key,
        @Nullable MethodExpression condition,
        @Nullable MethodExpression fencedResource,
        Supplier<LockTemplate> template,
        LockRequest defaults,
        Duration waitTime,
        boolean skips,
        @Nullable FallbackMethod fallback,
        ResultType result) {

    /**
     * The order of storage keys on the server. All calls lock in one order, so that none waits for another in a circle.
     */
    private static final Comparator<FencedRequest> IN_ORDER_OF_KEYS = Comparator.comparing(
            request -> request.lock().key().getBytes(StandardCharsets.UTF_8), Arrays::compareUnsigned);

    /** The locks of a call, in the order in which all calls take them; none when the condition is false. */
    List<FencedRequest> requests(MethodCall call) {
        if (condition != null && !isMet(condition, call)) {
            return List.of();
        }
        List<LockRequest> locks = (key == null ? List.of(prefix) : texts("key", key, call))
                .stream().map(defaults::key).toList();
        if (fencedResource == null) {
            return inOrder(locks.stream().map(lock -> new FencedRequest(lock, null)));
        }
        List<String> resources = texts("fenced resource", fencedResource, call);
        if (resources.size() != locks.size()) {
            throw refused(
                    "fenced resource",
                    fencedResource,
                    "not one for each key: " + resources.size() + " for " + locks.size() + " keys");
        }
        return inOrder(IntStream.range(0, locks.size())
                .mapToObj(i -> new FencedRequest(locks.get(i), LockLimits.resource(resources.get(i)))));
    }

    private static List<FencedRequest> inOrder(Stream<FencedRequest> requests) {
        return requests.distinct().sorted(IN_ORDER_OF_KEYS).toList();
    }

    /** One text for a single value, and one for each element of a collection or array. */
    private List<String> texts(String what, MethodExpression expression, MethodCall call) {
        Object value = value(expression, call);
        if (ObjectUtils.isArray(value)) {
            value = Arrays.asList(ObjectUtils.toObjectArray(value));
        }
        return value instanceof Collection<?> values
                ? values.stream().map(each -> text(what, expression, each)).toList()
                : List.of(text(what, expression, value));
    }

    /** A value that is no boolean is a mistake: the call fails, and does not run without a lock. */
    private boolean isMet(MethodExpression expression, MethodCall call) {
        if (value(expression, call) instanceof Boolean met) {
            return met;
        }
        throw refused("condition", expression, "neither true nor false");
    }

    private @Nullable Object value(MethodExpression expression, MethodCall call) {
        try {
            return expression.value(call);
        } catch (EvaluationException ex) {
            throw new LockException(
                    LockErrorCode.INVALID_ARGUMENT,
                    "@DistributedLock on " + description + ", attribute '" + expression.attribute() + "': '"
                            + expression + "' has no value for this call: " + MethodExpression.explain(ex),
                    ex);
        }
    }

    private LockException refused(String what, MethodExpression expression, String why) {
        return new LockException(
                LockErrorCode.INVALID_ARGUMENT,
                "The " + what + " '" + expression + "' of @DistributedLock on " + description + " is " + why
                        + " for this call");
    }

    private String text(String what, MethodExpression expression, @Nullable Object value) {
        String text = value == null ? "" : value.toString();
        if (text.isBlank()) {
            throw new IllegalKeyException(String.valueOf(
                    refused(what, expression, value == null ? "null" : "blank").getMessage()));
        }
        if (isIdentity(text, value)) {
            throw refused(what, expression, "an object without its own toString, so its text differs each time");
        }
        return prefix.isEmpty() ? text : prefix + ":" + text;
    }

    private static boolean isIdentity(String text, @Nullable Object value) {
        return !(value instanceof CharSequence) && value != null && text.equals(ObjectUtils.identityToString(value));
    }
}
