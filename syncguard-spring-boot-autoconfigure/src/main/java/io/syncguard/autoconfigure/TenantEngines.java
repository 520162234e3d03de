package io.syncguard.autoconfigure;

import io.syncguard.core.LockEngine;
import java.util.Map;

/** Engines that the application creates and ends while it runs. */
interface TenantEngines {

    /** Returns a live map of all engines by their names. */
    Map<String, LockEngine> engines();
}
