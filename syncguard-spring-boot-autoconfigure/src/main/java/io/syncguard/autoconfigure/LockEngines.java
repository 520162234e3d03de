package io.syncguard.autoconfigure;

import io.syncguard.core.LockEngine;
import java.util.AbstractMap;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import org.springframework.beans.factory.ListableBeanFactory;

/**
 * The engines of an application by the names of their managers, for operators: the primary one first, then the engines
 * of tenants, which may change at any time.
 */
final class LockEngines extends AbstractMap<String, LockEngine> {

    private final Map<String, LockEngine> beans;
    private final Map<String, LockEngine> tenants;

    private LockEngines(Map<String, LockEngine> beans, Map<String, LockEngine> tenants) {
        this.beans = beans;
        this.tenants = tenants;
    }

    /** Returns the engines of this context, without those of its parents. */
    static Map<String, LockEngine> of(ListableBeanFactory beans) {
        Map<String, LockEngine> found = beans.getBeansOfType(LockEngine.class);
        Map<String, LockEngine> engines = new LinkedHashMap<>();
        found.forEach((bean, engine) -> {
            if (!bean.equals(SyncGuardAutoConfiguration.SECOND_MANAGER)) {
                engines.put(nameOf(bean, engine, found), engine);
            }
        });
        LockEngine second = found.get(SyncGuardAutoConfiguration.SECOND_MANAGER);
        if (second != null) {
            engines.put(nameOf(SyncGuardAutoConfiguration.SECOND_MANAGER, second, found), second);
        }
        Map<String, LockEngine> tenants = beans.getBeansOfType(TenantEngines.class).values().stream()
                .findFirst()
                .map(TenantEngines::engines)
                .orElse(Map.of());
        return new LockEngines(engines, tenants);
    }

    /** The name that people gave, or that of the store for a bean of the library. */
    private static String nameOf(String bean, LockEngine engine, Map<String, LockEngine> all) {
        boolean isOfLibrary = bean.equals(SyncGuardAutoConfiguration.MANAGER)
                || bean.equals(SyncGuardAutoConfiguration.SECOND_MANAGER);
        String store = engine.admin().backend().name();
        return isOfLibrary && !all.containsKey(store) ? store : bean;
    }

    /** Returns the current engines. */
    @Override
    public Set<Entry<String, LockEngine>> entrySet() {
        Map<String, LockEngine> all = new LinkedHashMap<>(beans);
        all.putAll(new TreeMap<>(tenants));
        return Collections.unmodifiableMap(all).entrySet();
    }
}
