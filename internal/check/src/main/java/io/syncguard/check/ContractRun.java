package io.syncguard.check;

import static org.junit.platform.engine.discovery.DiscoverySelectors.selectClass;

import io.syncguard.LockErrorCode;
import io.syncguard.LockException;
import io.syncguard.check.Finding.Part;
import io.syncguard.concurrent.Chain;
import io.syncguard.core.ContractStore;
import java.io.PrintWriter;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.junit.platform.engine.TestExecutionResult;
import org.junit.platform.engine.TestExecutionResult.Status;
import org.junit.platform.launcher.Launcher;
import org.junit.platform.launcher.LauncherDiscoveryRequest;
import org.junit.platform.launcher.TagFilter;
import org.junit.platform.launcher.TestExecutionListener;
import org.junit.platform.launcher.TestIdentifier;
import org.junit.platform.launcher.TestPlan;
import org.junit.platform.launcher.core.LauncherConfig;
import org.junit.platform.launcher.core.LauncherDiscoveryRequestBuilder;
import org.junit.platform.launcher.core.LauncherFactory;

/** Runs the contract of a store, and prints a line for each of its rules. */
final class ContractRun implements TestExecutionListener {

    private final PrintWriter out;
    private final Map<String, List<String>> broken = new LinkedHashMap<>();

    /** Rules for which the server was too slow. They tell nothing about promises. */
    private final Map<String, List<String>> late = new LinkedHashMap<>();

    private final Map<String, Integer> rules = new LinkedHashMap<>();
    private final long began = System.nanoTime();
    private TestPlan plan;
    private long all;
    private long done;

    private ContractRun(PrintWriter out, TestPlan plan) {
        this.out = out;
        this.plan = plan;
    }

    /** @param wakeUps whether the server delivers wake-ups; without them, waiters poll */
    static List<Finding> run(ContractStore store, boolean wakeUps, PrintWriter out) {
        Contracts.runOn(store);
        Launcher launcher = LauncherFactory.create(LauncherConfig.builder()
                .enableTestExecutionListenerAutoRegistration(false)
                .enableLauncherSessionListenerAutoRegistration(false)
                .build());
        LauncherDiscoveryRequestBuilder rules = LauncherDiscoveryRequestBuilder.request()
                .selectors(selectClass(Contracts.class))
                .configurationParameter("junit.jupiter.extensions.autodetection.enabled", "false");
        if (!wakeUps) {
            rules.filters(TagFilter.excludeTags(Contracts.WAKE_UPS));
        }
        LauncherDiscoveryRequest request = rules.build();
        TestPlan plan = launcher.discover(request);
        ContractRun run = new ContractRun(out, plan);
        launcher.execute(request, run);
        List<Finding> findings = run.findings();
        if (!wakeUps) {
            findings.add(Finding.notTried(
                    Part.CONTRACT,
                    "the queue, hand-overs, permits and leadership",
                    "no wake-up arrives here, and their rules await some. The load tries them, with waiters that"
                            + " poll"));
        }
        return findings;
    }

    @Override
    public void testPlanExecutionStarted(TestPlan started) {
        plan = started;
        all = started.countTestIdentifiers(TestIdentifier::isTest);
    }

    @Override
    public void executionStarted(TestIdentifier test) {
        if (test.isTest()) {
            Writing.begin();
        }
    }

    @Override
    public void dynamicTestRegistered(TestIdentifier test) {
        all += test.isTest() ? 1 : 0;
    }

    @Override
    public void executionFinished(TestIdentifier test, TestExecutionResult result) {
        if (!test.isTest()) {
            if (result.getStatus() == Status.FAILED) {
                failed(test, result);
            }
            return;
        }
        Writing.end();
        done++;
        rules.merge(groupOf(test), 1, Integer::sum);
        boolean holds = result.getStatus() == Status.SUCCESSFUL;
        long seconds = (System.nanoTime() - began) / 1_000_000_000;
        out.printf(
                Locale.ROOT,
                "  %-6s %s: %s   (%d of %d, about %d s left)%n",
                holds ? "holds" : isLate(result) ? "late" : "BROKEN",
                groupOf(test),
                ruleOf(test),
                done,
                Math.max(all, done),
                seconds * (Math.max(all, done) - done) / done);
        out.flush();
        if (!holds) {
            failed(test, result);
        }
    }

    private void failed(TestIdentifier test, TestExecutionResult result) {
        (isLate(result) ? late : broken)
                .computeIfAbsent(groupOf(test), any -> new ArrayList<>())
                .add(ruleOf(test)
                        + result.getThrowable()
                                .map(failure -> ": "
                                        + String.valueOf(failure.getMessage()).strip())
                                .orElse(""));
    }

    private static boolean isLate(TestExecutionResult result) {
        return result.getThrowable().stream()
                .flatMap(Chain::causes)
                .anyMatch(cause ->
                        cause instanceof LockException failure && failure.code() == LockErrorCode.NETWORK_TIMEOUT);
    }

    /** The name of the contract with this rule. */
    private String groupOf(TestIdentifier test) {
        TestIdentifier at = test;
        String group = test.getDisplayName();
        for (var parent = plan.getParent(at); parent.isPresent(); parent = plan.getParent(at)) {
            if (parent.get().getDisplayName().equals(Contracts.class.getSimpleName())) {
                return group;
            }
            at = parent.get();
            group = at.getDisplayName();
        }
        return group;
    }

    private static String ruleOf(TestIdentifier test) {
        return test.getDisplayName().replaceFirst("\\(.*\\)$", "").replace('_', ' ');
    }

    private List<Finding> findings() {
        List<Finding> findings = new ArrayList<>();
        late.forEach((group, failed) -> findings.add(Finding.warning(
                        Part.CONTRACT,
                        group,
                        failed.size() + " rules were not judged, because the server did not answer in time",
                        "Run the check again when the server and this machine are less busy")
                .with(failed)));
        rules.forEach((group, count) -> {
            List<String> failed = broken.getOrDefault(group, List.of());
            findings.add(
                    failed.isEmpty()
                            ? Finding.holds(
                                    Part.CONTRACT,
                                    group,
                                    count - late.getOrDefault(group, List.of()).size() + " rules")
                            : Finding.broken(
                                            Part.CONTRACT,
                                            group,
                                            failed.size() + " of " + count + " rules are broken",
                                            "Attach this report to an issue")
                                    .with(failed));
        });
        broken.forEach((group, failed) -> {
            if (!rules.containsKey(group)) {
                findings.add(Finding.broken(Part.CONTRACT, group, "it could not run", "")
                        .with(failed));
            }
        });
        return findings;
    }
}
