package io.syncguard.verification.planted;

import io.syncguard.OneLine;
import org.junit.platform.engine.TestExecutionResult;
import org.junit.platform.engine.discovery.DiscoverySelectors;
import org.junit.platform.launcher.LauncherDiscoveryRequest;
import org.junit.platform.launcher.TestExecutionListener;
import org.junit.platform.launcher.TestIdentifier;
import org.junit.platform.launcher.core.LauncherDiscoveryRequestBuilder;
import org.junit.platform.launcher.core.LauncherFactory;

/** A process that runs the tests of one class until one fails, and prints a line for each. */
public final class TestRun {

    /** The name of a test follows. */
    static final String STARTED = "started ";

    /** The name of a test follows, then a colon and the message. */
    static final String FAILED = "failed ";

    /** A bug may make a test wait for ever. */
    private static final String LONGEST_TEST = "20 s";

    private TestRun() {}

    /** @param arguments the name of the class */
    public static void main(String[] arguments) {
        LauncherDiscoveryRequest request = LauncherDiscoveryRequestBuilder.request()
                .selectors(DiscoverySelectors.selectClass(arguments[0]))
                .configurationParameter("junit.jupiter.execution.timeout.testable.method.default", LONGEST_TEST)
                .build();
        LauncherFactory.create().execute(request, new TestExecutionListener() {
            @Override
            public void executionStarted(TestIdentifier test) {
                if (test.isTest()) {
                    print(STARTED + nameOf(test));
                }
            }

            @Override
            public void executionFinished(TestIdentifier test, TestExecutionResult result) {
                result.getThrowable().ifPresent(failure -> {
                    print(FAILED + nameOf(test) + ": " + failure);
                    System.exit(0);
                });
            }
        });
        System.exit(0);
    }

    private static String nameOf(TestIdentifier test) {
        return test.getDisplayName().replace("()", "");
    }

    private static void print(String line) {
        System.out.println(OneLine.of(line));
    }
}
