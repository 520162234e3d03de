package io.syncguard.actuate;

import java.nio.charset.StandardCharsets;
import java.util.Map;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.springframework.boot.actuate.endpoint.Access;
import org.springframework.boot.actuate.endpoint.annotation.ReadOperation;
import org.springframework.boot.actuate.endpoint.web.annotation.WebEndpoint;
import org.springframework.core.io.ByteArrayResource;
import org.springframework.core.io.Resource;
import org.springframework.web.util.HtmlUtils;

/**
 * A web page for operators on top of the endpoint {@code syncguard}: one file, made without a build, which loads
 * nothing from other hosts. The endpoint decides what a reader sees, and who may release locks.
 */
@WebEndpoint(id = "syncguardconsole", defaultAccess = Access.READ_ONLY)
public final class SyncGuardConsoleEndpoint {

    private static final String HTML = "text/html;charset=UTF-8";

    private final String page;
    private final BooleanSupplier mayRelease;
    private final Map<String, String> headers;
    private final Supplier<CsrfHeader> csrf;
    private final Consumer<Map<String, String>> answer;

    /**
     * @param endpoint the path of the endpoint {@code syncguard}, relative to this page
     * @param writable whether that endpoint allows releases by force
     * @param mayRelease whether the user of the running request may send such a release
     * @param links where the page leads
     * @param csrf gives the header that a request of this session has to send
     * @param answer sets headers of the answer, if there is a running request
     */
    public SyncGuardConsoleEndpoint(
            String endpoint,
            boolean writable,
            BooleanSupplier mayRelease,
            Links links,
            Supplier<CsrfHeader> csrf,
            Consumer<Map<String, String>> answer) {
        ConsolePage file = ConsolePage.read();
        this.headers = AnswerHeaders.with(file.policy());
        this.answer = answer;
        this.page = file.text()
                .replace("{{endpoint}}", HtmlUtils.htmlEscape(endpoint))
                .replace("{{ownerLink}}", HtmlUtils.htmlEscape(links.owner()))
                .replace("{{traceLink}}", HtmlUtils.htmlEscape(links.trace()))
                .replace("{{writable}}", writable ? "{{writable}}" : "false");
        this.mayRelease = mayRelease;
        this.csrf = csrf;
    }

    @ReadOperation(produces = HTML)
    public Resource page() {
        answer.accept(headers);
        CsrfHeader header = csrf.get();
        return new ByteArrayResource(page.replace("{{writable}}", mayRelease.getAsBoolean() ? "true" : "denied")
                .replace("{{csrfHeader}}", HtmlUtils.htmlEscape(header.name()))
                .replace("{{csrfToken}}", HtmlUtils.htmlEscape(header.value()))
                .getBytes(StandardCharsets.UTF_8));
    }

    /** The headers of the page. */
    public Map<String, String> headers() {
        return headers;
    }

    /**
     * Addresses of other tools; empty for none.
     *
     * @param owner that of the logs of a process, with <code>{owner}</code> in it
     * @param trace that of a trace, with <code>{traceId}</code> in it
     */
    public record Links(String owner, String trace) {}

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
