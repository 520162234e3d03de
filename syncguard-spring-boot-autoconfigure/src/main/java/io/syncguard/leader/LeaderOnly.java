package io.syncguard.leader;

import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

/**
 * Runs a method on the leader of an election alone; elsewhere it is left out. On a class, each public method.
 *
 * <pre>{@code
 * @Scheduled(cron = "0 0 3 * * *")
 * @LeaderOnly("settlement")
 * void settle() { ... }
 * }</pre>
 *
 * <p>A call that is left out returns {@code null}, an empty {@code Optional}, collection, map or array, zero or {@code
 * false}, or a completed future of these. There is no I/O in the decision.
 *
 * <p>The body runs under the lock of the leader: {@code LockHandle.current()} gives its fence. At the end of the
 * leadership the body's thread is interrupted, or the future cancelled that it returned. A leader that steps down on
 * purpose keeps the lock until the body has ended; when the lock was lost, or the body took longer than the shutdown
 * timeout, the call ends with a {@link io.syncguard.LockLostException}. So does one whose body fails because it was
 * interrupted, or whose future was cancelled, by the end of the leadership: what it failed with is the cause.
 *
 * <p>An unknown election, a result that comes later and is no future, and a private, static or final method fail the
 * start.
 */
@Target({ElementType.METHOD, ElementType.TYPE, ElementType.ANNOTATION_TYPE})
@Retention(RetentionPolicy.RUNTIME)
@Documented
public @interface LeaderOnly {

    /** The name of the election; may be a placeholder. */
    String value();
}
