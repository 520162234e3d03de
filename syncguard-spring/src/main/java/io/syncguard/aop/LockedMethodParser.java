package io.syncguard.aop;

import io.syncguard.CommitGuard;
import io.syncguard.DistributedLock;
import io.syncguard.LockLimits;
import io.syncguard.LockManager;
import io.syncguard.LockMode;
import io.syncguard.LockRequest;
import io.syncguard.LockSettings;
import io.syncguard.LockSetupException;
import io.syncguard.LockTemplate;
import io.syncguard.OnContention;
import io.syncguard.interception.ResultType;
import java.lang.reflect.Method;
import java.time.Duration;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Supplier;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.context.expression.BeanFactoryResolver;
import org.springframework.util.ClassUtils;
import org.springframework.util.function.SingletonSupplier;

/**
 * Parses {@link DistributedLock} annotations. Thread-safe.
 */
final class LockedMethodParser {

    private static final Log log = LogFactory.getLog(LockedMethodParser.class);

    /** The key of the default request; each call replaces it. */
    private static final String ANY_KEY = "-";

    private final ConfigurableListableBeanFactory beans;
    private final LockManagerResolver resolver;
    private final Supplier<LockTemplate> template;
    private final Supplier<CallLimits> limits;
    private final BeanReferences references;
    private final Set<AnnotatedLock> locks = ConcurrentHashMap.newKeySet();

    /**
     * @param template for annotations that name no manager
     * @param limits defaults for what an annotation does not set
     */
    LockedMethodParser(
            ConfigurableListableBeanFactory beans, Supplier<LockTemplate> template, Supplier<CallLimits> limits) {
        this.beans = beans;
        this.references = new BeanReferences(beans);
        this.resolver = new LockManagerResolver(beans);
        this.template = template;
        this.limits = limits;
    }

    /** Called when all beans exist. Until then, a bean may still define another one. */
    void requireBeans() {
        references.requireAll();
    }

    LockedMethod parse(DistributedLock annotation, Method method, Class<?> targetClass) {
        return new Parsing(annotation, method, targetClass).lockedMethod();
    }

    /** The locks of all methods that were parsed so far. */
    Set<AnnotatedLock> locks() {
        return locks;
    }

    private static String describe(Method method) {
        return ClassUtils.getQualifiedMethodName(method);
    }

    /** Parses one annotation. Adds the place of a mistake to its message. */
    private final class Parsing {

        private final DistributedLock annotation;
        private final Method method;
        private final Class<?> targetClass;
        private final MethodParameters parameters;
        private final String prefix;

        /** The name of the locks, for meters and settings. */
        private final String name;

        private final @Nullable LockSettings settings;

        Parsing(DistributedLock annotation, Method method, Class<?> targetClass) {
            this.annotation = annotation;
            this.method = method;
            this.targetClass = targetClass;
            this.parameters = new MethodParameters(
                    ParameterNames.of(method, targetClass), method, targetClass, beans.getBeanClassLoader());
            this.prefix = attribute("name", this::resolvedName);
            this.name = LockNames.nameOf(prefix, method, targetClass);
            this.settings = limits.get().locks().get(name);
        }

        LockedMethod lockedMethod() {
            MethodExpression key = expression("key", annotation.key());
            if (prefix.isEmpty() && key == null) {
                throw located(LockSetupException.invalid(
                        "it has neither 'name' nor 'key', so nothing says what to lock",
                        "Set 'name' to a constant",
                        "Set 'key' to an expression over the arguments"));
            }
            LockRequest defaults = defaults();
            locks.add(new AnnotatedLock(name, defaults.mode(), defaults.permits(), resolve(annotation.lockManager())));
            boolean skips = skips();
            ResultType result = located("return type", () -> new ResultType(method, targetClass));
            if (result.reactive() != null) {
                requireNoTransaction(defaults.commitGuard());
            }
            if (skips) {
                requireSkippable(result);
            }
            return new LockedMethod(
                    describe(method),
                    prefix,
                    key,
                    expression("condition", annotation.condition()),
                    fencedResource(),
                    attribute("lockManager", this::resolvedTemplate),
                    defaults,
                    defaults.waitTime() != null
                            ? defaults.waitTime()
                            : skips ? Duration.ZERO : limits.get().waitTime(),
                    () -> limits.get().maxKeys(),
                    skips,
                    fallback(skips),
                    result);
        }

