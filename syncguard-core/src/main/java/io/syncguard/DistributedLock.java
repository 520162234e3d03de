package io.syncguard;

import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

/**
 * Runs a method under a distributed lock: only one caller at a time, of all processes that use the same database; or
 * with {@link LockMode#SHARED} many readers, and no writer among them; or with {@link #permits()} at most so many.
 *
 * <pre>{@code
 * @DistributedLock(name = "order", key = "#orderId", ttl = "30s")
 * public Receipt submit(String orderId) { ... }
 * }</pre>
 *
 * <p>It works on methods of Spring beans that are called from outside, on classes (then on each public method) and on
 * interfaces, whose parameter names an expression may use, and as a meta-annotation. A call takes one lock, so another
 * kind of lock annotation for the same method, such as a meta-annotation on its class, fails the start. The lock is
 * taken before a transaction of the same method begins and released after it has ended.
 * A method that returns a {@code CompletionStage} or {@code Future} keeps the lock until that is done. Other results
 * whose work is still to come are refused: see {@link LateResults}.
 *
 * <p>A call throws {@link LockNotAcquiredException} when the wait time is over, unless it is skipped or has a
 * {@link #fallback()}; {@link LockLostException} when the lock was lost while the method ran;
 * {@link LockBackendException} when the store cannot be asked; and {@link LockException} with another
 * {@link LockErrorCode} for a key outside {@link LockLimits} or an interrupt.
 *
 * <p>The properties {@code syncguard.locks.<name>.*} replace attributes. The properties {@code syncguard.*} are the
 * defaults.
 *
 * <p>A mistake in it fails the start of the application, with a message that names class, method and attribute.
 * {@code ttl}, {@code waitTime}, {@code holdAtLeast} and {@code holdAtMost} are texts such as {@code 30s},
 * {@code 500ms} or {@code PT1M} (a number below 1000 needs a unit); these, {@code permits}, {@code name} and
 * {@code lockManager} may contain <code>${placeholders}</code>.
 * A constant that looks like a template and would stay text, such as <code>#{...}</code> in a name, is such a mistake.
 */
@Documented
@Retention(RetentionPolicy.RUNTIME)
@Target({ElementType.METHOD, ElementType.TYPE, ElementType.ANNOTATION_TYPE})
public @interface DistributedLock {

    /** The same as {@link #name()}: {@code @DistributedLock("daily-report")}. */
    String value() default "";

    /**
     * Constant first part of the key, and the name in meters. This or {@link #key()} is required; with both, the key is
     * {@code name:key}, as in {@link LockRequest#of(String, String)}. Names and keys have at most
     * {@value LockLimits#MAX_KEY_BYTES} UTF-8 bytes together.
     */
    String name() default "";

    /**
     * SpEL for the key, over the arguments ({@code #orderId}, {@code #p0}), {@code #root.method}, {@code #root.args},
     * {@code #root.target}, {@code #root.targetClass} and beans ({@code @tenant.id}); a constant stands in quotes.
     * {@code null}, blank, or a text that is no function of the data, such as {@code shop.Order@49cb5030}, is refused
     * at the call. A collection or array locks all its keys, at most {@code syncguard.aop.max-keys}, in a fixed order
     * and within one wait time, or none. An empty one is refused; {@link #condition()} lets such a call run without
     * a lock.
     */
    String key() default "";

    /**
     * How long the lock lives without a heartbeat: whole milliseconds from 1 ms to 365 days; default
     * {@code syncguard.ttl}.
     */
    String ttl() default "";

    /**
     * How long to wait for the lock, up to 365 days; {@code 0s} is one attempt, which does not pass waiting callers.
     * Default {@code syncguard.wait-time}, with {@link OnContention#SKIP} one attempt.
     */
    String waitTime() default "";

    /** Whether the lock excludes all others of the key, or only exclusive ones. */
    LockMode mode() default LockMode.EXCLUSIVE;

    /**
     * At most how many callers hold the lock at the same time, over all processes: {@code "5"}, from 1 to
     * {@value LockLimits#MAX_PERMITS}. The lock is {@link LockMode#SHARED} then, whatever {@link #mode()} says: an
     * exclusive one of the same key waits for all of them. Each call is judged by its own number.
     */
    String permits() default "";

    /** Whether the lease is extended every third of the ttl while the method runs. */
    boolean heartbeat() default true;

    /** What happens when somebody else holds the key to the end of the wait time. */
    OnContention onContention() default OnContention.THROW;

    /**
     * A method of the same class, or of its interfaces, that runs instead, without the lock, when somebody else holds
     * the key to the end of the wait time. It has the parameters of this method, and may have a {@link
     * LockNotAcquiredException}, or a superclass of it, after them. Its annotations and those of its class apply, such
     * as {@code @Transactional}, except for a {@code @DistributedLock} of the class.
     * Its result is that of the call. Not together with {@link OnContention#SKIP}.
     */
    String fallback() default "";

    /** How the method learns that its lock was lost while it ran. */
    OnLost onLost() default OnLost.INTERRUPT;

    /**
     * The key stays locked for at least this long after the grant, even if the work ends earlier: up to 365 days;
     * default zero. No thread waits for that. For scheduled jobs on machines whose clocks differ.
     */
    String holdAtLeast() default "";

    /**
     * How long after the grant the lock is lost, however long the method runs: against methods that hang, whose lock
     * would be extended for ever. From 1 ms to 365 days, and at least {@link #holdAtLeast()}. Default: no limit.
     */
    String holdAtMost() default "";

    /** Whether transactions of the method commit only while the lock is held. */
    CommitGuard commitGuard() default CommitGuard.DEFAULT;

    /** SpEL like {@link #key()}: locks only if it is {@code true}. */
    String condition() default "";

    /**
     * SpEL like {@link #key()}: the resource in the database whose writes the lock protects. The method has to be
     * transactional. In its transaction, before its body, a {@code FenceGuard} checks the fence of the lock, so that
     * the work of a holder that lost its lock is refused with {@link StaleFenceException}. With a {@link #name()} the
     * resource is {@code name:fencedResource}. Each of several keys has its own resource, in the same order.
     *
     * <p>It needs {@code syncguard.fencing.enabled}, and is not for {@link LockMode#SHARED} or {@link #permits()},
     * whose holders have different fences at the same time.
     */
    String fencedResource() default "";

    /**
     * The {@link LockManager} that grants the lock, by its qualifier or the name of its bean: in an application with
     * two backends, {@code postgres} or {@code redis}. Default: the primary one.
     */
    String lockManager() default "";
}
