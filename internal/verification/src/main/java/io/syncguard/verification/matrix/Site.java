package io.syncguard.verification.matrix;

import io.syncguard.verification.matrix.Call.Kind;
import io.syncguard.verification.recording.StressStore;
import java.io.IOException;
import java.util.List;
import java.util.Map;
import org.springframework.jdbc.core.JdbcTemplate;

/** The servers of a run, and how the processes reach them. */
interface Site extends ServedRule.Recovery, AutoCloseable {

    /** Of the locks, in milliseconds. */
    long NETWORK_TIMEOUT_MILLIS = 2000;

    /** Where the locks are in the database of the applications. */
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

    /** Where they are in another store. */
    List<Kind> WITH_FENCE_GUARD =
            List.of(Kind.FENCED, Kind.PLAIN, Kind.FENCED, Kind.READ, Kind.TRY, Kind.PAIR, Kind.PERMIT);

    /** What it is, for the report: server and version, its settings that matter, what is in between. */
    String description();

    /** The properties with which this process reaches the servers. */
    List<String> properties(int process);

    /** Directories before the class path of the processes; may be empty. */
    default String classPath() {
        return "";
    }

    /** What the clients do there: the guards that work on it. */
    List<Kind> kinds();

    /** The database of the applications, without a link. */
    JdbcTemplate applications();

    /** The stored locks, without a link. */
    StressStore store();

    /** How much the locks take there now, each with its unit; empty if that is not measured on this site. */
    default Map<String, Double> sizes() {
        return Map.of();
    }

    /** The number of connections that the processes still have. */
    long connections();

    @Override
    void close() throws IOException;
}
