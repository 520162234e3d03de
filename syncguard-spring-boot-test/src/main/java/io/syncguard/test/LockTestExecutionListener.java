package io.syncguard.test;

import org.springframework.beans.factory.ObjectProvider;
import org.springframework.core.Ordered;
import org.springframework.test.context.TestContext;
import org.springframework.test.context.TestExecutionListener;
import org.springframework.test.context.support.DirtiesContextTestExecutionListener;
import org.springframework.test.context.transaction.TransactionalTestExecutionListener;

/**
 * Resets the locks in memory after each test method, and lets {@link LockAssertions} find their control while a method
 * runs. It does nothing in other tests.
 */
final class LockTestExecutionListener implements TestExecutionListener, Ordered {

    /**
     * After the transaction of the test method, which releases locks at its end, and before the context is closed.
     *
     * @see TransactionalTestExecutionListener
     * @see DirtiesContextTestExecutionListener
     */
    @Override
    public int getOrder() {
        return 3500;
    }

    @Override
    public void beforeTestMethod(TestContext test) {
        if (test.hasApplicationContext()) {
            controls(test).ifUnique(RunningTests::begin);
        }
    }

    @Override
    public void afterTestMethod(TestContext test) {
        if (test.hasApplicationContext()) {
            controls(test).ifUnique(RunningTests::end);
            controls(test).stream(ObjectProvider.UNFILTERED).forEach(LockTestControl::reset);
        }
    }

    private static ObjectProvider<LockTestControl> controls(TestContext test) {
        return test.getApplicationContext().getBeanProvider(LockTestControl.class);
    }
}
