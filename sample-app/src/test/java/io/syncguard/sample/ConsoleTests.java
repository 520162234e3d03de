package io.syncguard.sample;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.syncguard.LockHandle;
import io.syncguard.LockManager;
import io.syncguard.LockRequest;
import io.syncguard.LockStatus;
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
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.openqa.selenium.Keys;
import org.openqa.selenium.WebElement;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.boot.jdbc.autoconfigure.JdbcConnectionDetails;
import org.springframework.boot.test.context.SpringBootTest;
import org.springframework.boot.test.context.SpringBootTest.WebEnvironment;
import org.springframework.boot.test.web.server.LocalServerPort;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.web.client.RestTemplate;

/**
 * The console in a real browser, of one instance that shares its database with another.
 */
@SpringBootTest(webEnvironment = WebEnvironment.RANDOM_PORT, properties = "sample.postgres-port=0")
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class ConsoleTests {

    private static final String PATH = "/actuator/syncguardconsole";

    private static final Duration WAIT = Duration.ofMinutes(2);

    private static final String LINES_OF = """
            const texts = document.createTreeWalker(document.querySelector(arguments[0]), NodeFilter.SHOW_TEXT);
            const lines = new Set();
            while (texts.nextNode()) {
              const range = document.createRange();
              range.selectNodeContents(texts.currentNode);
              [...range.getClientRects()].forEach(each => lines.add(Math.round(each.bottom)));
            }
            return lines.size;
            """;

    /** In how many places the numbers of the locks begin. */
    private static final String COLUMNS = """
            return new Set([...document.querySelectorAll('.lock .left')]
                .map(each => each.getBoundingClientRect().left)).size;
            """;

    /** Chooses an order. */
    private static final String CHOOSE = """
            document.querySelector('#order').value = arguments[0];
            document.querySelector('#order').dispatchEvent(new Event('change'));
            """;

    /** What stands before the text of an element. */
    private static final String MARK_OF =
            "return getComputedStyle(document.querySelector(arguments[0]), '::before').content";

    /** How many fields of a name stand in its last line. */
    private static final String LAST_LINE = """
            const places = [...document.querySelectorAll(arguments[0])].map(each => each.getBoundingClientRect().top);
            return places.filter(each => each === Math.max(...places)).length;
            """;

    private final ExecutorService threads = Executors.newCachedThreadPool();
    private final List<LockHandle> held = new ArrayList<>();
    private final List<Future<LockHandle>> waiting = new ArrayList<>();
    private final int port;
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
        this.port = port;
        this.url = "http://127.0.0.1:" + port + PATH;
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
        browser.widen();
        browser.show(url);
    }

    @AfterEach
    void nothingWasRefusedByTheBrowser() throws Exception {
        held.forEach(LockHandle::release);
        for (Future<LockHandle> each : waiting) {
            each.get().release();
        }
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

    /** A browser shows such a page, but refuses to fetch an address with a user in it. */
    @Test
    void itWorksAtAnAddressWithAUserAndAPassword() {
        browser.show(url.replace("http://", "http://user:secret@"));

        hold("report:43", "reports@4711@berlin");

        browser.awaitText("[data-lock='report:43']", "reports@4711@berlin");
    }

    @Test
    void aQueueIsShownWithItsPositionsAndReasons() throws Exception {
        LockHandle first =
                threads.submit(() -> hold("order:42", "orders@4711@berlin")).get();
        List<Future<LockHandle>> queue = new ArrayList<>();
        for (String owner : List.of("orders@815@hamburg", "orders@816@hamburg", "orders@4712@berlin")) {
            queue.add(threads.submit(() -> locks.acquire(request("order:42", owner))));
            int length = queue.size();
            await().atMost(Duration.ofSeconds(20))
                    .until(() -> locks.admin().status("order:42").orElseThrow().waiters() == length);
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

    /** The annotation of this process says how many permits there are. */
    @Test
    void permitsAreShownWithWhoHoldsThemAndWhoWaitsForWhat() throws Exception {
        LockRequest permit = request("partner-api:acme").permits(3);
        held.add(threads.submit(() -> locks.acquire(permit.owner("quotes@1@berlin")))
                .get());
        browser.awaitText("[data-lock='partner-api:acme'] .permits", "1 of 3");
        held.add(threads.submit(() -> locks.acquire(permit.owner("quotes@1@berlin")))
                .get());
        held.add(threads.submit(() -> locks.acquire(permit.owner("quotes@3@hamburg")))
                .get());
        waitFor("partner-api:acme", permit.owner("quotes@4@hamburg"));
        waitFor("partner-api:acme", permit.permits(5).owner("quotes@5@hamburg"));

        browser.awaitText("[data-lock='partner-api:acme'] .permits", "3 of 3 or 5");
        browser.click("[data-lock='partner-api:acme'] .lock");
        browser.awaitText("[data-lock='partner-api:acme'] .why", "3 of 3 or 5 permits are in use");
        browser.awaitText("[data-lock='partner-api:acme'] .why", "quotes@1@berlin holds a permit");
        browser.awaitText("[data-lock='partner-api:acme'] .holders", "quotes@3@hamburg");
        browser.awaitText("[data-lock='partner-api:acme'] .queue li:nth-child(1)", "one of 3");
        browser.awaitText(
                "[data-lock='partner-api:acme'] .queue li:nth-child(1) .behind",
                "behind the holder quotes@1@berlin (2 times), the holder quotes@3@hamburg");
        browser.awaitText("[data-lock='partner-api:acme'] .queue li:nth-child(2)", "one of 5");
        browser.awaitText(
                "[data-lock='partner-api:acme'] .queue li:nth-child(2) .behind", "behind position 1, quotes@4@hamburg");
        browser.screenshot("console-permits");
        browser.narrowTo(420, 900);
        assertThat(browser.overflowing()).isEqualTo("");
        browser.widen();
    }

    @Test
    void callersOfOneProcessAreToldApartByTheirThreads() throws Exception {
        held.add(locks.acquire(request("catalogue").shared()));
        held.add(threads.submit(() -> locks.acquire(request("catalogue").shared()))
                .get());
        waitFor("catalogue", request("catalogue"));
        waitFor("catalogue", request("catalogue"));

        browser.click("[data-lock='catalogue'] .lock");
        browser.awaitText(
                "[data-lock='catalogue'] .holders", "#" + Thread.currentThread().getId());
        browser.awaitText("[data-lock='catalogue'] .queue li:nth-child(2)", "-thread-");
        assertThat(browser.textsOf("[data-lock='catalogue'] .queue .thread"))
                .hasSize(2)
                .doesNotHaveDuplicates();
    }

    @Tag("verification")
    @Test
    void whyBlockedOpensTheLocksThatSomebodyWaitsFor() throws Exception {
        hold("invoice:1", "invoices@4711@berlin");
        LockHandle blocks = hold("invoice:2", "invoices@4711@berlin");
        Future<LockHandle> waits = waitFor("invoice:2", request("invoice:2", "invoices@815@hamburg"));
        browser.click("[data-lock='invoice:1'] .lock");
        browser.awaitText("[data-lock='invoice:1'] .why", "Nobody waits for it");

        browser.click("#exact");

        browser.awaitText("[data-lock='invoice:2'] .why", "1 waits");
        browser.awaitNone("[data-lock='invoice:1'] .why");
        assertThat(browser.textsOf("#locks [data-force]")).hasSize(1);
        assertThat(browser.textsOf("#locks .danger")).isEmpty();

        blocks.release();
        waits.get().release();
        browser.awaitNone("[data-lock='invoice:2']");
        browser.click("#exact");
        browser.awaitText("#note", "Nobody waits for any of these locks");
        browser.awaitNone(".why");
    }

    @Tag("verification")
    @Test
    void aReaderSeesWhatOpensTheDetailsAndOpensThemByTheKeyboard() {
        hold("parcel:1", "parcels@4711@berlin");
        browser.awaitText("[data-lock='parcel:1'] .left", "min left");
        assertThat(browser.run(MARK_OF, "[data-lock='parcel:1'] .toggle")).isNotEqualTo("none");

        String toggle = "return document.activeElement.closest('[data-lock=\"parcel:1\"]') !== null";
        browser.find("#search").sendKeys("parcel:");
        browser.awaitNone("[data-lock='leader:settlement']");
        browser.find("#search").sendKeys(Keys.TAB, Keys.TAB);
        browser.find("#waiting").sendKeys(Keys.TAB);
        assertThat(browser.run(toggle)).isEqualTo(true);
        assertThat(browser.run("return getComputedStyle(document.activeElement).outlineStyle"))
                .isEqualTo("solid");
        browser.find("[data-lock='parcel:1'] .toggle").sendKeys(Keys.ENTER);
        browser.awaitText("[data-lock='parcel:1'] .detail", "Nobody waits for it");
        assertThat(browser.textsOf("[data-lock='parcel:1'] .detail h3")).containsExactly("Who holds it");
        assertThat(browser.run(toggle)).isEqualTo(true);
    }

    @Test
    void aReleaseByForceThatFindsNothingIsNoProblem() {
        locks.admin().forceRelease("nobody:1", "by ann");

        browser.awaitText("[data-event=NOT_HELD]", "nobody:1");
        assertThat(browser.textsOf("[data-event=NOT_HELD] .badge")).containsOnly("not held");
        browser.run("document.querySelector('#filter').value = 'problems';"
                + "document.querySelector('#filter').dispatchEvent(new Event('change'))");
        browser.awaitNone("[data-event=NOT_HELD]");
    }

    @Tag("verification")
    @Test
    void aLockThatIsHeldCountsForTheLongestHold() {
        hold("archive:1", "archive@4711@berlin");

        browser.awaitText("[data-name=archive] [data-label='Longest hold']", " s");
        assertThat(browser.textsOf("[data-name=archive] [data-label='Longest hold']"))
                .noneMatch(hold -> hold.contains("0.0 s"));
    }

    @Tag("verification")
    @Test
    void problemsStandBeforeOtherEvents() {
        hold("refund:1", "refunds@4711@berlin");
        locks.admin().forceRelease("refund:1", "a test");
        hold("refund:2", "refunds@4711@berlin").release();

        browser.awaitText("[data-event=RELEASED]", "refund:2");

        assertThat(browser.textsOf("#events .item").subList(0, 2))
                .anyMatch(event -> event.contains("force released") && event.contains("refund:1"))
                .anyMatch(event -> event.contains("lost") && event.contains("refund:1"));
        assertThat(browser.textsOf("#events .item .badge"))
                .filteredOn(type ->
                        List.of("lost", "force released", "failed", "leaked").contains(type))
                .isEqualTo(browser.textsOf("#events .item .badge").stream()
                        .takeWhile(type -> List.of("lost", "force released", "failed", "leaked")
                                .contains(type))
                        .toList());
    }

    @Tag("verification")
    @Test
    void nothingIsCutOffAtAnyWidth() throws Exception {
        String name = "settlement-of-all-orders";
        String key = name + ":2026-11";
        hold(key, "settlement-service@4711@berlin");
        hold("x".repeat(200) + ":1", "y".repeat(100));
        waitFor(key, request(key));
        browser.click("[data-lock='" + key + "'] .lock");
        browser.awaitText("[data-lock='" + key + "'] .queue", "thread");
        browser.awaitText("[data-name='" + name + "']", name);
        browser.run("clearTimeout(state.timer); state.paused = true;"
                + "document.querySelectorAll('.lock .fence').forEach(each => each.textContent = '176412345678901')");
        for (int width : new int[] {320, 420, 768, 1100, 1200, 1400}) {
            browser.narrowTo(width, 1700);

            assertThat(browser.overflowing()).as("at " + width).isEqualTo("");
            assertThat(browser.run(LINES_OF, "[data-name='" + name + "'] .key"))
                    .as("lines of the name at " + width)
                    .isEqualTo(1L);
            assertThat(browser.run(LINES_OF, "[data-lock='" + key + "'] .who .word"))
                    .as("lines of the first part of the owner at " + width)
                    .isEqualTo(1L);
            assertThat(browser.run(COLUMNS))
                    .as("places of a column at " + width)
                    .isEqualTo(1L);
            if (width > 320) {
                assertThat(browser.run(LAST_LINE, "[data-name='" + name + "'] td"))
                        .as("fields in the last line at " + width)
                        .isNotEqualTo(1L);
            }
            browser.screenshot("console-" + width);
        }
        browser.widen();
    }

    @Test
    void behindABalancerEachInstanceIsShownByItself() throws Exception {
        try (ConfigurableApplicationContext other = otherInstance(
                        "--syncguard.owner=the-other",
                        "--syncguard.console.owner-link=https://logs.example.com/?q={owner}");
                Balancer balancer = new Balancer(List.of(port, portOf(other)))) {
            locks.admin().forceRelease("nobody:here", "by ann");
            other.getBean(LockManager.class).admin().forceRelease("nobody:there", "by bob");
            LockHandle there = other.getBean(LockManager.class).acquire(LockRequest.of("rebate", "there"));

            browser.show(balancer.url() + PATH);

            browser.awaitText("#events", "nobody:here");
            browser.awaitText("#events", "nobody:there");
            assertThat(browser.textsOf("#events .item"))
                    .anyMatch(event -> event.contains("nobody:there") && event.contains("the-other · "));
            String shown = browser.find("#instances").getAttribute("value");
            browser.run("""
                    window.seen = new Set();
                    window.renewals = 0;
                    new MutationObserver(() => {
                      window.renewals++;
                      window.seen.add($('instances').value + $('names').textContent.includes('rebate'));
                    }).observe($('updated'), {childList: true, characterData: true, subtree: true});
                    """);
            await().atMost(WAIT).until(() -> browser.run("return window.renewals >= 4"), Boolean.TRUE::equals);
            assertThat(browser.run("return [...window.seen].length")).isEqualTo(1L);

            String another = (String) browser.run(
                    "const select = document.getElementById('instances');"
                            + " select.value = [...select.options].map(each => each.value).find(each => each !== arguments[0]);"
                            + " select.dispatchEvent(new Event('change')); return select.value",
                    shown);
            assertThat(another).isNotEqualTo(shown);
            assertThat(browser.textsOf("#names [data-name=rebate]").isEmpty())
                    .isNotEqualTo(String.valueOf(browser.run("return [...window.seen][0]"))
                            .endsWith("false"));
            browser.show("http://127.0.0.1:" + portOf(other) + PATH);
            browser.click("[data-lock='rebate:there'] .lock");
            browser.awaitText("[data-lock='rebate:there'] .why a", "the-other");
            assertThat(browser.find("[data-lock='rebate:there'] .why a").getAttribute("href"))
                    .isEqualTo("https://logs.example.com/?q=the-other");
            there.release();
        }
    }

    private ConfigurableApplicationContext otherInstance(String... arguments) {
        return new SpringApplicationBuilder(SampleApplication.class)
                .properties(arguments)
                .run(
                        "--server.port=0",
                        "--spring.jmx.enabled=false",
                        "--syncguard.leader.elections.settlement.auto-startup=false",
                        "--spring.datasource.url=" + postgres.getJdbcUrl(),
                        "--spring.datasource.username=postgres");
    }

    private static int portOf(ConfigurableApplicationContext instance) {
        return instance.getEnvironment().getRequiredProperty("local.server.port", Integer.class);
    }

    @Tag("verification")
    @Test
    void theNameStandsBesideAHiddenKey() {
        hold("voucher:ann@example.com", "vouchers@4711@berlin");
        try (ConfigurableApplicationContext hidden =
                otherInstance("--management.endpoint.syncguard.show-values=never")) {
            LockManager own = hidden.getBean(LockManager.class);
            own.acquire(LockRequest.of("voucher", "bob@example.com")).release();
            browser.show("http://127.0.0.1:" + portOf(hidden) + PATH);

            browser.awaitText(".lock .key", "voucher");
            browser.awaitText("#hidden-keys", "management.endpoint.syncguard.show-values");
            browser.awaitText("[data-event=RELEASED]", "voucher");
            assertThat(browser.text()).doesNotContain("ann", "bob");
            // The page asks this instance until it is left.
            browser.show(url);
        }
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
    void whileTheDatabaseHangsThePageSaysHowOldItsListIsAndShowsWhatTheProcessKnows() throws Exception {
        LockHandle report = hold("report:42", "reports@4711@berlin");
        browser.awaitText("[data-lock='report:42']", "reports@4711@berlin");
        try (Connection hangs = database.getConnection()) {
            hangs.setAutoCommit(false);
            hangs.createStatement().execute("LOCK TABLE syncguard_locks_waiters IN ACCESS EXCLUSIVE MODE");

            browser.awaitText("#partial", "The store has not answered within 700 ms");
            browser.awaitText("[data-lock='report:42'] .left", " ago");
            browser.awaitText("[data-own='report:42']", "left");
            browser.awaitText(
                    "[data-own='report:42']", "fence " + report.fence().value());
            assertAccessible("while the database hangs");
            hangs.rollback();
        }
        browser.awaitNone("[data-own='report:42']");
        assertThat(browser.find("#partial").isDisplayed()).isFalse();
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
    void theServerFindsAndSortsLocksBehindThePage() throws Exception {
        hold("zone:old", "zones@1@berlin");
        for (int i = 0; i < 105; i++) {
            hold("bulk:%03d".formatted(i), "bulk@2@berlin");
        }
        hold("zone:blocked", "zones@1@berlin");
        waitFor("zone:blocked", request("zone:blocked", "zones@3@hamburg"));
        // The sample also leads an election.
        browser.awaitText("#totals", locks.admin().summary().locked() + " keys are locked");
        browser.awaitText("#totals", "1 caller waits for 1 key");
        browser.awaitNone("[data-lock='zone:old']");

        browser.run(CHOOSE, "longest-held");
        browser.awaitText("[data-lock='zone:old']", "zones@1@berlin");

        browser.click("#waiting");
        browser.awaitText("[data-lock='zone:blocked']", "1 waiting");
        browser.awaitNone("[data-lock='bulk:001']");
        browser.find("#search").sendKeys("bulk:");
        browser.awaitText("#none", "Nobody waits for any lock that has a key that begins with “bulk:”.");
        browser.run("document.querySelector('#search').value = ''");
        browser.find("#search").sendKeys(Keys.ENTER);
        browser.click("#waiting");
        browser.awaitText("[data-lock='bulk:001']", "bulk@2@berlin");

        browser.click("#exact");
        browser.awaitText("[data-lock='zone:blocked'] .why", "1 waits");
        browser.awaitText("#note", "Callers wait for one of these locks");
    }

    @Test
    void locksAreFoundByAPartOfTheKeyAndAllOfAnOwnerAreReleasedAfterTheyWereListed() {
        LockHandle first = hold("mail:1", "mails@7@munich");
        LockHandle second = hold("mail:2", "mails@7@munich");
        LockHandle other = hold("mail:3", "mails@8@berlin");
        assertThat(browser.find("#release-all").isDisplayed()).isFalse();

        browser.find("#contains").sendKeys("ail:3");
        browser.awaitNone("[data-lock='mail:1']");
        browser.awaitText("[data-lock='mail:3']", "mails@8@berlin");
        browser.find("#contains").sendKeys(Keys.BACK_SPACE, Keys.BACK_SPACE, Keys.BACK_SPACE, Keys.BACK_SPACE);
        browser.find("#contains").sendKeys(Keys.BACK_SPACE);

        browser.find("#owner").sendKeys("@munich");
        browser.awaitNone("[data-lock='mail:3']");
        browser.click("#release-all");
        browser.awaitText("#all-facts", "2 leases will end");
        assertThat(browser.textsOf("#all-leases li"))
                .satisfiesExactly(
                        text -> assertThat(text)
                                .contains(
                                        "mail:1",
                                        "mails@7@munich",
                                        "fence " + first.fence().value()),
                        text -> assertThat(text)
                                .contains(
                                        "mail:2",
                                        "mails@7@munich",
                                        "fence " + second.fence().value()));
        assertThat(first.state()).isEqualTo(LockHandle.State.HELD);

        first.release();
        LockHandle next = hold("mail:1", "mails@7@munich");
        assertThat(browser.find("#all-confirm").isEnabled()).isFalse();
        assertAccessible("with the dialog for all leases of an owner");
        browser.find("#all-reason").sendKeys("the host died");
        browser.click("#all-confirm");

        browser.awaitText("#done", "Released by force: 1 of 2 leases of “@munich”. Over before: “mail:1”.");
        assertThat(second.state()).isEqualTo(LockHandle.State.LOST);
        assertThat(next.isHeld()).isTrue();
        assertThat(other.isHeld()).isTrue();
        assertThat(browser.errors()).singleElement().asString().contains("409");
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

        browser.awaitText(
                "#done",
                "Released “payment:7” by force: ended payments@4711@berlin (fence "
                        + hangs.fence().value());
        browser.awaitNone("[data-lock='payment:7']");
        browser.awaitText("[data-event=FORCE_RELEASED]", "the provider does not answer");
        assertThat(hangs.state()).isEqualTo(LockHandle.State.LOST);
    }

    @Tag("verification")
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

    @Tag("verification")
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
    void theDialogRepeatsWhoHoldsTheLockHowLongAndWhoWaits() throws Exception {
        LockHandle hangs = hold("payment:10", "payments@4711@berlin");
        Future<LockHandle> waits = waitFor("payment:10", request("payment:10", "payments@815@hamburg"));
        browser.click("[data-lock='payment:10'] .lock");
        browser.click("[data-force='payment:10']");

        browser.awaitText("#force-facts", "1 waits for it");
        String facts = browser.find("#force-facts").getText();
        assertThat(facts)
                .contains("payments@4711@berlin")
                .containsPattern("holds it exclusively for [\\d.]+ m?s, fence "
                        + hangs.fence().value())
                .containsPattern("payments@815@hamburg.* for [\\d.]+ m?s");
        browser.screenshot("console-force");
        browser.awaitText("#force-facts", "#" + Thread.currentThread().getId());
        assertThat(browser.run("return document.activeElement.id")).isEqualTo("reason");
        hangs.release();
        browser.awaitText("#force-facts", "Nobody waits for it");
        assertThat(browser.find("#force-facts").getText())
                .contains("which is over")
                .contains("these hold it and keep it: payments@815@hamburg");

        browser.find("#reason").sendKeys(Keys.ESCAPE);
        browser.awaitText("[data-lock='payment:10'] .why", "payments@815@hamburg");
        assertThat(browser.run("return document.activeElement.dataset.force")).isEqualTo("payment:10");
        browser.click("[data-force='payment:10']");
        browser.find("#reason").sendKeys("it hangs", Keys.ENTER);
        browser.awaitText("#done", "Released “payment:10” by force: ended payments@815@hamburg");
        assertThat(browser.run("return document.activeElement.id")).isEqualTo("done");
        assertThat(waits.get().state()).isEqualTo(LockHandle.State.LOST);
    }

    @Test
    void aReleaseSparesTheHolderThatFollowsTheOneThatWasSeen() throws Exception {
        LockHandle seen = hold("payment:11", "payments@4711@berlin");
        Future<LockHandle> waits = waitFor("payment:11", request("payment:11", "payments@815@hamburg"));
        browser.click("[data-lock='payment:11'] .lock");
        browser.click("[data-force='payment:11']");
        browser.awaitText("#force-facts", "1 waits for it");
        browser.find("#reason").sendKeys("it hangs");

        seen.release();
        LockHandle next = waits.get();
        browser.click("#confirm");

        browser.awaitText("#done", "Nothing was released: payments@4711@berlin");
        browser.awaitText(
                "#done",
                "Held now by payments@815@hamburg (fence " + next.fence().value() + ")");
        assertThat(next.isHeld()).isTrue();
        assertThat(browser.errors()).singleElement().asString().contains("409");
    }

    @Test
    void oneOfSeveralHoldersIsReleasedByForce() {
        LockHandle hangs = locks.acquire(request("stock:12", "stock@1@berlin").shared());
        LockHandle works = locks.acquire(request("stock:12", "stock@2@berlin").shared());
        browser.click("[data-lock='stock:12'] .lock");

        browser.click("[data-force-grant='" + hangs.fence().value() + "']");
        browser.find("#reason").sendKeys("it hangs", Keys.ENTER);

        browser.awaitText(
                "#done", "ended stock@1@berlin (fence " + hangs.fence().value() + ")");
        assertThat(hangs.state()).isEqualTo(LockHandle.State.LOST);
        assertThat(works.isHeld()).isTrue();
        works.release();
    }

    @ParameterizedTest
    @ValueSource(ints = {0, 50, 5000})
    void everybodyCanUseThePageWithAnyNumberOfLocks(int number) throws Exception {
        try (LocksOfOthers others = new LocksOfOthers(database, number)) {
            if (number > 0) {
                waitFor(others.first(), request(others.first()));
                browser.click("[data-lock='" + others.first() + "'] .lock");
                browser.awaitText("[data-lock='" + others.first() + "'] .queue", "thread");
            }
            browser.awaitText("#updated", "updated");
            assertAccessible("with " + number + " locks");
            if (number > 0) {
                browser.click("[data-force='" + others.first() + "']");
                browser.awaitText("#force-facts", "1 waits for it");
                assertAccessible("with the dialog and " + number + " locks");
                browser.find("#reason").sendKeys(Keys.ESCAPE);
            }
        }
    }

    private void assertAccessible(String when) {
        for (String scheme : List.of("light", "dark")) {
            browser.prefer(scheme);
            assertThat(browser.inaccessible()).as(scheme + ", " + when).isEmpty();
        }
        browser.prefer("light");
    }

    @Test
    void equalFailuresAreOneEventBelowTheLosses() {
        hold("refund:3", "refunds@1@berlin");
        locks.admin().forceRelease("refund:3", "a test");
        browser.awaitText("#events", "refund:3");
        browser.run("const instance = state.instances.get(state.instance);"
                + " for (let i = 0; i < 12; i++) instance.events.push({number: 1e6 + i, at: new Date(1.8e12 + 1000 * i).toISOString(),"
                + " type: 'FAILED', name: 'order', key: 'order:' + i % 8, fence: null, elapsed: null, text: 'extend: connection refused', instance: state.instance});"
                + " renderEvents()");

        assertThat(browser.textsOf("#events [data-event=FAILED]"))
                .anyMatch(event -> event.contains("8 locks")
                        && event.contains("12 times since")
                        && event.contains("extend: connection refused"));
        assertThat(browser.textsOf("#events .badge").get(0)).isNotEqualTo("failed");

        browser.find("#events-of").sendKeys("REFUND:3");
        assertThat(browser.textsOf("#events .item")).isNotEmpty().allMatch(event -> event.contains("refund:3"));
        browser.find("#events-of").sendKeys("0");
        assertThat(browser.textsOf("#events")).containsExactly("No event has this text.");
    }

    @Test
    void whatNobodySeesInAKeyIsShownByItsNumber() {
        hold("pay\u202e7:tnemyap", "owner\u200b@1@berlin");
        hold("   ", "blank@2@berlin");

        browser.awaitText(".lock .key", "pay\\u202e7:tnemyap");
        browser.awaitText(".lock .who", "owner\\u200b@1@berlin");
        browser.awaitText(".lock .key", "\u2423\u2423\u2423");
        browser.click("[data-lock='pay\u202e7:tnemyap'] .lock");
        browser.click("[data-force='pay\u202e7:tnemyap']");
        browser.awaitText("#force-title", "pay\\u202e7:tnemyap");
        browser.find("#reason").sendKeys("it hangs", Keys.ENTER);
        browser.awaitText("#done", "Released “pay\\u202e7:tnemyap” by force");
    }

    @Test
    void aNumberAndAnAddressAreNeverBroken() {
        hold("host:1", "orders@127.0.0.1:8080");

        browser.awaitText("[data-lock='host:1'] .who", "orders@127.0.0.1:8080");
        assertThat(browser.textsOf("[data-lock='host:1'] .who .word")).containsExactly("orders@", "127.0.0.1:8080");
    }

    @Test
    void theFocusStaysInTheListWhenItsLockEnds() {
        LockHandle ends = hold("focus:1", "focus@1@berlin");
        browser.awaitText("[data-lock='focus:1']", "focus@1@berlin");
        browser.run("document.querySelector('[data-lock=\"focus:1\"] .toggle').focus()");

        ends.release();

        browser.awaitNone("[data-lock='focus:1']");
        assertThat(browser.run("return document.activeElement.id")).isEqualTo("locks-title");
    }

    @Test
    void whoHasToLogInAgainFindsTheWayAndTheReasonThatWasTyped() {
        LockHandle hangs = hold("payment:13", "payments@4711@berlin");
        browser.click("[data-lock='payment:13'] .lock");
        browser.click("[data-force='payment:13']");
        browser.find("#reason").sendKeys("the provider is away");
        browser.run(
                "window.real = window.fetch; window.fetch = () => Promise.resolve(new Response('<form>', {headers: {'Content-Type': 'text/html'}}))");
        browser.click("#confirm");

        browser.awaitText("#done", "The session has ended: log in, and try again.");
        browser.awaitText("#error", "Log in");
        assertThat(browser.find("#login").getAttribute("href")).startsWith(url);
        assertThat(browser.run("return document.body.classList.contains('old')"))
                .isEqualTo(true);

        browser.run("window.fetch = window.real");
        browser.click("#retry");
        browser.click("[data-force='payment:13']");
        assertThat(browser.find("#reason").getAttribute("value")).isEqualTo("the provider is away");
        browser.click("#confirm");
        browser.awaitText("#done", "Released “payment:13” by force");
        assertThat(hangs.state()).isEqualTo(LockHandle.State.LOST);
    }

    @Test
    void withoutItsScriptThePageSaysWhy() throws Exception {
        String page = new RestTemplate().getForObject(url, String.class);
        browser.run(
                "document.open(); document.write(arguments[0]); document.close()",
                page.replace("script-src 'sha256-", "script-src 'sha256-0"));
        assertThat(browser.find("#shell").isDisplayed()).isTrue();
        browser.show(url);
        browser.awaitText("#updated", "updated");
        assertThat(browser.find("#shell").isDisplayed()).isFalse();
        assertThat(browser.errors()).isNotEmpty();
    }

    @Test
    void keysAndOwnersAreNeverParsedAsHtml() {
        hold("hostile:<img src=x onerror=document.title='broken'>", "<script>document.title='broken'</script>");

        browser.awaitText(".lock .key", "hostile:<img src=x onerror=document.title='broken'>");
        browser.awaitText(".lock .who", "<script>document.title='broken'</script>");
        assertThat(browser.run("return document.title")).isEqualTo("SyncGuard");
    }

    @Tag("verification")
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
                    .until(() -> locks.admin().holders("leader:settlement").stream()
                            .anyMatch(leader -> leader.owner().equals("orders@815@hamburg")));
            browser.awaitText("[data-election=settlement] .leader", "orders@815@hamburg");
            browser.awaitText("[data-election=settlement] .leader", "fence ");
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
        assertThat(browser.inaccessible()).as("when light").isEmpty();
        browser.screenshot("console");
        browser.prefer("dark");
        assertThat(browser.inaccessible()).as("when dark").isEmpty();
        browser.screenshot("console-dark");
        browser.narrowTo(420, 900);
        assertThat(browser.overflowing()).isEqualTo("");
        browser.screenshot("console-420");
        browser.widen();
        browser.prefer("light");
    }

    /** Returns when the caller has its queue entry. */
    private Future<LockHandle> waitFor(String key, LockRequest request) {
        int before = locks.admin().status(key).map(LockStatus::waiters).orElse(0);
        Future<LockHandle> waits = threads.submit(() -> locks.acquire(request));
        waiting.add(waits);
        await().atMost(Duration.ofSeconds(20))
                .until(() -> locks.admin().status(key).orElseThrow().waiters() > before);
        return waits;
    }

    private LockHandle hold(String key, String owner) {
        LockHandle handle = locks.acquire(request(key, owner));
        held.add(handle);
        return handle;
    }

    private static LockRequest request(String key, String owner) {
        return request(key).owner(owner);
    }

    private static LockRequest request(String key) {
        return LockRequest.of(key)
                .meterName(key.replaceFirst(":.*", ""))
                .ttl(Duration.ofMinutes(5))
                .waitTime(WAIT);
    }
}
