package io.syncguard.aop;

import io.syncguard.LockNotAcquiredException;
import io.syncguard.LockRequest;
import io.syncguard.interception.AnnotatedCall;
import io.syncguard.reactive.ReactiveLockTemplate;
import io.syncguard.reactive.ReactiveThreads;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.springframework.core.ReactiveAdapter;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/**
 * A call whose result is a publisher. Each subscription acquires the locks, calls the method, and releases the locks
 * when the publisher of the method ends. Without Reactor, nothing loads this class.
 */
final class ReactiveCall {

    private final AnnotatedCall<LockedMethod> call;
    private final LockedMethod method;
    private final ReactiveAdapter adapter;
    private final Supplier<ReactiveThreads> threads;

    ReactiveCall(AnnotatedCall<LockedMethod> call, ReactiveAdapter adapter, Supplier<ReactiveThreads> threads) {
        this.call = call;
        this.method = call.method();
        this.adapter = adapter;
        this.threads = threads;
    }

    /** Returns the publisher, in the return type of the method. */
    Object publisher() {
        Flux<Object> results = Flux.defer(() -> new Subscription().run());
        // Mono.from would cancel at the first element, before the release.
        return adapter.fromPublisher(adapter.isMultiValue() ? results : results.singleOrEmpty());
    }

    /** One subscription. */
    private final class Subscription {

        private final AnnotatedCall<LockedMethod> body = call.copy();
        private final ReactiveLockTemplate locks = new ReactiveLockTemplate(method.manager(), threads.get());
        private final OpenCall open = new OpenCall(body);

        /** Whether all locks were granted. Later refusals come from the body. */
        private volatile boolean granted;

        Flux<Object> run() {
            List<LockRequest> requests = method.requests(MethodCall.of(body.invocation(), body.targetClass())).stream()
                    .map(FencedRequest::lock)
                    .toList();
            Flux<Object> results = run(requests).onErrorResume(LockNotAcquiredException.class, this::withoutLock);
            return requests.isEmpty() ? results : locks.routed(results);
        }

        private Flux<Object> run(List<LockRequest> requests) {
            if (requests.isEmpty()) {
                return runBody();
            }
            Duration timeLeft = open.timeLeft();
            if (requests.size() == 1) {
                return locks.flux(requests.get(0).waitExactly(timeLeft), lock -> runBody());
            }
            return locks.flux(
                    requests.stream()
                            .map(request -> request.waitExactly(timeLeft))
                            .toList(),
                    held -> runBody());
        }

        private Flux<Object> runBody() {
            granted = true;
            return published(body::proceed);
        }

        private Flux<Object> withoutLock(LockNotAcquiredException refusal) {
            if (granted || !open.continuesWithoutLock()) {
                return Flux.error(refusal);
            }
            Callable<@Nullable Object> instead = open.withoutLock(method.description(), refusal);
            // Only a suspending function has a result to return when it is skipped. A skipped publisher is empty.
            return method.fallback() == null ? Mono.fromCallable(instead).flux() : published(instead);
        }

        private Flux<Object> published(Callable<@Nullable Object> body) {
            try {
                return Flux.from(adapter.toPublisher(body.call()))
                        .cast(Object.class)
                        .doOnNext(method.result()::requireThere);
            } catch (Exception ex) {
                return Flux.error(ex);
            }
        }
    }
}
