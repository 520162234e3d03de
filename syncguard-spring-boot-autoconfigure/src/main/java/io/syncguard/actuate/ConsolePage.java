package io.syncguard.actuate;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.Base64;

/**
 * The file of the console, and the policy with which a browser runs its script and no other.
 *
 * @param text with the policy in it, and with the placeholders of the endpoint
 * @param policy the value of the header {@code Content-Security-Policy}
 */
record ConsolePage(String text, String policy) {

    private static final String POLICY = "default-src 'none'; script-src 'sha256-%s'; style-src 'sha256-%s';"
            + " connect-src 'self'; img-src data:; base-uri 'none'; form-action 'none'";

    /** Reads the file in the jar. */
    static ConsolePage read() {
        try (InputStream file = ConsolePage.class.getResourceAsStream("console.html")) {
            if (file == null) {
                throw new IOException("console.html is not on the class path: the jar of SyncGuard is incomplete");
            }
            return of(new String(file.readAllBytes(), StandardCharsets.UTF_8));
        } catch (IOException ex) {
            throw new UncheckedIOException(ex);
        }
    }

    /** @param file the content of the file, with any line ends */
    static ConsolePage of(String file) {
        // A browser hashes what its parser read, where CRLF and CR are LF:
        // https://html.spec.whatwg.org/multipage/parsing.html#preprocessing-the-input-stream
        String text = file.replaceAll("\r\n?", "\n");
        String policy = POLICY.formatted(hashOf(text, "<script>", "</script>"), hashOf(text, "<style>", "</style>"));
        return new ConsolePage(text.replace("{{policy}}", policy), policy);
    }

    private static String hashOf(String text, String begin, String end) {
        String content = text.substring(text.indexOf(begin) + begin.length(), text.indexOf(end));
        try {
            MessageDigest digest = MessageDigest.getInstance("SHA-256");
            return Base64.getEncoder().encodeToString(digest.digest(content.getBytes(StandardCharsets.UTF_8)));
        } catch (NoSuchAlgorithmException ex) {
            throw new IllegalStateException(ex);
        }
    }
}