        private void requireSkippable(ResultType result) {
            try {
                result.requireSkippable("Use a fallback instead of SKIP");
            } catch (LockSetupException ex) {
                if (annotation.onContention() == OnContention.SKIP || settings == null) {
                    throw LockSetupException.at(place("return type"), ex);
                }
                String property = LockSettings.property(name) + ".on-contention";
                throw contradicted(property + " is skip: " + ex.problem(), "Remove " + property);
            }
        }

        /** The fence and the lease can only be checked in a JDBC transaction. */
        private void requireNoTransaction(CommitGuard guard) {
            if (settings != null && guard == CommitGuard.REQUIRED && annotation.commitGuard() != guard) {
                String property = LockSettings.property(name) + ".commit-guard";
                throw contradicted(
                        property + " is required, but a publisher runs in no JDBC transaction that could be guarded",
                        "Remove " + property);
            }
            if (!annotation.fencedResource().isEmpty() || guard == CommitGuard.REQUIRED) {
                throw located(LockSetupException.invalid(
                        "it has a fencedResource or commitGuard = REQUIRED, but a publisher runs in no JDBC"
                                + " transaction that could check it",
                        "Leave them out, and pass the fence of the lock to what the method writes",
                        "Return the result itself, or a CompletableFuture"));
            }
        }

        private String resolvedName() {
            if (!annotation.name().isEmpty()
                    && !annotation.value().isEmpty()
                    && !annotation.name().equals(annotation.value())) {
                throw LockSetupException.invalid(
                        "it is '" + annotation.name() + "', and its alias 'value' is '" + annotation.value() + "'",
                        "Leave one of them out");
            }
            String name = resolve(annotation.name().isEmpty() ? annotation.value() : annotation.name());
            return name.isEmpty()
                    ? name
                    : LockRequest.of(TemplateText.requireNoneInName(name, parameters.names()))
                            .key();
        }

        private @Nullable FallbackMethod fallback(boolean skips) {
            if (annotation.fallback().isEmpty()) {
                return null;
            }
            if (skips && annotation.onContention() != OnContention.SKIP && settings != null) {
                String property = LockSettings.property(name) + ".on-contention";
                throw contradicted(
                        property + " is skip, but the method has a fallback, which runs instead of it",
                        "Remove " + property);
            }
            if (skips) {
                throw located(LockSetupException.invalid(
                        "it has a fallback, but onContention = SKIP skips the call", "Leave one of them out"));
            }
            return attribute("fallback", () -> FallbackMethod.find(annotation.fallback(), method, targetClass));
        }

        private @Nullable MethodExpression fencedResource() {
            MethodExpression resource = expression("fencedResource", annotation.fencedResource());
            if (resource != null && !annotation.permits().isEmpty()) {
                throw located(LockSetupException.invalid(
                        "it has a fencedResource, but the holders of a lock with permits have different fences, and the"
                                + " resource would refuse the smaller ones",
                        "Leave fencedResource out",
                        "Leave permits out, for an exclusive lock"));
            }
            if (resource != null && annotation.mode() == LockMode.SHARED) {
                throw located(LockSetupException.invalid(
                        "it has a fencedResource, but the holders of a shared lock have different fences, and the"
                                + " resource would refuse the smaller ones",
                        "Leave fencedResource out",
                        "Use an exclusive lock"));
            }
            return resource;
        }

        private Supplier<LockTemplate> resolvedTemplate() {
            String manager = resolve(annotation.lockManager());
            if (manager.isEmpty()) {
                return template;
            }
            Supplier<LockManager> named = resolver.manager(manager);
            return SingletonSupplier.of(() -> new LockTemplate(named.get()));
        }

