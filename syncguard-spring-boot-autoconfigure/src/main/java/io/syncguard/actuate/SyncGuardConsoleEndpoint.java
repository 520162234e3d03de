package io.syncguard.actuate;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.Base64;
import java.util.Map;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.springframework.boot.actuate.endpoint.Access;
import org.springframework.boot.actuate.endpoint.annotation.ReadOperation;
import org.springframework.boot.actuate.endpoint.web.annotation.WebEndpoint;
import org.springframework.core.io.ByteArrayResource;
import org.springframework.core.io.Resource;
import org.springframework.web.util.HtmlUtils;

/**
 * A web page for operators on top of the endpoint {@code syncguard}: one file without a build, which loads nothing from
 * other hosts. The endpoint decides what a reader sees, and who may release locks.
 */
@WebEndpoint(id = "syncguardconsole", defaultAccess = Access.READ_ONLY)
public final class SyncGuardConsoleEndpoint {

    private static final String HTML = "text/html;charset=UTF-8";

    private static final String POLICY = "default-src 'none'; script-src 'sha256-%s'; style-src 'sha256-%s';"
            + " connect-src 'self'; img-src data:; base-uri 'none'; form-action 'none'";

    private final String page;
    private final Map<String, String> headers;
    private final Supplier<CsrfHeader> csrf;
    private final Consumer<Map<String, String>> answer;

    /**
     * @param endpoint the path of the endpoint {@code syncguard}, relative to this page
     * @param writable whether that endpoint allows releases by force
     * @param csrf gives the header that a request of this session has to send
     * @param answer sets headers of the answer, if there is a running request
     */
    public SyncGuardConsoleEndpoint(
            String endpoint, boolean writable, Supplier<CsrfHeader> csrf, Consumer<Map<String, String>> answer) {
        String file = file();
        // The browser runs only the script of the file.
        String policy = POLICY.formatted(hashOf(file, "<script>", "</script>"), hashOf(file, "<style>", "</style>"));
        this.headers = AnswerHeaders.with(policy);
        this.answer = answer;
        this.page = file.replace("{{policy}}", policy)
                .replace("{{endpoint}}", HtmlUtils.htmlEscape(endpoint))
                .replace("{{writable}}", String.valueOf(writable));
        this.csrf = csrf;
    }

    @ReadOperation(produces = HTML)
    public Resource page() {
        answer.accept(headers);
        CsrfHeader header = csrf.get();
        return new ByteArrayResource(page.replace("{{csrfHeader}}", HtmlUtils.htmlEscape(header.name()))
                .replace("{{csrfToken}}", HtmlUtils.htmlEscape(header.value()))
                .getBytes(StandardCharsets.UTF_8));
    }

    /** The headers of the page. */
    public Map<String, String> headers() {
        return headers;
    }

    private static String file() {
        try (InputStream file = SyncGuardConsoleEndpoint.class.getResourceAsStream("console.html")) {
            if (file == null) {
                throw new IOException("console.html is not on the class path: the jar of SyncGuard is incomplete");
            }
            return new String(file.readAllBytes(), StandardCharsets.UTF_8);
        } catch (IOException ex) {
            throw new UncheckedIOException(ex);
        }
    }

    private static String hashOf(String file, String begin, String end) {
        String content = file.substring(file.indexOf(begin) + begin.length(), file.indexOf(end));
        try {
            MessageDigest digest = MessageDigest.getInstance("SHA-256");
            return Base64.getEncoder().encodeToString(digest.digest(content.getBytes(StandardCharsets.UTF_8)));
        } catch (NoSuchAlgorithmException ex) {
            throw new IllegalStateException(ex);
        }
    }

    /**
     * The header against forged requests.
     *
     * @param name empty if there is none
     */
    public record CsrfHeader(String name, String value) {

        /** No header. The page then looks for a cookie. */
        public static final CsrfHeader NONE = new CsrfHeader("", "");
    }
}
