package io.syncguard.actuate;

import java.net.URI;
import java.util.function.Predicate;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.security.core.context.SecurityContextHolder;
import org.springframework.security.web.access.WebInvocationPrivilegeEvaluator;
import org.springframework.web.context.request.RequestContextHolder;
import org.springframework.web.context.request.ServletRequestAttributes;

/**
 * Whether the user of the running request of a servlet may send a {@code DELETE} to an address, as far as the rules of
 * Spring Security for addresses tell. The endpoint itself decides again.
 */
public final class SessionRights implements Predicate<String> {

    private final ObjectProvider<WebInvocationPrivilegeEvaluator> rules;

    public SessionRights(ObjectProvider<WebInvocationPrivilegeEvaluator> rules) {
        this.rules = rules;
    }

    /** @param endpoint the address, relative to that of the running request */
    @Override
    public boolean test(String endpoint) {
        WebInvocationPrivilegeEvaluator evaluator = rules.getIfUnique();
        if (evaluator == null
                || !(RequestContextHolder.getRequestAttributes() instanceof ServletRequestAttributes attributes)) {
            return true;
        }
        String application = attributes.getRequest().getContextPath();
        String address = URI.create(attributes.getRequest().getRequestURI())
                .resolve(endpoint)
                .getRawPath()
                .substring(application.length());
        return evaluator.isAllowed(
                application,
                address,
                "DELETE",
                SecurityContextHolder.getContext().getAuthentication());
    }
}
