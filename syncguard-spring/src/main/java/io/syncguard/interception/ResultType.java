package io.syncguard.interception;

import io.syncguard.LateResults;
import io.syncguard.LockException;
import io.syncguard.LockSetupException;
import java.lang.invoke.MethodType;
import java.lang.reflect.Array;
import java.lang.reflect.Method;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
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
import java.util.function.Supplier;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.springframework.core.KotlinDetector;
import org.springframework.core.ReactiveAdapter;
import org.springframework.core.ReactiveAdapterRegistry;
import org.springframework.core.ResolvableType;
import org.springframework.http.HttpEntity;
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

    /** Types of parameters that receive the result, also after the method has returned. */
    private static final Set<String> RECEIVERS =
            Set.of("io.grpc.stub.StreamObserver", "jakarta.ws.rs.container.AsyncResponse");

    private static final boolean REACTOR = isPresent("reactor.core.publisher.Flux");

    private static final boolean WEB = isPresent("org.springframework.http.HttpEntity");

    /** Types whose arguments are those of their parts. Those of libraries and modules may be missing. */
    private static final List<Class<?>> WHOLES = Stream.of(
                    "java.lang.Iterable",
                    "java.util.Map",
                    "java.util.Map$Entry",
                    "java.util.Optional",
                    "java.lang.ref.Reference",
                    "java.util.concurrent.atomic.AtomicReference",
                    "java.net.http.HttpResponse",
                    "kotlin.Pair",
                    "kotlin.Triple",
                    "org.springframework.http.HttpEntity")
            .filter(ResultType::isPresent)
            .<Class<?>>map(name -> ClassUtils.resolveClassName(name, ResultType.class.getClassLoader()))
            .toList();

    /** Maximum depth to which the parts of a type are inspected. */
    private static final int DEPTH = 4;

    private final String method;

    private final ResolvableType type;

    private final @Nullable ReactiveAdapter reactive;

    /** Whether Kotlin declares that the result is never null. */
    private final boolean neverNull;

    /** Like {@link #neverNull}, but also true if that depends on the argument of a type parameter. */
    private final boolean rarelyNull;

    /**
     * @throws LockSetupException when the lock cannot be held until the result is complete
     */
    public ResultType(Method method, Class<?> targetClass) {
        this(method, targetClass, true);
    }

    private ResultType(Method method, Class<?> targetClass, boolean publishers) {
        requireNoReceiver(method);
        this.method = ClassUtils.getQualifiedMethodName(method);
        this.type = KotlinFunction.resultType(method, targetClass);
        this.neverNull = KotlinFunction.isNeverNull(method, false);
        this.rarelyNull = KotlinFunction.isNeverNull(method, true);
        Class<?> raw = type.resolve(Object.class);
        if (publishers) {
            KotlinFunction.requireLibrary(method, raw);
        }
        this.reactive = publishers && REACTOR ? reactiveAdapter(method, raw) : null;
        if (reactive == null && KotlinDetector.isSuspendingFunction(method)) {
            throw LockSetupException.invalid(
                    "a suspending function has not ended when it returns, and the lock cannot be held until then",
                    "Use a function that does not suspend");
        }
        if (reactive == null && isLate(raw) && !mayBeFuture()) {
            throw incomplete(type);
        }
        ResolvableType part = latePart(type, DEPTH);
        if (part != null) {
            throw incomplete(part);
        }
    }

    /**
     * Returns the type for an interceptor that does not run publishers.
     *
     * @throws LockSetupException also when the result is a publisher, or when the method suspends
     */
    public static ResultType withoutPublishers(Method method, Class<?> targetClass) {
        return new ResultType(method, targetClass, false);
    }

    /**
     * Checks that a skipped call has a result to return. Only Kotlin declares that {@code null} is not one.
     *
     * @param instead further next steps for the message
     * @throws LockSetupException when there is no such result
     */
    public ResultType requireSkippable(String... instead) {
        if (neverNull && skipped() == null && !isLate(type.resolve(Object.class))) {
            List<String> nextSteps = new ArrayList<>(List.of("Declare a result that may be null, such as String?"));
            nextSteps.addAll(List.of(instead));
            throw LockSetupException.invalid(
                    "a skipped call returns null, but the result is declared as one that is never null",
                    nextSteps.toArray(String[]::new));
        }
        return this;
    }

    /** Converts the result of the body to a publisher, and back; {@code null} if the result is not a publisher. */
    public @Nullable ReactiveAdapter reactive() {
        return reactive;
    }

    /** Whether the result may be a future. A future becomes a {@link HeldFuture}. */
    public boolean mayBeFuture() {
        return type.resolve(Object.class).isAssignableFrom(CompletableFuture.class);
    }

    /**
     * Checks the result of a call, or of its future. The declared type may not say what the result is.
     *
     * @throws LockException when the work of the result has not been done yet
     */
    public void requireThere(@Nullable Object result) {
        Object content = WEB && result instanceof HttpEntity<?> entity ? entity.getBody() : result;
        LateResults.refuseIn(content, method);
    }

    /** The result of a skipped call: {@code null}, something empty, zero, or a completed future. */
    public @Nullable Object skipped() {
        Class<?> unboxed =
                MethodType.methodType(type.resolve(Object.class)).unwrap().returnType();
        return nothing(rarelyNull && unboxed.isPrimitive() ? ResolvableType.forClass(unboxed) : type);
    }

    /**
     * Spring converts the body of a suspending function: behind the interceptors it is a {@code Mono}, or a
     * {@code Flux} for a {@code Flow}.
     */
    private static @Nullable ReactiveAdapter reactiveAdapter(Method method, Class<?> raw) {
        Class<?> published = raw;
        if (KotlinDetector.isSuspendingFunction(method)) {
            published = KotlinFunction.isFlow(raw) ? Flux.class : Mono.class;
        }
        ReactiveAdapter adapter = ReactiveAdapterRegistry.getSharedInstance().getAdapter(published);
        // Other adapters are for types like futures, whose work has begun when the method returns, or for subtypes of
        // publishers, which cannot be the type of the publisher that holds the lock.
        return adapter != null
                        && adapter.getDescriptor().isDeferred()
                        && published.isAssignableFrom(adapter.getReactiveType())
                ? adapter
                : null;
    }

    private static void requireNoReceiver(Method method) {
        for (Class<?> parameter : method.getParameterTypes()) {
            if (isReceiver(parameter)) {
                throw LockSetupException.invalid(
                        "the result goes to a parameter of type " + parameter.getName()
                                + ", also after the method has returned, and the lock cannot be held until then",
                        "Lock a method that returns the result, and let its caller pass it on",
                        "Lock the code that does the work or reads the data");
            }
        }
    }

    private static boolean isReceiver(Class<?> type) {
        return RECEIVERS.contains(type.getName())
                || Stream.concat(Stream.ofNullable(type.getSuperclass()), Stream.of(type.getInterfaces()))
                        .anyMatch(ResultType::isReceiver);
    }

    private LockSetupException incomplete(ResolvableType late) {
        String within = late == type ? "" : " within a " + type;
        return LockSetupException.invalid(
                "a result of type " + late.resolve(Object.class).getName() + within
                        + " is not complete when the method returns, and the lock cannot be held until then",
                "Return a CompletableFuture, CompletionStage or Future of the complete result",
                "Return the complete result, such as a List or byte[]",
                "Lock the code that does the work or reads the data");
    }

    private static boolean isLate(Class<?> raw) {
        return LateResults.isLate(raw)
                || ReactiveAdapterRegistry.getSharedInstance().getAdapter(raw) != null;
    }

    /** Returns the late part of a container, a future or a record of this type; {@code null} if it has none. */
    private static @Nullable ResolvableType latePart(ResolvableType type, int depth) {
        for (ResolvableType part : depth == 0 ? List.<ResolvableType>of() : parts(type)) {
            ResolvableType late = isLate(part.resolve(Object.class)) ? part : latePart(part, depth - 1);
            if (late != null) {
                return late;
            }
        }
        return null;
    }

    private static List<ResolvableType> parts(ResolvableType type) {
        Class<?> raw = type.resolve(Object.class);
        if (raw.isArray()) {
            return List.of(type.getComponentType());
        }
        if (raw.isRecord()) {
            // Functions in a record are not work that has begun.
            return Arrays.stream(raw.getRecordComponents())
                    .map(component -> ResolvableType.forType(component.getGenericType(), type))
                    .filter(part -> !isFunction(part.resolve(Object.class)))
                    .toList();
        }
        for (Class<?> whole : WHOLES) {
            if (whole.isAssignableFrom(raw)) {
                return List.of(type.as(whole).getGenerics());
            }
        }
        return isLate(raw) ? List.of(type.getGenerics()) : List.of();
    }

    private static boolean isFunction(Class<?> raw) {
        return raw == Runnable.class || raw.getPackageName().equals("java.util.function");
    }

    private static boolean isPresent(String type) {
        return ClassUtils.isPresent(type, ResultType.class.getClassLoader());
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
