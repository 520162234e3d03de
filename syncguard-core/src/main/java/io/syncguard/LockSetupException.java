package io.syncguard;

import java.util.List;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/**
 * Locks cannot be set up: a setting, an annotation, the tables or the server does not allow it. An application that
 * does not start for this reason shows {@link #problem()} and {@link #nextSteps()} instead of a stack trace.
 */
public class LockSetupException extends LockException {

    private static final long serialVersionUID = 1L;

    private final String problem;
    private final String[] nextSteps;

    /**
     * @param problem what is wrong, without a full stop
     * @param nextSteps what to do, without full stops: one of these, at least one
     */
    public LockSetupException(LockErrorCode code, String problem, List<String> nextSteps, @Nullable Throwable cause) {
        super(code, problem + ". " + inOneSentence(nextSteps), cause);
        this.problem = problem;
        this.nextSteps = nextSteps.toArray(String[]::new);
    }

    /** A setting, an annotation or an argument with a value that it must not have. */
    public static LockSetupException invalid(String problem, String... nextSteps) {
        return new LockSetupException(LockErrorCode.INVALID_ARGUMENT, problem, List.of(nextSteps), null);
    }

    /**
     * Adds where a mistake is.
     *
     * @param where such as {@code syncguard.ttl}
     */
    public static LockSetupException at(String where, RuntimeException mistake) {
        return mistake instanceof LockSetupException known
                ? new LockSetupException(known.code(), where + ": " + known.problem, known.nextSteps(), known)
                : new LockSetupException(
                        LockErrorCode.INVALID_ARGUMENT,
                        where + ": " + mistake.getMessage(),
                        List.of("Correct " + where),
                        mistake);
    }

    /**
     * Returns what a bean of the library has answered.
     *
     * @param method that has returned it, such as {@code LockTemplate.manager}
     * @throws LockSetupException when it is {@code null}, which only a mock returns
     */
    public static <T> T requireAnswer(String method, @Nullable T answer) {
        if (answer == null) {
            throw invalid(
                    method + " returned null, as a mock does",
                    "In a test, use @AutoConfigureTestLocks of syncguard-spring-boot-starter-test instead of the mock",
                    "Have the mock return a value");
        }
        return answer;
    }

    /** What is wrong: the first part of the message. */
    public String problem() {
        return problem;
    }

    /** What to do: one of these. The second part of the message. */
    public List<String> nextSteps() {
        return List.of(nextSteps);
    }

    private static String inOneSentence(List<String> nextSteps) {
        return nextSteps.stream()
                .reduce((first, next) ->
                        first + "; or " + next.substring(0, 1).toLowerCase(Locale.ROOT) + next.substring(1))
                .orElse("");
    }
}
