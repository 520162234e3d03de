package io.syncguard.autoconfigure;

import io.syncguard.actuate.AnswerHeaders;
import io.syncguard.actuate.EventJournal;
import io.syncguard.actuate.ReactiveAnswerHeaders;
import io.syncguard.actuate.SentRequest;
import io.syncguard.actuate.ServletAnswerHeaders;
import io.syncguard.actuate.SyncGuardConsoleEndpoint;
import io.syncguard.actuate.SyncGuardEndpoint;
import io.syncguard.actuate.SyncGuardEndpointWebExtension;
import io.syncguard.aop.DistributedLockAdvisor;
import io.syncguard.leader.LeaderElection;
import java.util.HashMap;
import java.util.Map;
import java.util.Set;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.springframework.beans.factory.ListableBeanFactory;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.actuate.autoconfigure.endpoint.condition.ConditionalOnAvailableEndpoint;
import org.springframework.boot.actuate.autoconfigure.endpoint.expose.EndpointExposure;
import org.springframework.boot.actuate.endpoint.EndpointId;
import org.springframework.boot.actuate.endpoint.web.PathMappedEndpoints;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnWebApplication;
import org.springframework.boot.context.properties.EnableConfigurationProperties;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

/** The actuator endpoint {@code syncguard}. */
@AutoConfiguration(after = {SyncGuardAutoConfiguration.class, SyncGuardLeaderAutoConfiguration.class})
@ConditionalOnClass(ConditionalOnAvailableEndpoint.class)
@ConditionalOnBean(LockEngineFactory.class)
@EnableConfigurationProperties(SyncGuardEndpointProperties.class)
public final class SyncGuardEndpointAutoConfiguration {

    @Bean
    @ConditionalOnAvailableEndpoint(endpoint = SyncGuardEndpoint.class)
    @ConditionalOnMissingBean
    EventJournal syncGuardEventJournal() {
        return new EventJournal();
    }

    @Bean
    @ConditionalOnAvailableEndpoint
    @ConditionalOnMissingBean
    SyncGuardEndpoint syncGuardEndpoint(
            ListableBeanFactory beans,
            ObjectProvider<LeaderElection> election,
            EventJournal journal,
            ObjectProvider<DistributedLockAdvisor> annotated,
            SyncGuardEndpointProperties properties) {
        properties.check();
        return new SyncGuardEndpoint(
                LockEngines.of(beans),
                election::getIfAvailable,
                journal,
                () -> permits(annotated),
                properties.showValues(),
                properties.hashSecret());
    }

    private static Map<String, Set<Integer>> permits(ObjectProvider<DistributedLockAdvisor> annotated) {
        return annotated.stream()
                .findFirst()
                .map(DistributedLockAdvisor::permits)
                .orElse(Map.of());
    }

    @Bean
    @ConditionalOnMissingBean
    @ConditionalOnBean(SyncGuardEndpoint.class)
    @ConditionalOnAvailableEndpoint(exposure = EndpointExposure.WEB)
    SyncGuardEndpointWebExtension syncGuardEndpointWebExtension(
            SyncGuardEndpoint endpoint,
            SyncGuardEndpointProperties properties,
            ObjectProvider<ServletAnswerHeaders> headers) {
        return new SyncGuardEndpointWebExtension(
                endpoint, properties.showValues(), properties.roles(), answer(headers), running(headers));
    }

    /** In WebFlux, a filter sets the headers. */
    static Consumer<Map<String, String>> answer(ObjectProvider<ServletAnswerHeaders> headers) {
        ServletAnswerHeaders servlet = headers.getIfAvailable();
        return servlet == null ? unset -> {} : servlet;
    }

    /** In WebFlux, a filter checks requests. */
    private static Supplier<@Nullable SentRequest> running(ObjectProvider<ServletAnswerHeaders> headers) {
        ServletAnswerHeaders servlet = headers.getIfAvailable();
        return servlet == null ? () -> null : servlet::sent;
    }

    @Configuration(proxyBeanMethods = false)
    @ConditionalOnWebApplication(type = ConditionalOnWebApplication.Type.SERVLET)
    static class ServletConfiguration {

        @Bean
        @ConditionalOnMissingBean
        ServletAnswerHeaders syncGuardAnswerHeaders() {
            return new ServletAnswerHeaders();
        }
    }

    @Configuration(proxyBeanMethods = false)
    @ConditionalOnWebApplication(type = ConditionalOnWebApplication.Type.REACTIVE)
    @ConditionalOnAvailableEndpoint(endpoint = SyncGuardEndpoint.class, exposure = EndpointExposure.WEB)
    static class ReactiveConfiguration {

        @Bean
        @ConditionalOnMissingBean
        ReactiveAnswerHeaders syncGuardAnswerHeaders(
                ObjectProvider<PathMappedEndpoints> endpoints, ObjectProvider<SyncGuardConsoleEndpoint> console) {
            return new ReactiveAnswerHeaders(
                    () -> headersOfPaths(endpoints.getIfAvailable(), console.getIfAvailable()));
        }

        private static Map<String, Map<String, String>> headersOfPaths(
                @Nullable PathMappedEndpoints endpoints, @Nullable SyncGuardConsoleEndpoint console) {
            Map<String, Map<String, String>> headers = new HashMap<>();
            if (endpoints != null) {
                headers.put(endpoints.getPath(EndpointId.of("syncguard")), AnswerHeaders.OF_DATA);
                if (console != null) {
                    headers.put(endpoints.getPath(EndpointId.of("syncguardconsole")), console.headers());
                }
            }
            return headers;
        }
    }
}
