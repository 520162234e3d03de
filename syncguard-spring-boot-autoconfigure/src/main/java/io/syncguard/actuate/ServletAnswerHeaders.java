package io.syncguard.actuate;

import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.util.Map;
import java.util.function.Consumer;
import org.springframework.http.server.PathContainer;
import org.springframework.web.context.request.RequestContextHolder;
import org.springframework.web.context.request.ServletRequestAttributes;
import org.springframework.web.util.ServletRequestPathUtils;

/** The running request of a servlet and its answer. */
public final class ServletAnswerHeaders implements Consumer<Map<String, String>> {

    /** Whether the key at the end of the path reaches the endpoint as it was sent. */
    public boolean hasKeyAsSent() {
        return !(RequestContextHolder.getRequestAttributes() instanceof ServletRequestAttributes running)
                || SentKey.isAtEndOf(pathOf(running.getRequest()));
    }

    private static PathContainer pathOf(HttpServletRequest request) {
        return ServletRequestPathUtils.hasParsedRequestPath(request)
                ? ServletRequestPathUtils.getParsedRequestPath(request)
                : ServletRequestPathUtils.parseAndCache(request);
    }

    /** Sets headers of the answer. */
    @Override
    public void accept(Map<String, String> headers) {
        if (RequestContextHolder.getRequestAttributes() instanceof ServletRequestAttributes request) {
            HttpServletResponse response = request.getResponse();
            if (response != null) {
                headers.forEach(response::setHeader);
            }
        }
    }
}
