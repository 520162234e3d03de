package io.syncguard.autoconfigure;

import io.syncguard.aop.DistributedLockAdvisor;
import io.syncguard.web.FenceArgumentResolver;
import io.syncguard.web.FenceHeaderInterceptor;
import io.syncguard.web.GraphQlLockErrorResolver;
import io.syncguard.web.LockProblemAdvice;
import java.util.List;
import org.springframework.beans.factory.ListableBeanFactory;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBooleanProperty;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnWebApplication;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.core.env.Environment;
import org.springframework.graphql.execution.DataFetcherExceptionResolver;
import org.springframework.http.client.ClientHttpRequestInterceptor;
import org.springframework.web.method.support.HandlerMethodArgumentResolver;
import org.springframework.web.servlet.config.annotation.WebMvcConfigurer;

/**
 * Fences over HTTP, sent by the clients that take the interceptor and received by controllers; and problem details for
 * lock errors of controllers.
 */
@AutoConfiguration
@ConditionalOnClass(ClientHttpRequestInterceptor.class)
public final class SyncGuardWebAutoConfiguration {

    /** The application adds it to chosen clients, because not every receiver should get a fence. */
    @Bean
    @ConditionalOnMissingBean
    FenceHeaderInterceptor syncGuardFenceHeaderInterceptor(Environment environment) {
        return environment.getProperty("syncguard.enabled", Boolean.class, true)
                ? new FenceHeaderInterceptor()
                : FenceHeaderInterceptor.withoutLocks();
    }

    @Bean
    @ConditionalOnClass(name = "org.springframework.session.Session")
    SessionHint syncGuardSessionHint(ObjectProvider<DistributedLockAdvisor> locks, ListableBeanFactory beans) {
        return new SessionHint(locks, beans);
    }

    @Configuration(proxyBeanMethods = false)
    @ConditionalOnWebApplication(type = ConditionalOnWebApplication.Type.SERVLET)
    @ConditionalOnClass(WebMvcConfigurer.class)
    static class ControllerConfiguration {

        @Bean
        WebMvcConfigurer syncGuardFenceArguments() {
            return new WebMvcConfigurer() {
                @Override
                public void addArgumentResolvers(List<HandlerMethodArgumentResolver> resolvers) {
                    resolvers.add(new FenceArgumentResolver());
                }
            };
        }

        @Bean
        @ConditionalOnClass(
                name = {
                    "jakarta.persistence.EntityManagerFactory",
                    "org.springframework.orm.jpa.support.OpenEntityManagerInViewInterceptor"
                })
        OpenInViewHint syncGuardOpenInViewHint(
                ObjectProvider<DistributedLockAdvisor> locks, ListableBeanFactory beans) {
            return new OpenInViewHint(locks, beans);
        }
    }

    @Configuration(proxyBeanMethods = false)
    @ConditionalOnWebApplication
    @ConditionalOnBooleanProperty(name = "syncguard.web.problem-details", matchIfMissing = true)
    static class ProblemConfiguration {

        @Bean
        @ConditionalOnMissingBean
        LockProblemAdvice syncGuardLockProblemAdvice() {
            return new LockProblemAdvice();
        }
    }

    @Configuration(proxyBeanMethods = false)
    @ConditionalOnClass(DataFetcherExceptionResolver.class)
    @ConditionalOnBooleanProperty(name = "syncguard.web.problem-details", matchIfMissing = true)
    static class GraphQlConfiguration {

        @Bean
        @ConditionalOnMissingBean
        GraphQlLockErrorResolver syncGuardGraphQlLockErrorResolver() {
            return new GraphQlLockErrorResolver();
        }
    }
}
