package io.syncguard.sample;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.syncguard.LockHandle;
import io.syncguard.LockManager;
import io.syncguard.LockRequest;
import io.syncguard.LockStatus;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.test.context.SpringBootTest;
import org.springframework.boot.test.context.SpringBootTest.WebEnvironment;
import org.springframework.boot.test.web.server.LocalServerPort;

/**
 * The sample's page in a real browser, which may delay requests.
 */
@SpringBootTest(webEnvironment = WebEnvironment.RANDOM_PORT, properties = "sample.postgres-port=0")
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class SamplePageTests {

    private static final Duration WAIT = Duration.ofSeconds(20);

    /** How many requests the page sends at a time. */
    private static final int CALLERS = 5;

    /** Fails if the request waits for a connection. */
    private static final String STATUS_OF_CONSOLE = """
            return fetch('/actuator/syncguardconsole', {signal: AbortSignal.timeout(3000)}).then(each => each.status);
            """;

    private final String url;

    private Browser browser;

    @Autowired
    private LockManager locks;

    SamplePageTests(@LocalServerPort int port) {
        this.url = "http://127.0.0.1:" + port;
    }

    @BeforeAll
    void openBrowser() {
        browser = Browser.open(1400, 1000);
    }

    @AfterAll
    void closeBrowser() {
        if (browser != null) {
            browser.close();
        }
    }

    @BeforeEach
    void show() {
        browser.show(url);
        browser.awaitText("#instance", "port");
    }

    @AfterEach
    void nothingWasRefusedByTheBrowser() {
        assertThat(browser.errors()).isEmpty();
    }

    @Test
    void nineRequestsToAPartnerUseThreePermitsAtOnce() {
        AtomicInteger peak = new AtomicInteger();

        browser.click("#ask");
        await().atMost(WAIT).until(() -> {
            peak.accumulateAndGet(locks.admin().holders("partner-api:acme").size(), Math::max);
            return answers("#quotes").contains("answered");
        });

        assertThat(answers("#quotes")).startsWith("200× 9answered");
        assertThat(peak).as("permits in use").hasValue(3);
        assertThat(number("the last after ([\\d.]+) s", answers("#quotes")))
                .as("seconds, of three rounds of 1.5 s")
                .isBetween(4.5, 6.0);
    }

    @Test
    void readersWaitForAWriterTogetherAndLeaveAConnectionToTheConsole() {
        try (LockHandle writer = locks.acquire(LockRequest.of("price-list"))) {
            browser.click("#read");
            await().atMost(WAIT).until(() -> waiters("price-list"), waiters -> waiters == CALLERS);
            assertThat(browser.run(STATUS_OF_CONSOLE)).isEqualTo(200L);
            assertThat(writer.isHeld()).isTrue();
        }

        browser.awaitText("#prices", "× 20");
        assertThat(answers("#prices")).startsWith("200× 20edition");
    }

    @Test
    void oneOfTwentySubmissionsIsProcessed() {
        browser.click("#submit");
        browser.awaitText("#orders", "processed under fence");

        List<String> badges = browser.textsOf("#orders .badge");
        assertThat(badges).startsWith("200");
        assertThat(badges.subList(1, badges.size())).containsOnly("409");
        assertThat(browser.textsOf("#orders .count")).startsWith("× 1");
        // Chromium logs each refusal.
        assertThat(browser.errors()).hasSize(19).allMatch(error -> error.contains("status of 409"));
    }

    @Test
    void thePageIsReadableInBothColourSchemesAndOnAPhone() throws IOException {
        browser.click("#reserve");
        browser.click("#read");
        browser.run("orders.append(answer(409, 'refused', 19)); reports.append(answer(503, 'failed'))");
        browser.awaitText("#stock", "left, fence");
        browser.awaitText("#prices", "× 20");
        browser.awaitText("#settlement", "this instance leads");
        browser.awaitText("#settlement", "settled");
        for (String scheme : List.of("light", "dark")) {
            browser.prefer(scheme);
            assertThat(browser.inaccessible()).as("when " + scheme).isEmpty();
            browser.screenshot("sample-" + scheme);
            for (int width : new int[] {320, 768, 1100, 420}) {
                browser.narrowTo(width, 1700);
                assertThat(browser.overflowing()).as("at " + width).isEqualTo("");
            }
            browser.screenshot("sample-" + scheme + "-420");
            browser.widen();
        }
    }

    private String answers(String selector) {
        return String.join("", browser.textsOf(selector));
    }

    private int waiters(String key) {
        return locks.admin().status(key).map(LockStatus::waiters).orElse(0);
    }

    private static double number(String pattern, String text) {
        Matcher matcher = Pattern.compile(pattern).matcher(text);
        assertThat(matcher.find()).as(text).isTrue();
        return Double.parseDouble(matcher.group(1));
    }
}
