package io.syncguard.verification.inputs;

import io.syncguard.LockErrorCode;
import io.syncguard.LockException;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;

/** Judges and counts the answers to random calls. Used by one thread. */
final class Answers {

    /** Enough to see what is wrong. */
    private static final int MAX_VIOLATIONS = 20;

    /** The error codes that the documents name for a working server. */
    private static final Set<LockErrorCode> DOCUMENTED =
            EnumSet.of(LockErrorCode.INVALID_ARGUMENT, LockErrorCode.ACQUISITION_TIMEOUT, LockErrorCode.LOST);

    private final List<String> violations = new ArrayList<>();
    private final Map<String, Integer> counts = new TreeMap<>();

    /**
     * Makes a call. With illegal arguments it must be refused as {@code INVALID_ARGUMENT}, with legal ones it must not.
     *
     * @param legal whether the arguments are legal; {@code null} if that is unknown
     * @return its answer; {@code null} after an exception
     */
    <T> @Nullable T call(String name, @Nullable Boolean legal, Callable<T> call) {
        try {
            T answer = call.call();
            count(name, "answered");
            if (Boolean.FALSE.equals(legal)) {
                violated(name + " accepts an illegal value: " + answer);
            }
            return answer;
        } catch (LockException ex) {
            count(name, ex.code().name());
            judge(name, legal, ex);
        } catch (Exception | StackOverflowError ex) {
            count(name, ex.getClass().getSimpleName());
            violated(name + " throws " + describe(ex));
        }
        return null;
    }

    private void judge(String name, @Nullable Boolean legal, LockException ex) {
        boolean refused = ex.code() == LockErrorCode.INVALID_ARGUMENT;
        if (!DOCUMENTED.contains(ex.code())) {
            violated(name + " throws " + describe(ex));
        } else if (refused && ex.getCause() != null) {
            violated(name + " is refused by something else than its limits: " + describe(ex));
        } else if (legal != null && legal == refused) {
            violated(name
                    + (refused ? " refuses a legal value: " : " does not refuse an illegal value: ")
                    + describe(ex));
        }
        requireOneLine(name, String.valueOf(ex.getMessage()));
    }

    /** Checks that a message or a line of the log has no line break or other control character. */
    void requireOneLine(String what, String text) {
        if (text.codePoints().anyMatch(c -> c < ' ' || c == 0x7f || c == 0x85 || c == 0x2028 || c == 0x2029)) {
            violated(what + ": more than one line, or a control character: " + text);
        }
    }

    void require(boolean condition, String violation) {
        if (!condition) {
            violated(violation);
        }
    }

    void count(String call, String answer) {
        counts.merge(call + " " + answer, 1, Integer::sum);
    }

    void violated(String violation) {
        if (violations.size() < MAX_VIOLATIONS) {
            violations.add(violation);
        }
    }

    List<String> violations() {
        return violations;
    }

    /** The number of calls by name and answer. */
    Map<String, Integer> counts() {
        return counts;
    }

    int total() {
        return counts.values().stream().mapToInt(Integer::intValue).sum();
    }

    static String describe(Throwable failure) {
        StringBuilder text = new StringBuilder();
        for (Throwable each = failure; each != null; each = each.getCause()) {
            text.append(each).append(" at ").append(each.getStackTrace().length == 0 ? "?" : each.getStackTrace()[0]);
            text.append("; ");
        }
        return text.toString();
    }
}
