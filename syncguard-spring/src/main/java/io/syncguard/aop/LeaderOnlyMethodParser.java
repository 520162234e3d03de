package io.syncguard.aop;

import io.syncguard.LockException;
import io.syncguard.LockSetupException;
import io.syncguard.interception.ResultType;
import io.syncguard.leader.LeaderElection;
import io.syncguard.leader.LeaderOnly;
import java.lang.reflect.Method;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.Supplier;
import org.springframework.util.ClassUtils;
import org.springframework.util.StringValueResolver;

/**
 * Parses {@link LeaderOnly} annotations, and checks that their elections are known. Thread-safe.
 */
final class LeaderOnlyMethodParser {

    private final Supplier<LeaderElection> election;
    private final StringValueResolver placeholders;

    /** The methods that were parsed before all elections were known. */
    private final List<LeaderOnlyMethod> unchecked = new CopyOnWriteArrayList<>();

    /** Written by the thread that starts the application, read by all. */
    private volatile boolean electionsAreKnown;

    LeaderOnlyMethodParser(Supplier<LeaderElection> election, StringValueResolver placeholders) {
        this.election = election;
        this.placeholders = placeholders;
    }

    LeaderOnlyMethod parse(LeaderOnly annotation, Method method, Class<?> targetClass) {
        String description = ClassUtils.getQualifiedMethodName(method);
        String name = placeholders.resolveStringValue(annotation.value());
        try {
            ResultType result =
                    ResultType.withoutPublishers(method, targetClass).requireSkippable();
            LeaderOnlyMethod parsed = new LeaderOnlyMethod(description, name == null ? "" : name, result);
            if (electionsAreKnown) {
                requireElection(parsed);
            } else {
                unchecked.add(parsed);
            }
            return parsed;
        } catch (LockException ex) {
            throw mistake(description, ex);
        }
    }

    /** Called when all beans exist. Until then, a bean may still define an election. */
    void requireElections() {
        electionsAreKnown = true;
        unchecked.forEach(this::requireElection);
        unchecked.clear();
    }

    private void requireElection(LeaderOnlyMethod method) {
        try {
            election.get().member(method.election());
        } catch (LockException ex) {
            throw mistake(method.description(), ex);
        }
    }

    private static LockSetupException mistake(String method, LockException ex) {
        return LockSetupException.at("@LeaderOnly on " + method, ex);
    }
}
