package io.syncguard.transaction;

import org.jspecify.annotations.Nullable;
import org.springframework.transaction.support.TransactionSynchronizationManager;
import org.springframework.util.ClassUtils;

/** The persistence contexts of JPA and Hibernate that Spring binds to threads, without a dependency on either. */
final class PersistenceContexts {

    /** The holder of Hibernate sessions is a subclass. */
    private static final @Nullable Class<?> HOLDER = holder();

    private PersistenceContexts() {}

    /** Whether the running thread has a persistence context, such as that of its web request or of its transaction. */
    static boolean isOpen() {
        return HOLDER != null
                && TransactionSynchronizationManager.getResourceMap().values().stream()
                        .anyMatch(HOLDER::isInstance);
    }

    private static @Nullable Class<?> holder() {
        String name = "org.springframework.orm.jpa.EntityManagerHolder";
        ClassLoader classLoader = PersistenceContexts.class.getClassLoader();
        return ClassUtils.isPresent(name, classLoader) ? ClassUtils.resolveClassName(name, classLoader) : null;
    }
}
