package io.syncguard.scheduling;

import io.syncguard.DistributedLock;
import io.syncguard.LockLimits;
import io.syncguard.LockManager;
import io.syncguard.OnContention;
import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import org.springframework.core.annotation.AliasFor;

/**
 * Marks a job that each instance schedules and one of them runs. It is a {@link DistributedLock} that skips a run whose
 * key is taken. A run fails with the exceptions of {@link DistributedLock}, except for a key that is taken.
 *
 * <pre>{@code
 * @Scheduled(cron = "0 0 3 * * *")
 * @ScheduledLock(name = "nightly-report", holdAtLeast = "1m", holdAtMost = "2h")
 * public void report() { ... }
 * }</pre>
 *
 * <p>For users of ShedLock: {@code lockAtLeastFor} is {@code holdAtLeast}. {@code lockAtMostFor} is not needed, because
 * the lock lasts as long as the job runs, and ends with its process; {@code holdAtMost} ends a job that hangs.
 */
@Documented
@Retention(RetentionPolicy.RUNTIME)
@Target({ElementType.METHOD, ElementType.ANNOTATION_TYPE})
@DistributedLock(onContention = OnContention.SKIP)
public @interface ScheduledLock {

    /** The same as {@link #name()}: {@code @ScheduledLock("nightly-report")}. */
    @AliasFor(annotation = DistributedLock.class, attribute = "name")
    String value() default "";

    /** The key, the same on all instances: 1 to {@value LockLimits#MAX_KEY_BYTES} UTF-8 bytes. */
    @AliasFor(annotation = DistributedLock.class, attribute = "name")
    String name() default "";

    /**
     * How long the key stays taken after the grant, at least: up to 365 days; default zero. It has to be longer
     * than the clocks of the instances differ, and shorter than the interval. If it is too short, a late instance
     * runs a short job again. If it is too long, runs are left out. With {@code fixedRate} or {@code fixedDelay},
     * each instance starts at another moment, so it has to be a little shorter than the interval; {@code 0s} lets
     * each instance run the job.
     */
    @AliasFor(annotation = DistributedLock.class)
    String holdAtLeast() default "";

    /**
     * How long after the grant the job loses the lock and is interrupted: from 1 ms to 365 days, and at least
     * {@link #holdAtLeast()}. Default: no limit.
     */
    @AliasFor(annotation = DistributedLock.class)
    String holdAtMost() default "";

    /** How long the lock lives after its last heartbeat: 1 ms to 365 days; default {@code syncguard.ttl}. */
    @AliasFor(annotation = DistributedLock.class)
    String ttl() default "";

    /** The {@link LockManager} that grants the lock, as in {@link DistributedLock#lockManager()}. */
    @AliasFor(annotation = DistributedLock.class)
    String lockManager() default "";
}
