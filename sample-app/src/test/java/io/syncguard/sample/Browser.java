package io.syncguard.sample;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.File;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.logging.Level;
import java.util.stream.Stream;
import org.openqa.selenium.By;
import org.openqa.selenium.OutputType;
import org.openqa.selenium.StaleElementReferenceException;
import org.openqa.selenium.WebDriverException;
import org.openqa.selenium.WebElement;
import org.openqa.selenium.chrome.ChromeDriver;
import org.openqa.selenium.chrome.ChromeDriverService;
import org.openqa.selenium.chrome.ChromeOptions;
import org.openqa.selenium.logging.LogEntry;
import org.openqa.selenium.logging.LogType;
import org.openqa.selenium.logging.LoggingPreferences;
import org.openqa.selenium.support.ui.WebDriverWait;

/** A headless Chromium. Without one and its driver on the path, its test is skipped with that reason. */
final class Browser implements AutoCloseable {

    private static final Duration LIMIT = Duration.ofSeconds(30);

    private static final String OVERFLOWING = """
            const inner = [...document.querySelectorAll('main *')].filter(each => each.clientWidth > 0
                && each.scrollWidth > each.clientWidth && !['INPUT', 'SELECT'].includes(each.tagName));
            return [document.documentElement, ...inner].filter(each => each.scrollWidth > each.clientWidth)
                .map(each => each.tagName + ' ' + each.className + ' ' + each.textContent.slice(0, 40)).join();
            """;

    /** The rules of WCAG 2.2 AA that a program can check. */
    private static final List<String> RULES = List.of("wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa");

    private static final String AXE = axe();

    private static final String FINDINGS = """
            const [rules, done] = arguments;
            axe.run(document, {runOnly: {type: 'tag', values: rules}}).then(({violations}) => done(violations.flatMap(rule =>
                rule.nodes.map(node => rule.id + ' of ' + node.html + ': ' + node.failureSummary))));
            """;

    private final ChromeDriver driver;

    private Browser(ChromeDriver driver) {
        this.driver = driver;
    }

    static Browser open(int width, int height) {
        Optional<File> chromium = onPath("chromium", "google-chrome", "chrome");
        Optional<File> chromeDriver = onPath("chromedriver");
        assumeTrue(
                chromium.isPresent() && chromeDriver.isPresent(),
                "Chromium or its driver is not installed. On Debian: apt-get install chromium chromium-driver");
        ChromeOptions options = new ChromeOptions();
        options.setBinary(chromium.get());
        // Root may not use the sandbox, and containers have little shared memory.
        options.addArguments("--headless=new", "--no-sandbox", "--disable-dev-shm-usage", "--lang=en");
        options.addArguments("--window-size=" + width + "," + height);
        LoggingPreferences log = new LoggingPreferences();
        log.enable(LogType.BROWSER, Level.ALL);
        options.setCapability(ChromeOptions.LOGGING_PREFS, log);
        return new Browser(new ChromeDriver(
                new ChromeDriverService.Builder()
                        .usingDriverExecutable(chromeDriver.get())
                        .build(),
                options));
    }

    void show(String url) {
        driver.get(url);
    }

    void prefer(String colorScheme) {
        driver.executeCdpCommand(
                "Emulation.setEmulatedMedia",
                Map.of("features", new Object[] {Map.of("name", "prefers-color-scheme", "value", colorScheme)}));
    }

    /** As a phone with this width, in pixels of CSS. */
    void narrowTo(int width, int height) {
        driver.executeCdpCommand(
                "Emulation.setDeviceMetricsOverride",
                Map.of("width", width, "height", height, "deviceScaleFactor", 1, "mobile", true));
    }

    void widen() {
        driver.executeCdpCommand("Emulation.clearDeviceMetricsOverride", Map.of());
    }

    WebElement find(String selector) {
        return new WebDriverWait(driver, LIMIT).until(each -> each.findElement(By.cssSelector(selector)));
    }

    /** Clicks an element that the page may replace at any moment. */
    void click(String selector) {
        new WebDriverWait(driver, LIMIT).ignoring(WebDriverException.class).until(each -> {
            each.findElement(By.cssSelector(selector)).click();
            return true;
        });
    }

    /** Waits until the element has this text. */
    void awaitText(String selector, String text) {
        new WebDriverWait(driver, LIMIT)
                .withMessage(() -> "'" + text + "' in " + selector + ", but the page has: " + text())
                .until(each -> each.findElements(By.cssSelector(selector)).stream()
                        .anyMatch(element -> textOf(element).contains(text)));
    }

    void awaitNone(String selector) {
        new WebDriverWait(driver, LIMIT)
                .withMessage("no " + selector)
                .until(each -> each.findElements(By.cssSelector(selector)).isEmpty());
    }

    String text() {
        return driver.findElement(By.tagName("body")).getText();
    }

    /** The texts of these elements at this moment. */
    List<String> textsOf(String selector) {
        return strings("return [...document.querySelectorAll(arguments[0])].map(each => each.textContent)", selector);
    }

    /** What a script returns that makes a list of strings. */
    List<String> strings(String script, Object... arguments) {
        return ((List<?>) run(script, arguments))
                .stream().map(String.class::cast).toList();
    }

    Object run(String script, Object... arguments) {
        return driver.executeScript(script, arguments);
    }

    /** Elements whose content is wider than they are. */
    Object overflowing() {
        return run(OVERFLOWING);
    }

    /** What axe finds, by its rule: contrasts, names, roles and others. */
    List<String> inaccessible() {
        run(AXE);
        List<?> found = (List<?>) driver.executeAsyncScript(FINDINGS, RULES);
        return found.stream().map(String.class::cast).toList();
    }

    void screenshot(String name) throws IOException {
        Path file = Path.of("target", "screenshots", name + ".png");
        Files.createDirectories(file.getParent());
        Files.write(file, driver.getScreenshotAs(OutputType.BYTES));
        assertThat(file).isNotEmptyFile();
    }

    /** What the browser refused or could not run. */
    Stream<String> errors() {
        return driver.manage().logs().get(LogType.BROWSER).getAll().stream()
                .filter(entry -> entry.getLevel().intValue() >= Level.SEVERE.intValue())
                .map(LogEntry::getMessage);
    }

    @Override
    public void close() {
        driver.quit();
    }

    private static String axe() {
        try (InputStream script = Browser.class.getResourceAsStream("/axe.min.js")) {
            return new String(Objects.requireNonNull(script).readAllBytes(), StandardCharsets.UTF_8);
        } catch (IOException ex) {
            throw new UncheckedIOException(ex);
        }
    }

    private static String textOf(WebElement element) {
        try {
            return element.getText();
        } catch (StaleElementReferenceException replaced) {
            return "";
        }
    }

    private static Optional<File> onPath(String... names) {
        return Stream.of(names)
                .flatMap(name -> Stream.of(System.getenv("PATH").split(File.pathSeparator))
                        .map(folder -> new File(folder, name)))
                .filter(File::canExecute)
                .findFirst();
    }
}
