package io.syncguard.interception;

import io.syncguard.LockSetupException;
import java.lang.reflect.Array;
import java.lang.reflect.Method;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.OptionalInt;
import java.util.OptionalLong;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Flow;
import java.util.concurrent.Future;
import java.util.function.Supplier;
import java.util.stream.BaseStream;
import org.jspecify.annotations.Nullable;
import org.springframework.core.KotlinDetector;
import org.springframework.core.MethodParameter;
import org.springframework.core.ReactiveAdapter;
import org.springframework.core.ReactiveAdapterRegistry;
import org.springframework.core.ResolvableType;
import org.springframework.util.ClassUtils;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/**
 * The return type of a method. It decides when a call ends, and what a skipped call returns.
 *
 * <p>A method that returns a publisher, or that Kotlin suspends, has a {@link #reactive() reactive} result: its body
 * runs once for each subscription.
 */
public final class ResultType {

    /** Results of web controllers whose work runs after the method has returned. */
    private static final Set<String> DEFERRED_BY_WEB = Set.of(
            "org.springframework.web.context.request.async.DeferredResult",
            "org.springframework.web.context.request.async.WebAsyncTask",
            "org.springframework.web.servlet.mvc.method.annotation.ResponseBodyEmitter",
            "org.springframework.web.servlet.mvc.method.annotation.StreamingResponseBody");

    /** Types whose skipped result is empty rather than {@code null}. */
    private static final List<Class<?>> CONTAINERS = List.of(
            Optional.class, OptionalInt.class, OptionalLong.class, OptionalDouble.class, Iterable.class, Map.class);

    private static final List<Supplier<?>> EMPTY = List.of(
            Optional::empty,
            OptionalInt::empty,
            OptionalLong::empty,
            OptionalDouble::empty,
            ArrayList::new,
            LinkedHashSet::new,
            TreeSet::new,
            ArrayDeque::new,
            LinkedHashMap::new,
            TreeMap::new);

    private static final boolean REACTOR =
            ClassUtils.isPresent("reactor.core.publisher.Flux", ResultType.class.getClassLoader());

    private final ResolvableType type;

    private final @Nullable ReactiveAdapter reactive;

    /**
     * @throws LockSetupException when the lock cannot be held until the result is there
     */
    public ResultType(Method method, Class<?> targetClass) {
        this.type = ResolvableType.forMethodReturnType(method, targetClass);
        Class<?> raw = type.resolve(Object.class);
        this.reactive = REACTOR ? reactiveAdapter(method, raw) : null;
        if (reactive == null && (endsAfterReturn(raw) || KotlinDetector.isSuspendingFunction(method))) {
            throw stillToCome(raw);
        }
    }

    /**
     * The same, for those that do not run publishers.
     *
     * @throws LockSetupException when it is a publisher
     */
    public ResultType requireNotReactive() {
        if (reactive != null) {
            throw stillToCome(type.resolve(Object.class));
        }
        return this;
    }

    /** Converts the result of the body to a publisher, and back; {@code null} if the result is none. */
    public @Nullable ReactiveAdapter reactive() {
        return reactive;
    }

    /** Whether the result may be a future; it becomes a {@link HeldFuture} then. */
    public boolean mayBeFuture() {
        return type.resolve(Object.class).isAssignableFrom(CompletableFuture.class);
    }

    /** The result of a skipped call: {@code null}, something empty, zero, or a completed future. */
    public @Nullable Object skipped() {
        return nothing(type);
    }

    /**
     * Behind the interceptors, the body of a suspending function is a {@code Mono}, or a {@code Flux} for a
     * {@code Flow}: Spring converts it.
     */
    private static @Nullable ReactiveAdapter reactiveAdapter(Method method, Class<?> raw) {
        Class<?> published = raw;
        if (KotlinDetector.isSuspendingFunction(method)) {
            String result = new MethodParameter(method, -1).getParameterType().getName();
            published = result.equals("kotlinx.coroutines.flow.Flow") ? Flux.class : Mono.class;
        }
        ReactiveAdapter adapter = ReactiveAdapterRegistry.getSharedInstance().getAdapter(published);
        // The others are futures by other names: their work has begun when the method returns.
        return adapter != null && adapter.getDescriptor().isDeferred() ? adapter : null;
    }

    private static LockSetupException stillToCome(Class<?> raw) {
        return LockSetupException.invalid(
                "a result of type " + raw.getName()
                        + " is still to come when the method returns, and the lock cannot be held until then",
                "Return a CompletableFuture, CompletionStage or Future",
                "Lock the code that makes the result");
    }

    private static boolean endsAfterReturn(Class<?> raw) {
        if (raw.isAssignableFrom(CompletableFuture.class)) {
            return false;
        }
        return Future.class.isAssignableFrom(raw)
                || CompletionStage.class.isAssignableFrom(raw)
                || ReactiveAdapterRegistry.getSharedInstance().getAdapter(raw) != null
                || Flow.Publisher.class.isAssignableFrom(raw)
                || BaseStream.class.isAssignableFrom(raw)
                || isDeferredByWeb(raw);
    }

    /** An SseEmitter is a ResponseBodyEmitter, for instance. */
    private static boolean isDeferredByWeb(Class<?> raw) {
        for (Class<?> each = raw; each != null; each = each.getSuperclass()) {
            if (DEFERRED_BY_WEB.contains(each.getName())) {
                return true;
            }
        }
        return false;
    }

    private static @Nullable Object nothing(ResolvableType type) {
        Class<?> raw = type.resolve(Object.class);
        if (raw == Object.class || raw == void.class) {
            return null;
        }
        if (raw.isPrimitive()) {
            return Array.get(Array.newInstance(raw, 1), 0);
        }
        if (raw.isAssignableFrom(CompletableFuture.class)) {
            return CompletableFuture.completedFuture(nothing(type.getGeneric()));
        }
        if (raw.isArray()) {
            return Array.newInstance(raw.getComponentType(), 0);
        }
        return emptyContainer(raw);
    }

    private static @Nullable Object emptyContainer(Class<?> raw) {
        if (CONTAINERS.stream().noneMatch(container -> container.isAssignableFrom(raw))) {
            return null;
        }
        return EMPTY.stream()
                .<Object>map(Supplier::get)
                .filter(raw::isInstance)
                .findFirst()
                .orElse(null);
    }
}
