package io.syncguard.actuate;

import io.syncguard.actuate.SyncGuardConsoleEndpoint.CsrfHeader;
import java.util.function.Supplier;
import org.springframework.security.web.csrf.CsrfToken;
import org.springframework.web.context.request.RequestAttributes;
import org.springframework.web.context.request.RequestContextHolder;

/** Finds the CSRF token that Spring Security has for the running request of a servlet. */
public final class SessionCsrf implements Supplier<CsrfHeader> {

    @Override
    public CsrfHeader get() {
        RequestAttributes request = RequestContextHolder.getRequestAttributes();
        Object token = request == null
                ? null
                : request.getAttribute(CsrfToken.class.getName(), RequestAttributes.SCOPE_REQUEST);
        return token instanceof CsrfToken csrf
                ? new CsrfHeader(csrf.getHeaderName(), csrf.getToken())
                : CsrfHeader.NONE;
    }
}
