package io.syncguard.check;

import static org.assertj.core.api.Assertions.assertThat;

import io.syncguard.LockErrorCode;
import io.syncguard.LockException;
import io.syncguard.check.Finding.Verdict;
import io.syncguard.core.ContractStore;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.lang.reflect.Proxy;
import org.junit.jupiter.api.Test;

class ContractRunTests {

    @Test
    void a_rule_for_which_the_server_was_too_slow_is_not_broken() {
        assertThat(ContractRun.run(
                        failingWith(LockErrorCode.NETWORK_TIMEOUT), true, new PrintWriter(new StringWriter())))
                .anyMatch(finding -> finding.verdict() == Verdict.WARNING)
                .noneMatch(finding -> finding.verdict() == Verdict.BROKEN);
    }

    @Test
    void a_rule_that_fails_otherwise_is_broken() {
        assertThat(ContractRun.run(failingWith(LockErrorCode.INTERNAL), true, new PrintWriter(new StringWriter())))
                .anyMatch(finding -> finding.verdict() == Verdict.BROKEN);
    }

    private static ContractStore failingWith(LockErrorCode code) {
        return (ContractStore) Proxy.newProxyInstance(
                ContractRunTests.class.getClassLoader(),
                new Class<?>[] {ContractStore.class},
                (store, method, more) -> {
                    throw new LockException(code, "planted");
                });
    }
}
