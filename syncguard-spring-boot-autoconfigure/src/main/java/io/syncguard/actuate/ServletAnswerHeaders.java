package io.syncguard.actuate;

import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.springframework.http.server.PathContainer;
import org.springframework.web.context.request.RequestContextHolder;
import org.springframework.web.context.request.ServletRequestAttributes;
import org.springframework.web.util.ServletRequestPathUtils;

/** The running request of a servlet and its answer. */
public final class ServletAnswerHeaders implements Consumer<Map<String, String>> {

    /** Returns the running request; {@code null} if there is none. */
    public @Nullable SentRequest sent() {
        return RequestContextHolder.getRequestAttributes() instanceof ServletRequestAttributes running
                ? sent(running.getRequest())
                : null;
    }

    private static SentRequest sent(HttpServletRequest request) {
        Map<String, List<String>> parameters = new HashMap<>();
        request.getParameterMap().forEach((name, values) -> parameters.put(name, Arrays.asList(values)));
        return new SentRequest(pathOf(request), request.getQueryString(), parameters);
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
