package io.syncguard.verification.matrix;

import io.syncguard.verification.matrix.Call.Kind;
import io.syncguard.verification.recording.StressStore;
import java.io.IOException;
import java.util.List;
import java.util.Map;
import org.springframework.jdbc.core.JdbcTemplate;

/** The servers of a run, and how the processes reach them. */
interface Site extends ServedRule.Recovery, AutoCloseable {

    /** The network timeout of the locks in milliseconds. */
    long NETWORK_TIMEOUT_MILLIS = 2000;

    /** The kinds of calls when the locks are in the database of the applications. */
    List<Kind> WITH_ALL_GUARDS = List.of(
            Kind.GUARDED,
            Kind.FENCED,
            Kind.PLAIN,
            Kind.INSIDE,
            Kind.GUARDED,
            Kind.READ,
            Kind.TRY,
            Kind.PAIR,
            Kind.PERMIT);

    /** The kinds of calls when the locks are in another store. */
    List<Kind> WITH_FENCE_GUARD =
            List.of(Kind.FENCED, Kind.PLAIN, Kind.FENCED, Kind.READ, Kind.TRY, Kind.PAIR, Kind.PERMIT);

    /** A description for the report: server, version, relevant settings, and a pooler in between. */
    String description();

    /** The properties with which this process reaches the servers. */
    List<String> properties(int process);

    /** Directories before the class path of the processes; may be empty. */
    default String classPath() {
        return "";
    }

    /** The kinds of calls of the clients. They depend on the guards that work on this site. */
    List<Kind> kinds();

    /** The database of the applications, on a direct connection. */
    JdbcTemplate applications();

    /** The stored locks, on a direct connection. */
    StressStore store();

    /** The current sizes of the locks by name with unit; empty if this site does not measure them. */
    default Map<String, Double> sizes() {
        return Map.of();
    }

    /** The number of connections that the processes still have. */
    long connections();

    @Override
    void close() throws IOException;
}
