package io.syncguard.aop;

import io.syncguard.IllegalKeyException;
import io.syncguard.LockErrorCode;
import io.syncguard.LockException;
import io.syncguard.LockLimits;
import io.syncguard.LockManager;
import io.syncguard.LockRequest;
import io.syncguard.LockSetupException;
import io.syncguard.LockTemplate;
import io.syncguard.interception.ResultType;
import java.time.Duration;
import java.util.Collections;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.function.Function;
import java.util.function.IntSupplier;
import java.util.function.Supplier;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import org.springframework.expression.EvaluationException;

/**
 * The parsed annotation of one method, read and checked once.
 *
 * @param description the method, for messages
 * @param prefix the constant first part of the key, or empty
 * @param key the second part of the key
 * @param condition when to lock
 * @param fencedResource the second part of the name of the database resource that the lock protects
 * @param template runs the method under its locks
 * @param defaults a request with everything that all calls have in common
 * @param waitTime how long a call waits for all its locks together
 * @param maxKeys how many keys a call may lock
 * @param skips whether a call is skipped on contention
 * @param fallback the method that runs on contention instead
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
        IntSupplier maxKeys,
        boolean skips,
        @Nullable FallbackMethod fallback,
        ResultType result) {

    LockManager manager() {
        return LockSetupException.requireAnswer(
                "LockTemplate.manager", template.get().manager());
    }

    /** Returns the locks of a call; none when the condition is false. */
    List<FencedRequest> requests(MethodCall call) {
        if (condition != null && !isMet(condition, call)) {
            return List.of();
        }
        List<FencedRequest> requests = lockRequests(call);
        if (requests.size() > 1 && requests.size() > maxKeys.getAsInt()) {
            throw tooMany("key", key, requests.size() + " keys");
        }
        return requests;
    }

    private List<FencedRequest> lockRequests(MethodCall call) {
        List<LockRequest> locks = key == null ? List.of(defaults.key(prefix)) : texts("key", key, call, defaults::key);
        if (fencedResource == null) {
            return locks.stream()
                    .distinct()
                    .map(lock -> new FencedRequest(lock, null))
                    .toList();
        }
        List<String> resources = texts("fenced resource", fencedResource, call, LockLimits::resource);
        if (resources.size() != locks.size()) {
            throw refused(
                    "fenced resource",
                    fencedResource,
                    "",
                    "has to be one for each key, but is " + resources.size() + " for the " + locks.size()
                            + " keys of this call");
        }
        return IntStream.range(0, locks.size())
                .mapToObj(i -> new FencedRequest(locks.get(i), resources.get(i)))
                .distinct()
                .toList();
    }

    /**
     * Returns one text for a single value, and one for each element of a collection or array.
     *
     * @param use checks a text, and converts it to the result
     */
    private <T> List<T> texts(String what, MethodExpression expression, MethodCall call, Function<String, T> use) {
        KeyTextConverter operands = new KeyTextConverter();
        Object value = KeyText.withoutOptional(value(expression, () -> expression.value(call, operands)));
        List<@Nullable Object> values = KeyText.elements(value);
        List<@Nullable Object> all = values == null ? Collections.singletonList(value) : values;
        if (all.isEmpty()) {
            throw new IllegalKeyException(refusal(
                    what,
                    expression,
                    "",
                    "gives no " + what + " for this call, which would run without a lock. Do not call it without keys;"
                            + " or allow that with a condition, such as condition = \"!#ids.empty\""));
        }
        requireFew(what, expression, all);
        UnfitValue operand = operands.unfit();
        if (operand != null) {
            int number = numberOf(all, String.valueOf(operand.value()));
            String verb = operand.path().isEmpty() ? "contains " : "is ";
            throw unfit(what, expression, call, operand.within(element(values, number)), verb);
        }
        Map<String, T> used = new HashMap<>();
        return IntStream.range(0, all.size())
                .mapToObj(i -> {
                    String element = element(values, i);
                    String text = text(what, expression, all.get(i), element, call);
                    return used.computeIfAbsent(text, each -> used(what, expression, call, each, element, use));
                })
                .toList();
    }

    /** Counts different elements before anything reads one of them: a client may have sent a long list. */
    private void requireFew(String what, MethodExpression expression, List<@Nullable Object> values) {
        if (values.size() == 1 || values.size() <= maxKeys.getAsInt()) {
            return;
        }
        Set<@Nullable Object> different = new HashSet<>();
        for (int i = 0; i < values.size(); i++) {
            if (different.add(values.get(i)) && different.size() > maxKeys.getAsInt()) {
                String more = i + 1 < values.size() ? " or more" : "";
                throw tooMany(what, expression, different.size() + " " + what + "s" + more);
            }
        }
    }

    private IllegalKeyException tooMany(String what, @Nullable Object expression, String number) {
        return new IllegalKeyException(refusal(
                what,
                expression,
                "",
                "gives " + number + " for this call, but syncguard.aop.max-keys is " + maxKeys.getAsInt()
                        + ". Lock fewer at once, or one key that stands for all of them"));
    }

    /** The name of an element, counted from 1; empty for a single value. */
    private static String element(@Nullable List<@Nullable Object> elements, int position) {
        return elements == null || position < 0 ? "" : "element " + (position + 1);
    }

    /** The position of the first text that contains another one; negative if none does. */
    private static int numberOf(List<@Nullable Object> texts, String part) {
        // A longer part takes too long to find.
        return IntStream.range(0, part.length() > LockLimits.MAX_KEY_BYTES ? 0 : texts.size())
                .filter(i -> texts.get(i) instanceof CharSequence text
                        && text.toString().contains(part))
                .findFirst()
                .orElse(-1);
    }

    private <T> T checked(
            String what, MethodExpression expression, String element, String text, Function<String, T> use) {
        try {
            return use.apply(text);
        } catch (LockException ex) {
            String message = refusal(what, expression, element, "cannot be used for this call: " + ex.getMessage());
            throw ex instanceof IllegalKeyException
                    ? new IllegalKeyException(message)
                    : new LockException(ex.code(), message, ex);
        }
    }

    /** A value that is not a boolean is a mistake: the call fails instead of running without a lock. */
    private boolean isMet(MethodExpression expression, MethodCall call) {
        if (value(expression, () -> expression.value(call)) instanceof Boolean met) {
            return met;
        }
        throw refused("condition", expression, "", "is neither true nor false for this call");
    }

    private @Nullable Object value(MethodExpression expression, Supplier<@Nullable Object> evaluation) {
        try {
            return evaluation.get();
        } catch (EvaluationException ex) {
            String message = "@DistributedLock on " + description + ", attribute '" + expression.attribute() + "': '"
                    + expression + "' has no value for this call: "
                    + MethodExpression.explain(ex);
            throw expression != condition && MethodExpression.isOfNull(ex)
                    ? new IllegalKeyException(message)
                    : new LockException(LockErrorCode.INVALID_ARGUMENT, message, ex);
        }
    }

    private String text(
            String what, MethodExpression expression, @Nullable Object wrapped, String element, MethodCall call) {
        Object value = KeyText.withoutOptional(wrapped);
        if (KeyText.isNothing(value)) {
            String kind = value == null
                    ? "null"
                    : KeyText.isBlank(Objects.toString(value.toString(), "")) ? "blank" : "empty";
            throw nothing(what, expression, element, kind);
        }
        UnfitValue unfit = KeyText.unfit(value);
        if (unfit != null) {
            throw unfit(what, expression, call, unfit.within(element), "is ");
        }
        return Objects.toString(value);
    }

    /** Calls with nothing would share one key, or have none. */
    private IllegalKeyException nothing(String what, MethodExpression expression, String element, String kind) {
        return new IllegalKeyException(refusal(
                what,
                expression,
                element,
                "is " + kind + " for this call. Pass a value; or let such a call run without a lock with a condition,"
                        + " such as condition = \"#id != null\""));
    }

    private <T> T used(
            String what,
            MethodExpression expression,
            MethodCall call,
            String text,
            String element,
            Function<String, T> use) {
        String whole = prefix.isEmpty() ? text : prefix + ":" + text;
        // Its length comes first: nothing else looks at a text that is too long.
        checked(what, expression, element, whole, LockLimits::key);
        UnfitValue printed = KeyText.printedIn(text, call.getArgs());
        if (printed != null) {
            throw unfit(what, expression, call, printed.within(element), "contains ");
        }
        return checked(what, expression, element, whole, use);
    }

    private LockException unfit(
            String what, MethodExpression expression, MethodCall call, UnfitValue unfit, String verb) {
        String reference = expression.reference(unfit.value(), call);
        return refused(what, expression, unfit.path(), verb + unfit.description(reference));
    }

    private LockException refused(String what, @Nullable Object expression, String part, String why) {
        return new LockException(LockErrorCode.INVALID_ARGUMENT, refusal(what, expression, part, why));
    }

    /** @param part the element of a collection or array, and the part of it; empty for a single value */
    private String refusal(String what, @Nullable Object expression, String part, String why) {
        String where = what + " '" + expression + "' of @DistributedLock on " + description;
        return part.isEmpty() ? "The " + where + " " + why : "In the " + where + ", " + part + " " + why;
    }
}