        private LockRequest defaults() {
            LockRequest request = LockRequest.of(ANY_KEY)
                    .meterName(name)
                    .onLost(annotation.onLost())
                    .commitGuard(annotation.commitGuard());
            request = annotation.mode() == LockMode.SHARED ? request.shared() : request;
            request = annotation.permits().isEmpty() ? request : request.permits(attribute("permits", this::permits));
            request = annotation.heartbeat() ? request : request.noHeartbeat();
            request = with(request, "ttl", annotation.ttl(), LockRequest::ttl);
            request = with(request, "waitTime", annotation.waitTime(), LockRequest::waitTime);
            request = with(request, "holdAtLeast", annotation.holdAtLeast(), LockRequest::holdAtLeast);
            request = with(request, "holdAtMost", annotation.holdAtMost(), LockRequest::holdAtMost);
            return settings == null ? request : configured(request, settings);
        }

        /** An empty value is refused, because the lock would have no limit. */
        private int permits() {
            String text = resolve(annotation.permits()).strip();
            try {
                return LockLimits.permits(Integer.parseInt(text));
            } catch (NumberFormatException ex) {
                throw LockSetupException.invalid(
                        "it is '" + text + "', but has to be a whole number between 1 and " + LockLimits.MAX_PERMITS,
                        "Write a number, as in permits = \"5\", or a placeholder that has one");
            }
        }

        private LockRequest configured(LockRequest annotated, LockSettings settings) {
            try {
                LockRequest request = settings.applyTo(annotated, limits.get().ttl());
                if (settings.heartbeatInterval() != null && !request.heartbeat()) {
                    String property = LockSettings.property(name);
                    log.warn(property + ".heartbeat-interval is set, but has no effect: @DistributedLock on "
                            + describe(method) + " has heartbeat = false. Set " + property
                            + ".heartbeat=true, or remove the property");
                }
                return request;
            } catch (LockSetupException ex) {
                throw contradicted(ex.problem(), ex.nextSteps().get(0));
            }
        }

        private boolean skips() {
            OnContention configured = settings == null ? null : settings.onContention();
            return (configured == null ? annotation.onContention() : configured) == OnContention.SKIP;
        }

        /** Reports a mistake in a property. The message begins with the property. */
        private LockSetupException contradicted(String problem, String nextStep) {
            String where = "@DistributedLock on " + describe(method);
            return LockSetupException.invalid(problem + " (" + where + ")", nextStep, "Correct " + where);
        }

        private LockRequest with(LockRequest request, String attribute, String text, DurationSetter setter) {
            return attribute(attribute, () -> {
                String resolved = resolve(text);
                return resolved.isEmpty() ? request : setter.set(request, UnitlessTime.parse(resolved));
            });
        }

        private @Nullable MethodExpression expression(String attribute, String text) {
            return text.isEmpty() ? null : attribute(attribute, () -> parsed(attribute, text));
        }

        private MethodExpression parsed(String attribute, String text) {
            MethodExpression expression =
                    new MethodExpression(attribute, text, parameters, new BeanFactoryResolver(beans));
            references.require(where(attribute), expression.beanNames());
            return expression;
        }

        private String resolve(String text) {
            try {
                return Objects.requireNonNullElse(beans.resolveEmbeddedValue(text), "");
            } catch (IllegalArgumentException ex) {
                throw LockSetupException.invalid(
                        "no property resolves the placeholder in '" + text + "'",
                        "Define the property",
                        "Give the placeholder a default value, as in ${shop.ttl:30s}");
            }
        }

        private <T> T attribute(String name, Supplier<T> reading) {
            return located("attribute '" + name + "'", reading);
        }

        private String where(String attribute) {
            return "@DistributedLock on " + describe(method) + ", attribute '" + attribute + "'";
        }

        private <T> T located(String where, Supplier<T> reading) {
            try {
                return reading.get();
            } catch (RuntimeException ex) {
                throw LockSetupException.at(place(where), ex);
            }
        }

        private String place(String where) {
            return "@DistributedLock on " + describe(method) + ", " + where;
        }

        private LockSetupException located(LockSetupException mistake) {
            return LockSetupException.at("@DistributedLock on " + describe(method), mistake);
        }
    }

    @FunctionalInterface
    private interface DurationSetter {
        LockRequest set(LockRequest request, Duration duration);
    }
}
