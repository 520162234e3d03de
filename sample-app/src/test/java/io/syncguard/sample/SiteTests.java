package io.syncguard.sample;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** The pages that {@code mvn -Psite pre-site} has made, from the file system, as there is no server for them. */
@Tag("verification")
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class SiteTests {

    private static final Path SITE = Path.of("../target/site").toAbsolutePath().normalize();

    private static final String LINKS = "return [...document.links].map(each => each.href)";

    private static final String NAMES = "return [...document.querySelectorAll('[id]')].map(each => each.id)";

    private static final String BROKEN_IMAGES =
            "return [...document.images].filter(each => each.naturalWidth === 0).map(each => each.src)";

    private static final String SEARCH = """
            document.querySelector('#search').value = arguments[0];
            document.querySelector('#search').dispatchEvent(new Event('input'));
            """;

    private Browser browser;

    @BeforeAll
    void openBrowser() {
        assumeTrue(Files.exists(SITE.resolve("index.html")), "There is no site: run mvn -Psite pre-site first");
        browser = Browser.open(1400, 1000);
    }

    @AfterAll
    void closeBrowser() {
        if (browser != null) {
            browser.close();
        }
    }

    @Test
    void links_lead_to_a_file_and_a_section_and_images_are_shown() throws IOException {
        TreeMap<Path, List<String>> links = new TreeMap<>();
        TreeMap<Path, List<String>> names = new TreeMap<>();
        for (Path page : pages()) {
            browser.show(page.toUri().toString());
            links.put(page, browser.strings(LINKS));
            names.put(page, browser.strings(NAMES));
            assertThat(browser.strings(BROKEN_IMAGES)).as("images of " + page).isEmpty();
        }
        assertThat(links).hasSizeGreaterThan(40);
        Set<String> broken = new TreeSet<>();
        links.forEach((page, targets) -> targets.stream()
                .filter(target -> target.startsWith("file:") && !leads(target, names))
                .forEach(target -> broken.add(page + " -> " + target)));
        assertThat(broken).isEmpty();
    }

    @ParameterizedTest
    @CsvSource({
        "holdAtLeast, guide.html#the-annotation",
        "a pause of the garbage collector, guarantees.html",
        "LockDirectory, internals/spi.html",
        "fence retention, configuration.html#fences-and-integrations"
    })
    void the_search_finds_the_page(String words, String address) {
        browser.show(SITE.resolve("docs/README.html").toUri().toString());

        browser.run(SEARCH, words);

        assertThat(browser.strings("return [...document.querySelectorAll('#found a')].map(each => each.href)"))
                .anySatisfy(found -> assertThat(found).contains("/docs/" + address));
    }

    @ParameterizedTest
    @ValueSource(strings = {"light", "dark"})
    void pages_are_accessible_and_fit_a_phone(String colours) throws IOException {
        browser.prefer(colours);
        for (int width : List.of(1400, 400)) {
            browser.narrowTo(width, 900);
            for (String page : List.of("README", "docs/guide", "docs/failover", "docs/configuration")) {
                browser.show(SITE.resolve(page + ".html").toUri().toString());
                browser.screenshot("site-" + page.replace('/', '-') + "-" + colours + "-" + width);
                assertThat(browser.inaccessible()).as(page).isEmpty();
                assertThat(browser.run("return document.documentElement.scrollWidth"))
                        .as("width of %s", page)
                        .isEqualTo((long) width);
            }
        }
        browser.widen();
    }

    /** All but the Javadoc, whose links its own tool checks. */
    private static List<Path> pages() throws IOException {
        try (Stream<Path> files = Files.walk(SITE)) {
            return files.filter(file -> file.toString().endsWith(".html"))
                    .filter(file -> !file.startsWith(SITE.resolve("apidocs")))
                    .filter(file -> !file.equals(SITE.resolve("index.html")))
                    .toList();
        }
    }

    private static boolean leads(String target, TreeMap<Path, List<String>> names) {
        String[] parts = target.split("#", 2);
        Path file = Path.of(URI.create(parts[0]));
        return Files.isRegularFile(file)
                && (parts.length == 1 || names.getOrDefault(file, List.of()).contains(parts[1]));
    }
}
