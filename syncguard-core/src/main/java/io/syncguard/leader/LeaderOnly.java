package io.syncguard.leader;

import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

/**
 * Runs a method only on the leader of an election; other processes skip the call. On a class it applies to each public
 * method.
 *
 * <pre>{@code
 * @Scheduled(cron = "0 0 3 * * *")
 * @LeaderOnly("settlement")
 * void settle() { ... }
 * }</pre>
 *
 * <p>A skipped call returns {@code null}, an empty {@code Optional}, collection, map or array, zero or {@code false},
 * or a completed future of these. The decision takes no I/O. A call before the first decision after the start waits for
 * it, at most for {@code syncguard.wait-time} since the start; then it is skipped with a warning.
 *
 * <p>The body runs under the lock of the leader: {@code LockHandle.current()} gives its fence. At the end of the
 * leadership the body's thread is interrupted, or the future that it returned is cancelled. A leader that steps down on
 * purpose holds the lock until the body has ended. The call fails with a {@link io.syncguard.LockLostException} if the
 * lock was lost, or if the body took longer than the shutdown timeout. It also fails with one if the interrupt or the
 * cancellation made the body fail; the failure of the body is the cause then.
 *
 * <p>The start of the application fails for an unknown election, for an asynchronous result that is no future, for a
 * second annotation of another kind for the same method, such as a composed one on its class, and for a final class,
 * and a private, static, final or lifecycle method, such as one with {@code @PostConstruct}.
 */
@Target({ElementType.METHOD, ElementType.TYPE, ElementType.ANNOTATION_TYPE})
@Retention(RetentionPolicy.RUNTIME)
@Documented
public @interface LeaderOnly {

    /** The name of the election; may be a placeholder. */
    String value();
}
