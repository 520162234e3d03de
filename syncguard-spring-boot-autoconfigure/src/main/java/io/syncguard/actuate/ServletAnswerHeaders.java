package io.syncguard.actuate;

import jakarta.servlet.http.HttpServletResponse;
import java.util.Map;
import java.util.function.Consumer;
import org.springframework.web.context.request.RequestContextHolder;
import org.springframework.web.context.request.ServletRequestAttributes;

/** Sets headers of the answer to the running request of a servlet. */
public final class ServletAnswerHeaders implements Consumer<Map<String, String>> {

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
