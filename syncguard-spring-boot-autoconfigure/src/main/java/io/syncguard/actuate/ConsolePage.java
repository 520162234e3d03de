package io.syncguard.actuate;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.Base64;
import java.util.List;
import java.util.stream.Collectors;

/**
 * The page of the console, and the policy with which a browser runs its script and no other. It is one file for the
 * browser, made of the markup, the style and the parts of the script.
 *
 * @param text with the policy in it, and with the placeholders of the endpoint
 * @param policy the value of the header {@code Content-Security-Policy}
 */
record ConsolePage(String text, String policy) {

    private static final String POLICY = "default-src 'none'; script-src 'sha256-%s'; style-src 'sha256-%s';"
            + " connect-src 'self'; img-src data:; base-uri 'none'; form-action 'none'";

    /** The parts of the script, in their order. */
    private static final List<String> SCRIPTS =
            List.of("state", "dom", "texts", "requests", "answers", "overview", "locks", "process", "releases", "page");

    /** Reads the files in the jar. */
    static ConsolePage read() {
        String script = SCRIPTS.stream().map(part -> file(part + ".js")).collect(Collectors.joining("\n"));
        return of(file("console.html"), file("console.css"), script);
    }

    /** @param markup with the placeholders of the two others; each with any line ends */
    static ConsolePage of(String markup, String style, String script) {
        String policy = POLICY.formatted(hashOf(script), hashOf(style));
        String text =
                markup.replace("{{policy}}", policy).replace("{{style}}", style).replace("{{script}}", script);
        return new ConsolePage(text, policy);
    }

    private static String file(String name) {
        try (InputStream file = ConsolePage.class.getResourceAsStream("console/" + name)) {
            if (file == null) {
                throw new IOException(
                        "console/" + name + " is not on the class path: the jar of SyncGuard is incomplete");
            }
            return new String(file.readAllBytes(), StandardCharsets.UTF_8);
        } catch (IOException ex) {
            throw new UncheckedIOException(ex);
        }
    }

    /**
     * A browser hashes what its parser read, where CRLF and CR are LF:
     * <a href="https://html.spec.whatwg.org/multipage/parsing.html#preprocessing-the-input-stream">HTML</a>.
     */
    private static String hashOf(String text) {
        String content = text.replaceAll("\r\n?", "\n");
        try {
            MessageDigest digest = MessageDigest.getInstance("SHA-256");
            return Base64.getEncoder().encodeToString(digest.digest(content.getBytes(StandardCharsets.UTF_8)));
        } catch (NoSuchAlgorithmException ex) {
            throw new IllegalStateException(ex);
        }
    }
}
