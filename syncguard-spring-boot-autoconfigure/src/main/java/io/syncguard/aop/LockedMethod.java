package io.syncguard.aop;

import io.syncguard.LockErrorCode;
import io.syncguard.LockException;
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
 * @param template runs the method under its locks
 * @param defaults a request with everything that all calls have in common
 * @param waitTime how long a call waits for all its locks together
 * @param skips whether a call is skipped on contention
 * @param result the return type
 */
record LockedMethod(
        String description,
        String prefix,
        @Nullable MethodExpression key,
        @Nullable MethodExpression condition,
        Supplier<LockTemplate> template,
        LockRequest defaults,
        Duration waitTime,
        boolean skips,
        ResultType result) {

    /**
     * The order of storage keys on the server. All calls lock in one order, so that none waits for another in a circle.
     */
    private static final Comparator<LockRequest> IN_ORDER_OF_KEYS =
            Comparator.comparing(request -> request.key().getBytes(StandardCharsets.UTF_8), Arrays::compareUnsigned);

    /** The locks of a call, in the order in which all calls take them; none when the condition is false. */
    List<LockRequest> requests(MethodCall call) {
        if (condition != null && !isMet(condition, call)) {
            return List.of();
        }
        if (key == null) {
            return List.of(defaults.key(prefix));
        }
        Object value = value(key, call);
        if (value instanceof Collection<?> || ObjectUtils.isArray(value)) {
            Collection<?> values =
                    value instanceof Collection<?> many ? many : Arrays.asList(ObjectUtils.toObjectArray(value));
            return values.stream()
                    .map(each -> request(key, each))
                    .distinct()
                    .sorted(IN_ORDER_OF_KEYS)
                    .toList();
        }
        return List.of(request(key, value));
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

    private LockRequest request(MethodExpression expression, @Nullable Object value) {
        String text = value == null ? "" : value.toString();
        if (text.isBlank()) {
            throw refused("key", expression, value == null ? "null" : "blank");
        }
        if (isIdentity(text, value)) {
            throw refused("key", expression, "an object without its own toString, so its text differs each time");
        }
        return defaults.key(prefix.isEmpty() ? text : prefix + ":" + text);
    }

    private static boolean isIdentity(String text, @Nullable Object value) {
        return !(value instanceof CharSequence) && value != null && text.equals(ObjectUtils.identityToString(value));
    }
}
