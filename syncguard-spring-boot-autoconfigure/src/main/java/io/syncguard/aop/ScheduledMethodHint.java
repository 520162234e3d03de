package io.syncguard.aop;

import io.syncguard.LockMode;
import io.syncguard.ScheduledLock;
import java.lang.reflect.AnnotatedElement;
import java.lang.reflect.Method;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.springframework.beans.factory.BeanFactoryUtils;
import org.springframework.beans.factory.ListableBeanFactory;
import org.springframework.core.annotation.AnnotatedElementUtils;
import org.springframework.core.annotation.MergedAnnotations;
import org.springframework.core.annotation.MergedAnnotations.SearchStrategy;
import org.springframework.scheduling.annotation.Scheduled;
import org.springframework.scheduling.annotation.ScheduledAnnotationBeanPostProcessor;
import org.springframework.scheduling.annotation.Schedules;

/**
 * Names at the start the scheduled methods that each instance runs although they are locked: the lock makes the
 * instances wait for each other, and skips none. Threads may share it.
 */
final class ScheduledMethodHint {

    private static final Log log = LogFactory.getLog(ScheduledMethodHint.class);

    /** In a package that comes after this one. */
    private static final String LEADER_ONLY = "io.syncguard.leader.LeaderOnly";

    private final ListableBeanFactory beans;
    private final Set<String> named = ConcurrentHashMap.newKeySet();

    ScheduledMethodHint(ListableBeanFactory beans) {
        this.beans = beans;
    }

    /** Returns the parsed annotation. */
    LockedMethod checked(LockedMethod locked, Method method, Class<?> targetClass) {
        if (!isForOne(locked) && isScheduled(method) && !isForLeader(method) && !isForLeader(targetClass)) {
            name(locked);
        }
        return locked;
    }

    private void name(LockedMethod locked) {
        if (named.add(locked.description())) {
            log.warn("@Scheduled and @DistributedLock on " + locked.description() + ": each instance runs it, "
                    + (locked.waitTime().isZero()
                            ? "or fails with a LockNotAcquiredException while another one does"
                            : "one after another")
                    + ". If one of them has to run it, write @" + ScheduledLock.class.getSimpleName() + "(name = \""
                    + (locked.prefix().isEmpty() ? "..." : locked.prefix())
                    + "\", holdAtLeast = \"1m\") instead, or add onContention = OnContention.SKIP");
        }
    }

    /** Whether a call is left out if another instance runs, or the lock is for another purpose. */
    private static boolean isForOne(LockedMethod locked) {
        return locked.skips()
                || locked.fallback() != null && locked.waitTime().isZero()
                || locked.defaults().mode() == LockMode.SHARED;
    }

    private boolean isScheduled(Method method) {
        return !AnnotatedElementUtils.getMergedRepeatableAnnotations(method, Scheduled.class, Schedules.class)
                        .isEmpty()
                && BeanFactoryUtils.beanNamesForTypeIncludingAncestors(
                                        beans, ScheduledAnnotationBeanPostProcessor.class, true, false)
                                .length
                        > 0;
    }

    private static boolean isForLeader(AnnotatedElement element) {
        return MergedAnnotations.from(element, SearchStrategy.TYPE_HIERARCHY).isPresent(LEADER_ONLY);
    }
}
