package io.syncguard.actuate;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.util.Base64;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What the file of the console becomes before a browser gets it. */
class ConsolePageTests {

    private static final String STYLE = "\nbody {\n  margin: 0;\n}\n";
    private static final String SCRIPT = "\nconst a = 1;\n\nconst b = 2;\n";

    /** A browser hashes the text with LF, whatever it was sent. */
    @ParameterizedTest
    @ValueSource(strings = {"\n", "\r\n", "\r"})
    void the_hashes_of_the_policy_are_those_of_a_browser_whatever_the_line_ends_of_the_file(String lineEnd)
            throws Exception {
        String markup = "<meta content=\"{{policy}}\">\n<style>{{style}}</style>\n<script>{{script}}</script>\n";

        ConsolePage page = ConsolePage.of(markup, STYLE.replace("\n", lineEnd), SCRIPT.replace("\n", lineEnd));

        assertThat(page.policy()).contains("script-src " + hash(SCRIPT), "style-src " + hash(STYLE));
        assertThat(page.text().replace(lineEnd, "\n"))
                .isEqualTo("<meta content=\"" + page.policy() + "\">\n<style>" + STYLE + "</style>\n<script>" + SCRIPT
                        + "</script>\n");
    }

    private static String hash(String text) throws Exception {
        byte[] digest = MessageDigest.getInstance("SHA-256").digest(text.getBytes(StandardCharsets.UTF_8));
        return "'sha256-" + Base64.getEncoder().encodeToString(digest) + "'";
    }
}
