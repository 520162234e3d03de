package io.syncguard.autoconfigure;

import io.syncguard.core.LockEngine;
import io.syncguard.core.ProcessStatus;
import java.util.Map;
import java.util.TreeMap;
import org.springframework.boot.actuate.info.Info;
import org.springframework.boot.actuate.info.InfoContributor;

/** Shows in {@code /actuator/info} where the locks are stored and as whom, without asking a server. */
final class StoreInfo implements InfoContributor {

    private final Map<String, LockEngine> managers;

    /** @param managers by the names of their beans */
    StoreInfo(Map<String, LockEngine> managers) {
        this.managers = managers;
    }

    @Override
    public void contribute(Info.Builder builder) {
        Map<String, Object> stores = new TreeMap<>();
        managers.forEach((name, engine) -> {
            ProcessStatus process = engine.diagnostics().process();
            stores.put(name, Map.of("backend", process.backend(), "owner", process.owner()));
        });
        builder.withDetail("locks", stores);
    }
}
