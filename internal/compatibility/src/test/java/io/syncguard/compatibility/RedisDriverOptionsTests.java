package io.syncguard.compatibility;

import static org.assertj.core.api.Assertions.assertThat;

import io.lettuce.core.AbstractRedisClient;
import io.syncguard.embedded.OwnRedis;
import io.syncguard.spi.LockBackend;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.net.URL;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.springframework.beans.DirectFieldAccessor;
import org.springframework.boot.WebApplicationType;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Configuration;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;
import org.springframework.util.ClassUtils;

/** The options under which the driver runs are the same in all of its versions. */
class RedisDriverOptionsTests {

    /** These options differ between versions. They have no effect: no request waits for a connection or has a timer. */
    private static final Set<String> WITHOUT_EFFECT =
            Set.of("isCancelCommandsOnReconnectFailure", "getRelaxedTimeout", "getTcpUserTimeout");

    private static final String EXPECTED = """
            getBufferUsageRatio 0
            getConfiguredProtocolVersion null
            getDisconnectedBehavior REJECT_COMMANDS
            getMaxRedirects 5
            getProtocolVersion RESP3
            getReauthenticateBehaviour DEFAULT
            getRefreshPeriod PT1M
            getRequestQueueSize 2147483647
            getScriptCharset UTF-8
            getSocketOptions.getConnectTimeout PT2S
            getSocketOptions.getKeepAlive.getCount 3
            getSocketOptions.getKeepAlive.getIdle PT5S
            getSocketOptions.getKeepAlive.getInterval PT2S
            getSocketOptions.getKeepAlive.isEnabled true
            getSocketOptions.isEnableTcpUserTimeout false
            getSocketOptions.isKeepAlive true
            getSocketOptions.isTcpNoDelay true
            getSslOptions.getHandshakeTimeout PT10S
            getSslOptions.getSslProvider JDK
            getTimeoutOptions.isApplyConnectionTimeout false
            getTimeoutOptions.isTimeoutCommands false
            getTopologyRefreshOptions.getAdaptiveRefreshTimeout PT1S
            getTopologyRefreshOptions.getAdaptiveRefreshTriggers \
            [ASK_REDIRECT, MOVED_REDIRECT, PERSISTENT_RECONNECTS, UNCOVERED_SLOT, UNKNOWN_NODE]
            getTopologyRefreshOptions.getRefreshPeriod PT1M
            getTopologyRefreshOptions.getRefreshTriggersReconnectAttempts 1
            getTopologyRefreshOptions.isCloseStaleConnections true
            getTopologyRefreshOptions.isPeriodicRefreshEnabled false
            getTopologyRefreshOptions.useDynamicRefreshSources true
            isAutoReconnect true
            isCloseStaleConnections true
            isPingBeforeActivateConnection true
            isPublishOnScheduler false
            isRefreshClusterView false
            isSuspendReconnectOnProtocolFailure false
            isUseHashIndexedQueue true
            isValidateClusterNodeMembership false""";

    @Test
    void the_options_do_not_depend_on_the_version() throws ReflectiveOperationException {
        try (OwnRedis redis = new OwnRedis();
                ConfigurableApplicationContext application = new SpringApplicationBuilder(WithoutDatabase.class)
                        .web(WebApplicationType.NONE)
                        .properties(
                                "spring.data.redis.url=" + redis.url(),
                                "spring.autoconfigure.exclude=" + BootVersion.dataSourceAutoConfiguration())
                        .run()) {
            LettuceConnectionFactory driver = (LettuceConnectionFactory)
                    new DirectFieldAccessor(application.getBean(LockBackend.class))
                            .getPropertyValue("connections.driver.factory");
            AbstractRedisClient client = driver.getRequiredNativeClient();

            assertThat(String.join("\n", optionsOf("", client.getOptions()))).isEqualTo(EXPECTED);
        }
    }

    private static List<String> optionsOf(String path, Object options) throws ReflectiveOperationException {
        List<String> lines = new ArrayList<>();
        for (Method getter : gettersOf(options)) {
            getter.setAccessible(true);
            Object value = getter.invoke(options);
            String name = path + getter.getName();
            if (value instanceof Set<?> several) {
                lines.add(name + " " + several.stream().map(Object::toString).sorted().toList());
            } else if (ClassUtils.isSimpleValueType(getter.getReturnType()) || value instanceof Duration) {
                lines.add(name + " " + value);
            } else if (value != null && isOptions(value.getClass())) {
                lines.addAll(optionsOf(name + ".", value));
            }
        }
        return lines;
    }

    private static boolean isOptions(Class<?> type) {
        return Stream.<Class<?>>iterate(type, Objects::nonNull, Class::getSuperclass)
                .anyMatch(each -> each.getName().endsWith("Options"));
    }

    private static List<Method> gettersOf(Object options) {
        return Stream.of(options.getClass().getMethods())
                .filter(method -> method.getParameterCount() == 0 && !Modifier.isStatic(method.getModifiers()))
                .filter(method -> method.getName().matches("(get|is|use)[A-Z].*"))
                .filter(method -> method.getDeclaringClass() != Object.class)
                .filter(method -> method.getReturnType() != URL.class)
                .filter(method -> !WITHOUT_EFFECT.contains(method.getName()))
                .sorted(Comparator.comparing(Method::getName))
                .toList();
    }

    @Configuration(proxyBeanMethods = false)
    @EnableAutoConfiguration
    static class WithoutDatabase {}
}
