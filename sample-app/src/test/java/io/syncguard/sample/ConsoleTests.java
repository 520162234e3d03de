package io.syncguard.sample;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.syncguard.LockHandle;
import io.syncguard.LockManager;
import io.syncguard.LockRequest;
import io.syncguard.leader.LeaderElection;
import java.io.IOException;
import java.sql.Connection;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import javax.sql.DataSource;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.openqa.selenium.WebElement;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.jdbc.autoconfigure.JdbcConnectionDetails;
import org.springframework.boot.test.context.SpringBootTest;
import org.springframework.boot.test.context.SpringBootTest.WebEnvironment;
import org.springframework.boot.test.web.server.LocalServerPort;

/**
 * The console in a real browser, of one instance that shares its database with another.
 */
@SpringBootTest(webEnvironment = WebEnvironment.RANDOM_PORT, properties = "sample.postgres-port=0")
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class ConsoleTests {

    private static final Duration WAIT = Duration.ofMinutes(2);

    private final ExecutorService threads = Executors.newCachedThreadPool();
    private final List<LockHandle> held = new ArrayList<>();
    private final String url;

    private Browser browser;

    @Autowired
    private LockManager locks;

    @Autowired
    private LeaderElection election;

    @Autowired
    private JdbcConnectionDetails postgres;

    @Autowired
    private DataSource database;

    ConsoleTests(@LocalServerPort int port) {
        this.url = "http://127.0.0.1:" + port + "/actuator/syncguardconsole";
    }

    @BeforeAll
    void openBrowser() {
        browser = Browser.open(1400, 1000);
    }

    @AfterAll
    void closeBrowser() {
        threads.shutdownNow();
        if (browser != null) {
            browser.close();
        }
    }

    @BeforeEach
    void show() {
        browser.show(url);
    }

    @AfterEach
    void nothingWasRefusedByTheBrowser() {
        held.forEach(LockHandle::release);
        assertThat(browser.errors()).isEmpty();
    }

    @Test
    void aLockIsThereWhileItIsHeld() {
        LockHandle report = hold("report:42", "reports@4711@berlin");

        browser.awaitText("[data-lock='report:42']", "reports@4711@berlin");
        browser.awaitText(
                "[data-lock='report:42']", String.valueOf(report.fence().value()));

        report.release();

        browser.awaitNone("[data-lock='report:42']");
        browser.awaitText("[data-event=RELEASED]", "held for");
        assertThat(browser.text()).doesNotContain("undefined", "null", "NaN");
    }

    @Test
    void aQueueIsShownWithItsPositionsAndReasons() throws Exception {
        LockHandle first = hold("order:42", "orders@4711@berlin");
        List<Future<LockHandle>> queue = new ArrayList<>();
        for (String owner : List.of("orders@815@hamburg", "orders@816@hamburg", "orders@4712@berlin")) {
            queue.add(threads.submit(() -> locks.acquire(request("order:42", owner))));
            int length = queue.size();
            await().atMost(Duration.ofSeconds(20))
                    .until(() -> locks.status("order:42").orElseThrow().waiters() == length);
        }

        browser.awaitText("[data-lock='order:42'] .q", "3 waiting");
        browser.click("[data-lock='order:42'] .lock");
        browser.awaitText("[data-lock='order:42'] .why", "orders@4711@berlin holds it exclusively");
        browser.awaitText("[data-lock='order:42'] .queue li:nth-child(1)", "orders@815@hamburg");
        browser.awaitText("[data-lock='order:42'] .queue li:nth-child(2)", "behind position 1, orders@815@hamburg");
        browser.awaitText("[data-lock='order:42'] .queue li:nth-child(3)", "orders@4712@berlin");
        pictures();

        first.release();
        for (Future<LockHandle> each : queue) {
            each.get().release();
        }
        browser.awaitNone("[data-lock='order:42']");
    }

    @Test
    void theTransactionThatCommitsUnderALockIsShown() throws Exception {
        hold("payment:9", "payments@4711@berlin");
        try (Connection commits = database.getConnection()) {
            commits.setAutoCommit(false);
            commits.createStatement().execute("SELECT 1 FROM syncguard_locks WHERE key = 'payment:9' FOR KEY SHARE");

            browser.click("[data-lock='payment:9'] .lock");
            browser.awaitText("[data-lock='payment:9'] .why", "1 transaction of the database locks its rows");
            browser.awaitText("[data-lock='payment:9'] .sessions", "idle in transaction");
            commits.rollback();
        }
        browser.awaitNone("[data-lock='payment:9'] .sessions");
    }

    @Test
    void aKeyIsSearchedByItsBeginningOrWhole() {
        hold("stock:TEA", "stock@1@berlin");
        hold("stock:TEAPOT", "stock@2@berlin");
        hold("webhook:1", "webhooks@3@berlin");

        browser.find("#search").sendKeys("stock:");
        browser.awaitNone("[data-lock='webhook:1']");
        browser.awaitText("[data-lock='stock:TEAPOT']", "stock@2@berlin");

        browser.find("#search").sendKeys("TEA");
        browser.click("#exact");
        browser.awaitNone("[data-lock='stock:TEAPOT']");
        browser.awaitText("[data-lock='stock:TEA'] .why", "stock@1@berlin holds it");
    }

    @Test
    void aLockThatHangsIsReleasedByForceWithAReason() {
        LockHandle hangs = hold("payment:7", "payments@4711@berlin");

        browser.click("[data-lock='payment:7'] .lock");
        browser.click("[data-force='payment:7']");
        WebElement confirm = browser.find("#confirm");
        assertThat(confirm.isEnabled()).isFalse();
        browser.find("#reason").sendKeys("the provider does not answer");
        assertThat(confirm.isEnabled()).isTrue();
        confirm.click();

        browser.awaitText("#done", "1 lease of “payment:7” ended by force");
        browser.awaitNone("[data-lock='payment:7']");
        browser.awaitText("[data-event=FORCE_RELEASED]", "the provider does not answer");
        assertThat(hangs.state()).isEqualTo(LockHandle.State.LOST);
    }

    @Test
    void onlyOneRequestIsUnderWayAtATime() {
        browser.awaitText("#updated", "updated");
        browser.run("window.asked = 0; window.fetch = () => { window.asked++; return new Promise(() => {}); }");
        await().atMost(WAIT).until(() -> browser.run("return window.asked"), asked -> asked.equals(1L));

        browser.find("#search").sendKeys("a");
        browser.click("#exact");
        browser.click("#pause");
        browser.click("#pause");

        await().during(Duration.ofSeconds(5))
                .atMost(Duration.ofSeconds(20))
                .until(() -> browser.run("return window.asked"), asked -> asked.equals(1L));
    }

    @Test
    void aForcedReleaseCanBeCancelled() {
        LockHandle works = hold("payment:8", "payments@4711@berlin");

        browser.click("[data-lock='payment:8'] .lock");
        browser.click("[data-force='payment:8']");
        browser.find("#reason").sendKeys("a mistake");
        browser.click("#force button[value=cancel]");

        browser.awaitText("[data-lock='payment:8']", "payments@4711@berlin");
        assertThat(works.isHeld()).isTrue();
    }

    @Test
    void keysAndOwnersAreNeverParsedAsHtml() {
        hold("hostile:<img src=x onerror=document.title='broken'>", "<script>document.title='broken'</script>");

        browser.awaitText(".lock .key", "hostile:<img src=x onerror=document.title='broken'>");
        browser.awaitText(".lock .who", "<script>document.title='broken'</script>");
        assertThat(browser.run("return document.title")).isEqualTo("SyncGuard");
    }

    @Test
    void theNextLeaderIsShownAfterTheLeaderWasKilled() throws Exception {
        election.member(SettlementService.ELECTION).pause();
        try (OtherInstance other = OtherInstance.start(List.of(
                "--server.port=0",
                "--syncguard.leader.elections.settlement.owner=orders@815@hamburg",
                "--syncguard.leader.elections.settlement.ttl=3s",
                "--spring.datasource.url=" + postgres.getJdbcUrl(),
                "--spring.datasource.username=postgres"))) {
            await().atMost(WAIT)
                    .until(() -> locks.holders("leader:settlement").stream()
                            .anyMatch(leader -> leader.owner().equals("orders@815@hamburg")));
            browser.awaitText("[data-election=settlement] .leader", "orders@815@hamburg");
            election.member(SettlementService.ELECTION).resume();
            browser.awaitText("[data-election=settlement]", "candidate here");

            other.kill();

            browser.awaitText("[data-election=settlement]", "this process leads");
            browser.awaitText("[data-event=ELECTED]", "settlement");
        }
    }

    /** In both colour schemes, and as wide as a phone. */
    private void pictures() throws IOException {
        browser.prefer("light");
        browser.screenshot("console");
        browser.prefer("dark");
        browser.screenshot("console-dark");
        browser.narrowTo(420, 900);
        assertThat((Long) browser.run("return document.documentElement.scrollWidth"))
                .isLessThanOrEqualTo(420);
        browser.screenshot("console-420");
        browser.widen();
        browser.prefer("light");
    }

    private LockHandle hold(String key, String owner) {
        LockHandle handle = locks.acquire(request(key, owner));
        held.add(handle);
        return handle;
    }

    private static LockRequest request(String key, String owner) {
        return LockRequest.of(key)
                .meterName(key.replaceFirst(":.*", ""))
                .owner(owner)
                .ttl(Duration.ofMinutes(5))
                .waitTime(WAIT);
    }
}
