package io.syncguard.autoconfigure;

import io.syncguard.LockListener;
import java.util.Collection;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import org.springframework.beans.factory.ListableBeanFactory;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.SmartInitializingSingleton;

/**
 * The listeners of all engines. Listeners of the library get events from the first lock on, so that the meters are
 * complete. Listeners of the application, which may need locks themselves, get events when all beans exist.
 * Thread-safe.
 */
final class LockListeners implements SmartInitializingSingleton {

    /** Prefix of the names of the library's beans. No application uses it. */
    private static final String LIBRARY = "syncGuard";

    private final ObjectProvider<LockListener> beans;
    private final List<LockListener> all = new CopyOnWriteArrayList<>();

    LockListeners(ObjectProvider<LockListener> beans, ListableBeanFactory factory) {
        this.beans = beans;
        for (String name : factory.getBeanNamesForType(LockListener.class, true, false)) {
            if (name.startsWith(LIBRARY)) {
                all.add(factory.getBean(name, LockListener.class));
            }
        }
    }

    /** Returns the live list, which grows when all beans exist. */
    List<LockListener> all() {
        return all;
    }

    @Override
    public void afterSingletonsInstantiated() {
        Collection<LockListener> known = List.copyOf(all);
        all.addAll(beans.orderedStream()
                .filter(listener -> !known.contains(listener))
                .toList());
    }
}
