package io.syncguard.check;

import io.syncguard.core.ContractStore;
import io.syncguard.spi.FenceSource;
import io.syncguard.verification.stress.StressClient;
import io.syncguard.verification.stress.StressDatabase;
import io.syncguard.verification.stress.StressWorker;
import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.springframework.jdbc.core.JdbcTemplate;

/** Tables on a database. They are also the store of the contract. */
abstract class JdbcArea implements Area, ContractStore {

    private final JdbcServer server;
    private final String name;
    private final String prefix;
    private final StressDatabase data;

    /**
     * @param name of this check, on the server
     * @param prefix the beginning of the names of its other tables
     */
    JdbcArea(JdbcServer server, String name, String prefix) {
        this.server = server;
        this.name = name;
        this.prefix = prefix;
        this.data = new StressDatabase(server.jdbc(), prefix + "data_");
    }

    final String name() {
        return name;
    }

    final JdbcTemplate jdbc() {
        return server.jdbc();
    }

    final JdbcServer server() {
        return server;
    }

    final void createData() {
        data.create();
        jdbc().execute("CREATE TABLE " + prefix + "writes (number BIGINT NOT NULL)");
        jdbc().update("INSERT INTO " + prefix + "writes (number) VALUES (0)");
    }

    /** Removes what was made before this failure. */
    final void closeAfter(RuntimeException failure) {
        try {
            close();
        } catch (RuntimeException ex) {
            failure.addSuppressed(ex);
        }
    }

    final void dropData() {
        data.drop();
        jdbc().execute("DROP TABLE IF EXISTS " + prefix + "writes");
    }

    @Override
    public final StressDatabase data() {
        return data;
    }

    @Override
    public final ContractStore contractStore() {
        return this;
    }

    @Override
    public FenceSource fences() {
        return FenceSource.COUNTER;
    }

    @Override
    public final Map<String, String> properties(@Nullable String address) {
        String url = server.login().url();
        Map<String, String> properties = new LinkedHashMap<>(Map.of(
                "spring.datasource.url",
                address == null ? url : JdbcServer.through(url, address),
                "spring.datasource.hikari.data-source-properties.ApplicationName",
                name,
                StressWorker.DATA,
                prefix + "data_",
                StressClient.COMMITS,
                "true"));
        if (!server.login().user().isEmpty()) {
            properties.put("spring.datasource.username", server.login().user());
        }
        if (!server.login().password().isEmpty()) {
            properties.put("spring.datasource.password", server.login().password());
        }
        addTables(properties);
        return properties;
    }

    /** Adds the settings with the names of the tables. */
    abstract void addTables(Map<String, String> properties);

    @Override
    public final long writesCounted(int writes) {
        String table = prefix + "writes";
        jdbc().update("UPDATE " + table + " SET number = 0");
        for (int i = 0; i < writes; i++) {
            jdbc().update("UPDATE " + table + " SET number = number + 1");
        }
        return server.number("SELECT number FROM " + table);
    }

    @Override
    public final long clockMillis() {
        return server.clockMillis();
    }
}
