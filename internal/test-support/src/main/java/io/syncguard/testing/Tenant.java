package io.syncguard.testing;

import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;

/** The tenant for which a thread works, in a thread local like those of applications. */
public final class Tenant {

    private static final ThreadLocal<@Nullable String> CURRENT = new ThreadLocal<>();

    private Tenant() {}

    public static @Nullable String current() {
        return CURRENT.get();
    }

    public static void set(@Nullable String tenant) {
        if (tenant == null) {
            CURRENT.remove();
        } else {
            CURRENT.set(tenant);
        }
    }

    public static <T extends @Nullable Object> T as(String tenant, Callable<T> work) throws Exception {
        String before = current();
        set(tenant);
        try {
            return work.call();
        } finally {
            set(before);
        }
    }
}
