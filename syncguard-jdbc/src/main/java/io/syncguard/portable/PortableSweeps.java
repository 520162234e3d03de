package io.syncguard.portable;

import io.syncguard.jdbc.JdbcConnections;
import io.syncguard.jdbc.Sweeper;
import io.syncguard.rules.KeyRules;
import java.util.List;
import java.util.function.BooleanSupplier;

/** Deletes leases that lapsed two tolerances ago, and queue entries of dead waiters. The rows of keys remain. */
final class PortableSweeps implements Sweeper.Sweeps {

    private final LeaseRows rows;
    private final KeySteps steps;
    private final KeyRules rules;
    private final JdbcConnections connections;

    PortableSweeps(LeaseRows rows, KeySteps steps, KeyRules rules, JdbcConnections connections) {
        this.rows = rows;
        this.steps = steps;
        this.rules = rules;
        this.connections = connections;
    }

    /** Leaves out keys that others have locked: they are swept in the next round. */
    @Override
    public void sweep(List<String> keys) {
        steps.run(
                "sweeping lapsed locks",
                connections,
                connections.timeout(),
                keys,
                KeySteps.Locking.SKIPPING,
                locked -> {
                    keys.stream()
                            .filter(locked::has)
                            .forEach(key -> locked.done(rules.sweep(locked.of(key), locked.now())));
                    return keys;
                });
    }

    @Override
    public void sweepTables(BooleanSupplier stopped) {
        String last = "";
        List<String> keys;
        do {
            keys = rows.lapsed(last, Sweeper.BATCH);
            if (!keys.isEmpty()) {
                sweep(keys);
                last = keys.get(keys.size() - 1);
            }
        } while (keys.size() == Sweeper.BATCH && !stopped.getAsBoolean());
    }
}
