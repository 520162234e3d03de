package io.syncguard.transaction;

import java.util.List;
import java.util.stream.Stream;
import org.springframework.transaction.support.TransactionSynchronizationManager;
import org.springframework.util.ClassUtils;

/** The persistence contexts of JPA, Hibernate and MyBatis that are bound to threads, without a dependency on any. */
final class PersistenceContexts {

    /** The holder of Hibernate sessions is a subclass of the first. */
    private static final List<Class<?>> HOLDERS = Stream.of(
                    "org.springframework.orm.jpa.EntityManagerHolder", "org.mybatis.spring.SqlSessionHolder")
            .flatMap(PersistenceContexts::holder)
            .toList();

    private PersistenceContexts() {}

    /** Whether the running thread has a persistence context, such as that of its web request or of its transaction. */
    static boolean isOpen() {
        return !HOLDERS.isEmpty()
                && TransactionSynchronizationManager.getResourceMap().values().stream()
                        .anyMatch(resource -> HOLDERS.stream().anyMatch(holder -> holder.isInstance(resource)));
    }

    private static Stream<Class<?>> holder(String name) {
        ClassLoader classLoader = PersistenceContexts.class.getClassLoader();
        return ClassUtils.isPresent(name, classLoader)
                ? Stream.of(ClassUtils.resolveClassName(name, classLoader))
                : Stream.empty();
    }
}
