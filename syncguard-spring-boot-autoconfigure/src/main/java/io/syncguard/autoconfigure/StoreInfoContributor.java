package io.syncguard.autoconfigure;

import io.syncguard.core.LockEngine;
import io.syncguard.core.ProcessStatus;
import java.util.Map;
import java.util.TreeMap;
import org.springframework.boot.actuate.info.Info;
import org.springframework.boot.actuate.info.InfoContributor;

/** Shows in {@code /actuator/info} where the locks are stored, without asking a server. */
final class StoreInfoContributor implements InfoContributor {

    private final Map<String, LockEngine> managers;

    private final boolean showOwner;

    /**
     * @param managers by the names of their beans
     * @param showOwner whether to show the label of this process
     */
    StoreInfoContributor(Map<String, LockEngine> managers, boolean showOwner) {
        this.managers = managers;
        this.showOwner = showOwner;
    }

    @Override
    public void contribute(Info.Builder builder) {
        Map<String, Object> stores = new TreeMap<>();
        managers.forEach((name, engine) -> {
            ProcessStatus process = engine.diagnostics().process();
            stores.put(
                    name,
                    showOwner
                            ? Map.of("backend", process.backend(), "owner", process.owner())
                            : Map.of("backend", process.backend()));
        });
        builder.withDetail("locks", stores);
    }
}
