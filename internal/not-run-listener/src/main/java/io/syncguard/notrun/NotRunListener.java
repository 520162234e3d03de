package io.syncguard.notrun;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.junit.platform.engine.TestExecutionResult;
import org.junit.platform.engine.TestSource;
import org.junit.platform.engine.support.descriptor.ClassSource;
import org.junit.platform.engine.support.descriptor.MethodSource;
import org.junit.platform.launcher.TestExecutionListener;
import org.junit.platform.launcher.TestIdentifier;
import org.junit.platform.launcher.TestPlan;

/**
 * Appends each test that was skipped, and its reason, to the file that the system property {@value #FILE} names.
 * Surefire neither counts nor names a class whose {@code @BeforeAll} ends with an assumption.
 */
public final class NotRunListener implements TestExecutionListener {

    static final String FILE = "syncguard.not-run";

    private static final String UNKNOWN = "an assumption does not hold";

    private record Skip(String className, String reason) {}

    private final @Nullable String file;
    private final Map<Skip, Set<String>> methods = new LinkedHashMap<>();
    private @Nullable TestPlan plan;

    public NotRunListener() {
        this(System.getProperty(FILE));
    }

    NotRunListener(@Nullable String file) {
        this.file = file;
    }

    @Override
    public void testPlanExecutionStarted(TestPlan started) {
        plan = started;
    }

    @Override
    public void executionSkipped(TestIdentifier test, String reason) {
        skipped(test, reason);
    }

    @Override
    public void executionFinished(TestIdentifier test, TestExecutionResult result) {
        if (result.getStatus() == TestExecutionResult.Status.ABORTED) {
            skipped(test, result.getThrowable().map(NotRunListener::reason).orElse(UNKNOWN));
        }
    }

    @Override
    public synchronized void testPlanExecutionFinished(TestPlan finished) {
        if (file == null || methods.isEmpty()) {
            return;
        }
        String module = String.valueOf(Path.of("").toAbsolutePath().getFileName());
        String lines = methods.entrySet().stream()
                .map(each -> module + ": " + line(each.getKey(), each.getValue()) + "\n")
                .collect(Collectors.joining());
        methods.clear();
        try {
            Path path = Path.of(file);
            Files.createDirectories(path.toAbsolutePath().getParent());
            Files.writeString(path, lines, StandardOpenOption.CREATE, StandardOpenOption.APPEND);
        } catch (IOException ex) {
            throw new UncheckedIOException(ex);
        }
    }

    static String reason(Throwable aborted) {
        String message = aborted.getMessage();
        return message == null
                ? UNKNOWN
                : message.replaceFirst("^Assumption failed: ", "").replaceAll("\\s+", " ");
    }

    private static String line(Skip skip, Set<String> methods) {
        String which = methods.size() == 1 ? "." + methods.iterator().next() : " (" + methods.size() + " tests)";
        return skip.className + which + ": " + skip.reason;
    }

    private synchronized void skipped(TestIdentifier test, String reason) {
        Skip skip = new Skip(className(test), reason);
        Set<String> skipped = methods.computeIfAbsent(skip, each -> new TreeSet<>());
        if (test.getSource().orElse(null) instanceof MethodSource method) {
            skipped.add(method.getMethodName());
        } else if (plan != null) {
            plan.getDescendants(test).forEach(below -> {
                if (below.getSource().orElse(null) instanceof MethodSource method) {
                    skipped.add(method.getMethodName());
                }
            });
        }
    }

    private static String className(TestIdentifier test) {
        TestSource source = test.getSource().orElse(null);
        if (source instanceof MethodSource method) {
            return method.getClassName();
        }
        return source instanceof ClassSource type ? type.getClassName() : test.getUniqueId();
    }
}
