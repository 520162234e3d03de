package io.syncguard.autoconfigure;

import io.syncguard.LockSetupException;
import io.syncguard.concurrent.Chain;
import java.util.Map;
import java.util.Set;
import java.util.function.Supplier;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.springframework.aop.framework.Advised;
import org.springframework.beans.factory.BeanFactoryUtils;
import org.springframework.beans.factory.ListableBeanFactory;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.data.redis.connection.ReactiveRedisConnectionFactory;
import org.springframework.data.redis.connection.RedisConnectionFactory;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

/**
 * Finds the {@link LettuceConnectionFactory} of the locks, also if it is declared as an interface or behind a proxy of
 * Spring, and explains why a bean is not suitable.
 */
record RedisFactories(
        ObjectProvider<RedisConnectionFactory> marked,
        ObjectProvider<ReactiveRedisConnectionFactory> markedReactive,
        ObjectProvider<RedisConnectionFactory> all,
        ListableBeanFactory beans) {

    /**
     * Returns what gives the factory that the bean leads to at that moment, so that locks follow a refresh of a scope.
     */
    Supplier<LettuceConnectionFactory> choose() {
        ReactiveRedisConnectionFactory reactive = markedReactive.getIfUnique();
        Object chosen = reactive == null
                ? LockStores.choose(marked, all, SyncGuardRedisConnectionFactory.class, RedisFactories::none)
                : reactive;
        if (reactive == null && marked.getIfAvailable() == null) {
            requireNoOtherMark();
        }
        Object target = targetOf(chosen);
        if (!(target instanceof LettuceConnectionFactory factory)) {
            throw refused(chosen, "its class is " + target.getClass().getName() + ", not LettuceConnectionFactory");
        }
        if (isMock(factory)) {
            throw refused(chosen, "it is a mock");
        }
        return () -> (LettuceConnectionFactory) targetOf(chosen);
    }

    private static LockSetupException none() {
        return LockSetupException.invalid(
                "syncguard.backend names 'redis', but there is no RedisConnectionFactory",
                "Use spring-boot-starter-data-redis with Lettuce, and set spring.data.redis.url",
                "Remove 'redis' from syncguard.backend");
    }

    private void requireNoOtherMark() {
        Set<String> others = LockStores.markedWith(SyncGuardRedisConnectionFactory.class, beans);
        if (!others.isEmpty()) {
            String other = others.iterator().next();
            throw LockSetupException.invalid(
                    "The bean '" + other + "' is marked with @SyncGuardRedisConnectionFactory, but its class is "
                            + classOf(other),
                    "Mark a LettuceConnectionFactory");
        }
    }

    private String classOf(String name) {
        Class<?> type = beans.getType(name);
        return type == null ? "unknown" : type.getName();
    }

    /** Unwraps proxies for scopes and aspects. */
    private static Object targetOf(Object bean) {
        return Chain.end(bean, RedisFactories::behind);
    }

    private static @Nullable Object behind(Object bean) {
        try {
            return bean instanceof Advised proxy ? proxy.getTargetSource().getTarget() : null;
        } catch (Exception ex) {
            throw new IllegalStateException("The target of " + bean.getClass().getName() + " cannot be read", ex);
        }
    }

    /** Whether it is a mock, which may have the same class name. A real factory always has a client configuration. */
    @SuppressWarnings("NullAway")
    private static boolean isMock(LettuceConnectionFactory factory) {
        return factory.getClientConfiguration() == null;
    }

    private LockSetupException refused(Object bean, String reason) {
        return LockSetupException.invalid(
                "SyncGuard cannot store locks in the Redis of the bean '" + nameOf(bean) + "': " + reason,
                reason.contains("org.redisson.")
                        ? "Use Lettuce for all of Redis but Redisson: replace redisson-spring-boot-starter by"
                                + " org.redisson:redisson, and declare the RedissonClient"
                        : "Use Lettuce for all of Redis: add io.lettuce:lettuce-core, and set"
                                + " spring.data.redis.client-type=lettuce",
                "Use Lettuce for locks alone: declare a LettuceConnectionFactory with"
                        + " @Bean(defaultCandidate = false) and @SyncGuardRedisConnectionFactory",
                LockStores.WITHOUT_A_STORE);
    }

    private String nameOf(Object bean) {
        return Stream.of(RedisConnectionFactory.class, ReactiveRedisConnectionFactory.class)
                .map(type -> BeanFactoryUtils.beansOfTypeIncludingAncestors(beans, type, false, true))
                .flatMap(found -> found.entrySet().stream())
                .filter(each -> each.getValue() == bean)
                .map(Map.Entry::getKey)
                .findFirst()
                .orElse("?");
    }
}
