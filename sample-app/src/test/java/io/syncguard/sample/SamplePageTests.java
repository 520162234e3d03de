package io.syncguard.sample;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.util.List;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.springframework.boot.test.context.SpringBootTest;
import org.springframework.boot.test.context.SpringBootTest.WebEnvironment;
import org.springframework.boot.test.web.server.LocalServerPort;

/**
 * The sample's page in a real browser, which may delay requests.
 */
@SpringBootTest(webEnvironment = WebEnvironment.RANDOM_PORT, properties = "sample.postgres-port=0")
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class SamplePageTests {

    private final String url;

    private Browser browser;

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
            assertThat(browser.faint()).as("faint when " + scheme).isEqualTo("");
            browser.screenshot("sample-" + scheme);
            for (int width : new int[] {320, 768, 1100, 420}) {
                browser.narrowTo(width, 1700);
                assertThat(browser.overflowing()).as("at " + width).isEqualTo("");
            }
            browser.screenshot("sample-" + scheme + "-420");
            browser.widen();
        }
    }
}
