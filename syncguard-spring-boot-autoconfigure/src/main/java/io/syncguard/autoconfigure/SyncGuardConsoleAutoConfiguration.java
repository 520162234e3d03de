package io.syncguard.autoconfigure;

import io.syncguard.actuate.ServletAnswerHeaders;
import io.syncguard.actuate.SessionCsrf;
import io.syncguard.actuate.SessionRights;
import io.syncguard.actuate.SyncGuardConsoleEndpoint;
import io.syncguard.actuate.SyncGuardConsoleEndpoint.CsrfHeader;
import io.syncguard.actuate.SyncGuardEndpoint;
import java.util.List;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.actuate.autoconfigure.endpoint.condition.ConditionalOnAvailableEndpoint;
import org.springframework.boot.actuate.autoconfigure.endpoint.expose.EndpointExposure;
import org.springframework.boot.actuate.endpoint.Access;
import org.springframework.boot.actuate.endpoint.EndpointAccessResolver;
import org.springframework.boot.actuate.endpoint.EndpointId;
import org.springframework.boot.actuate.endpoint.web.PathMapper;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBooleanProperty;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnWebApplication;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.core.env.Environment;
import org.springframework.security.web.access.WebInvocationPrivilegeEvaluator;
import org.springframework.security.web.csrf.CsrfToken;
import org.springframework.util.StringUtils;

/**
 * The page for operators, {@code /actuator/syncguardconsole}, if {@code syncguard.console.enabled} is true and the
 * endpoint {@code syncguard} is exposed, too.
 */
@AutoConfiguration(after = SyncGuardEndpointAutoConfiguration.class)
@ConditionalOnWebApplication
@ConditionalOnClass(ConditionalOnAvailableEndpoint.class)
@ConditionalOnBean(LockEngineFactory.class)
public final class SyncGuardConsoleAutoConfiguration {

    private static final EndpointId LOCKS = EndpointId.of("syncguard");

    private static final EndpointId CONSOLE = EndpointId.of("syncguardconsole");

    @Bean
    ConsoleHint syncGuardConsoleHint(ObjectProvider<SyncGuardConsoleEndpoint> console, Environment environment) {
        return new ConsoleHint(console, environment, CONSOLE);
    }

    @Configuration(proxyBeanMethods = false)
    @ConditionalOnBooleanProperty("syncguard.console.enabled")
    @ConditionalOnAvailableEndpoint(endpoint = SyncGuardEndpoint.class, exposure = EndpointExposure.WEB)
    @ConditionalOnBean(SyncGuardEndpoint.class)
    static class PageConfiguration {

        @Bean
        @ConditionalOnMissingBean
        @ConditionalOnAvailableEndpoint
        SyncGuardConsoleEndpoint syncGuardConsoleEndpoint(
                SyncGuardProperties properties,
                ObjectProvider<PathMapper> paths,
                EndpointAccessResolver access,
                ObjectProvider<SessionCsrf> csrf,
                ObjectProvider<SessionRights> rights,
                ObjectProvider<ServletAnswerHeaders> headers) {
            List<PathMapper> mappers = paths.orderedStream().toList();
            String endpoint = fromConsole(mappers);
            SessionRights ofSession = rights.getIfAvailable();
            return new SyncGuardConsoleEndpoint(
                    endpoint,
                    access.accessFor(LOCKS, Access.READ_ONLY) == Access.UNRESTRICTED,
                    () -> ofSession == null || ofSession.test(endpoint),
                    properties.console().links(),
                    csrf.getIfAvailable() == null ? () -> CsrfHeader.NONE : csrf.getObject(),
                    SyncGuardEndpointAutoConfiguration.answer(headers));
        }

        /** Returns a relative path, because a proxy may put a prefix in front of all paths. */
        private static String fromConsole(List<PathMapper> mappers) {
            int levels = StringUtils.countOccurrencesOf(PathMapper.getRootPath(mappers, CONSOLE), "/");
            return "../".repeat(levels) + PathMapper.getRootPath(mappers, LOCKS);
        }

        @Configuration(proxyBeanMethods = false)
        @ConditionalOnClass(CsrfToken.class)
        static class SecurityConfiguration {

            @Bean
            @ConditionalOnMissingBean
            SessionCsrf syncGuardSessionCsrf() {
                return new SessionCsrf();
            }

            @Bean
            @ConditionalOnMissingBean
            SessionRights syncGuardSessionRights(ObjectProvider<WebInvocationPrivilegeEvaluator> rules) {
                return new SessionRights(rules);
            }
        }
    }
}
