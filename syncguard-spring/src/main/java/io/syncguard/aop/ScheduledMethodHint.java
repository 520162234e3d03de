package io.syncguard.aop;

import io.syncguard.DistributedLock;
import io.syncguard.LockMode;
import io.syncguard.MessageText;
import io.syncguard.leader.LeaderOnly;
import io.syncguard.scheduling.ScheduledLock;
import java.lang.reflect.AnnotatedElement;
import java.lang.reflect.Method;
import java.time.Duration;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.regex.Pattern;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;
import org.springframework.beans.factory.BeanFactoryUtils;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.core.annotation.AnnotatedElementUtils;
import org.springframework.core.annotation.MergedAnnotations;
import org.springframework.core.annotation.MergedAnnotations.SearchStrategy;
import org.springframework.scheduling.annotation.Scheduled;
import org.springframework.scheduling.annotation.ScheduledAnnotationBeanPostProcessor;
import org.springframework.scheduling.annotation.Schedules;

/**
 * Warns at the start of locked scheduled methods that each instance runs, and of those whose key is still taken at
 * their next run. Thread-safe.
 */
final class ScheduledMethodHint {

    private static final Log log = LogFactory.getLog(ScheduledMethodHint.class);

    private static final Pattern NUMBER = Pattern.compile("\\d+");

    private final ConfigurableListableBeanFactory beans;
    private final Set<String> reported = ConcurrentHashMap.newKeySet();

    ScheduledMethodHint(ConfigurableListableBeanFactory beans) {
        this.beans = beans;
    }

    /** Returns the parsed annotation, after a warning if there is reason for one. */
    LockedMethod checked(DistributedLock annotation, LockedMethod locked, Method method, Class<?> targetClass) {
        if (locked.defaults().mode() == LockMode.EXCLUSIVE && !isForLeader(method) && !isForLeader(targetClass)) {
            Set<Scheduled> schedules = schedulesOf(method);
            String hint = schedules.isEmpty() || hasImmediateFallback(locked)
                    ? null
                    : locked.skips() ? hintOfInterval(annotation, locked, schedules) : hintOfWaiting(locked);
            if (hint != null && reported.add(locked.description())) {
                log.warn("@Scheduled and @DistributedLock on " + locked.description() + ": " + hint);
            }
        }
        return locked;
    }

    private static String hintOfWaiting(LockedMethod locked) {
        return "each instance runs it, "
                + (locked.waitTime().isZero()
                        ? "or fails with a LockNotAcquiredException while another one does"
                        : "one after another")
                + ". If one of them has to run it, write @" + ScheduledLock.class.getSimpleName() + "(name = \""
                + (locked.prefix().isEmpty() ? "..." : locked.prefix()) + "\", holdAtLeast = \"...\") instead, with a"
                + " time longer than the clocks differ and shorter than the interval, or add"
                + " onContention = OnContention.SKIP";
    }

    /**
     * A cron expression fires at the same moment on all instances. An interval begins with the start of each instance.
     */
    private @Nullable String hintOfInterval(DistributedLock annotation, LockedMethod locked, Set<Scheduled> schedules) {
        Duration atLeast = locked.defaults().holdAtLeast();
        if (!atLeast.isZero()) {
            return schedules.stream()
                    .map(this::intervalOf)
                    .filter(interval -> interval != null && atLeast.compareTo(interval) >= 0)
                    .map(interval -> "it runs every " + MessageText.of(interval) + ", but holdAtLeast is "
                            + MessageText.of(atLeast)
                            + ", so runs are left out. Make holdAtLeast shorter than the interval")
                    .findFirst()
                    .orElse(null);
        }
        boolean meant = !annotation.holdAtLeast().isEmpty();
        return meant || schedules.stream().allMatch(schedule -> textOf(schedule).isEmpty())
                ? null
                : "the interval begins at another moment on each instance, so each of them runs a short job in each"
                        + " interval. If one of them has to run it, set holdAtLeast to a time a little shorter than the"
                        + " interval; if each may, to 0s";
    }

    private @Nullable Duration intervalOf(Scheduled schedule) {
        try {
            // Only fixedRate: with fixedDelay, the interval is longer by the run time of the method.
            String text = beans.resolveEmbeddedValue(
                    schedule.fixedRate() > 0 ? String.valueOf(schedule.fixedRate()) : schedule.fixedRateString());
            if (text == null || text.isEmpty()) {
                return null;
            }
            Duration interval = NUMBER.matcher(text).matches()
                    ? Duration.of(Long.parseLong(text), schedule.timeUnit().toChronoUnit())
                    : DurationText.parse(text);
            return interval.isZero() || interval.isNegative() ? null : interval;
        } catch (RuntimeException ex) {
            log.debug("Spring reports an interval that cannot be read", ex);
            return null;
        }
    }

    /** The interval as it is written; empty for a cron expression. */
    private static String textOf(Scheduled schedule) {
        long number = Math.max(schedule.fixedRate(), schedule.fixedDelay());
        return number > 0 ? String.valueOf(number) : schedule.fixedRateString() + schedule.fixedDelayString();
    }

    /** Whether a refused instance runs its fallback at once. */
    private static boolean hasImmediateFallback(LockedMethod locked) {
        return locked.fallback() != null && locked.waitTime().isZero();
    }

    /** Returns no schedules if scheduling is not enabled. */
    private Set<Scheduled> schedulesOf(Method method) {
        Set<Scheduled> schedules =
                AnnotatedElementUtils.getMergedRepeatableAnnotations(method, Scheduled.class, Schedules.class);
        return schedules.isEmpty()
                        || BeanFactoryUtils.beanNamesForTypeIncludingAncestors(
                                                beans, ScheduledAnnotationBeanPostProcessor.class, true, false)
                                        .length
                                == 0
                ? Set.of()
                : schedules;
    }

    private static boolean isForLeader(AnnotatedElement element) {
        return MergedAnnotations.from(element, SearchStrategy.TYPE_HIERARCHY).isPresent(LeaderOnly.class);
    }
}
