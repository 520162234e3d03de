package io.syncguard.verification.bugs;

import io.syncguard.CommitGuard;
import io.syncguard.batching.BatchingBackend;
import io.syncguard.concurrent.Time;
import io.syncguard.core.TransactionBoundary;
import io.syncguard.postgres.PostgresLockBackend;
import io.syncguard.postgres.PostgresScript;
import io.syncguard.postgres.PostgresTables;
import io.syncguard.spi.FenceSource;
import io.syncguard.spi.LockBackend;
import io.syncguard.transaction.SpringTransactions;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.function.Supplier;
import java.util.function.UnaryOperator;
import javax.sql.DataSource;
import org.springframework.beans.factory.BeanFactory;
import org.springframework.beans.factory.config.BeanPostProcessor;
import org.springframework.core.env.Environment;
import org.springframework.jdbc.core.JdbcTemplate;

/** A bug that other lock services or earlier versions of this one have had. A process gets its name as a property. */
public enum Bug {
    NONE("no bug", Place.NOWHERE),
    CHECK_WITHOUT_ROW_LOCK("the guard of a commit locks no row", Place.NOWHERE),
    RELEASE_BY_KEY("a release finds its lease by the key", Place.store(StoreBugs::releaseByKey)),
    HEARTBEAT_BY_KEY("a heartbeat finds its lease by the key", Place.store(StoreBugs::heartbeatByKey)),
    DEADLINE_FROM_REPLY("the deadline of a grant counts from the reply", Place.engine(EngineBugs::deadlineFromReply)),
    START_OF_TRANSACTION("now() is the clock of a lease", Place.SCRIPT),
    COUNTER_DELETED("the counter of the fences is deleted with the lease", Place.SCRIPT),
    ASYNCHRONOUS_ACQUIRE("a grant is answered before it is on the disk", Place.SCRIPT),
    NO_SAFETY_POLL("waiters rely on wake-ups alone", Place.engine(EngineBugs::noSafetyPoll)),
    IN_CALLERS_TRANSACTION(
            "an acquire joins the caller's transaction",
            new Place(StoreBugs::inCallersTransaction, Decorator.NONE, false)),
    OWN_GRANT_MISSED("a repeated acquire does not look for its own grant", Place.store(StoreBugs::ownGrantMissed)),
    LOST_ANSWER_NOT_SENT("an acquire without an answer is not released", Place.engine(EngineBugs::lostAnswerNotSent)),
    LEAVER_WAKES_NOBODY("a waiter that leaves wakes nobody behind it", Place.SCRIPT),
    LAPSED_EXTENDED("a heartbeat takes a lapsed lease for extended", Place.store(StoreBugs::lapsedExtended)),
    WAKE_UP_IS_GRANT("a wake-up is taken for a grant", Place.store(StoreBugs::wakeUpIsGrant)),
    WAKE_UPS_LOST("wake-ups do not reach the waiters", Place.store(StoreBugs::wakeUpsLost)),
    LARGER_NUMBER_PASSES("a request passes waiters with fewer permits", Place.SCRIPT),
    GRANT_FORGOTTEN_IN_BATCH("a batch does not count the permits that it grants", Place.SCRIPT),
    ROOM_WAKES_NOBODY("a grant that leaves a permit wakes nobody", Place.SCRIPT);

    private static final String PROPERTY = "planted.bug";

    private final String what;
    private final Place place;

    Bug(String what, Place place) {
        this.what = what;
        this.place = place;
    }

    /** Wraps a backend. */
    @FunctionalInterface
    private interface Decorator {

        Decorator NONE = (right, application) -> right;

        LockBackend around(LockBackend right, Supplier<DataSource> application);

        static Decorator of(UnaryOperator<LockBackend> decorator) {
            return (right, application) -> decorator.apply(right);
        }
    }

    /**
     * The part of the system that has the bug.
     *
     * @param store wraps the backend beneath the recorder of the history, which records the wrong answers
     * @param engine wraps the backend above the recorder, which records the true answers
     * @param script whether a SQL script replaces functions of the schema or adds functions and triggers
     */
    private record Place(Decorator store, Decorator engine, boolean script) {

        private static final Place NOWHERE = new Place(Decorator.NONE, Decorator.NONE, false);
        private static final Place SCRIPT = new Place(Decorator.NONE, Decorator.NONE, true);

        private static Place store(UnaryOperator<LockBackend> decorator) {
            return new Place(Decorator.of(decorator), Decorator.NONE, false);
        }

        private static Place engine(UnaryOperator<LockBackend> decorator) {
            return new Place(Decorator.NONE, Decorator.of(decorator), false);
        }
    }

    /** A short description. */
    public String what() {
        return what;
    }

    /** The property that gives the bug to a process. */
    public String property() {
        return PROPERTY + "=" + this;
    }

    /** The bug that the property names, or {@link #NONE} without the property. */
    public static Bug of(Environment environment) {
        return named(environment.getProperty(PROPERTY, NONE.toString()));
    }

    /** @throws IllegalArgumentException when there is no such bug */
    public static Bug named(String name) {
        return Arrays.stream(values())
                .filter(bug -> bug.toString().equals(name))
                .findFirst()
                .orElseThrow(() -> new IllegalArgumentException(
                        "No bug is called " + name + ". There are " + Arrays.toString(values())));
    }

    /** Runs the script of the bug in a database that has the schema with the default names. */
    public void install(DataSource dataSource) {
        install(dataSource, PostgresTables.DEFAULT);
    }

    /** Runs the script of the bug in a database that has the schema with these names. */
    public void install(DataSource dataSource, PostgresTables tables) {
        if (!place.script) {
            return;
        }
        String script = read("/planted/" + this + ".sql");
        for (Map.Entry<String, String> each :
                new PostgresScript(tables, FenceSource.COUNTER).placeholders().entrySet()) {
            script = script.replace("${" + each.getKey() + "}", each.getValue());
        }
        new JdbcTemplate(dataSource).execute(script);
    }

    /** Adds the bug to a backend, in a process that records no history. */
    public LockBackend around(LockBackend right) {
        return place.store.around(right, () -> {
            throw new IllegalStateException("No application has its transactions here");
        });
    }

    /**
     * Adds the bug and the recorder to the backend of an application, in this order: store, recorder, engine. Callers
     * share lists only beneath them, so both see the requests of each caller.
     */
    public BeanPostProcessor around(UnaryOperator<LockBackend> recorder, BeanFactory beans) {
        Supplier<DataSource> application = () -> beans.getBean(DataSource.class);
        return new BeanPostProcessor() {
            @Override
            public Object postProcessAfterInitialization(Object bean, String name) {
                if (!(bean instanceof LockBackend right)) {
                    return bean;
                }
                LockBackend store = place.store.around(BatchingBackend.of(right, Time.SYSTEM), application);
                return place.engine.around(recorder.apply(store), application);
            }
        };
    }

    /** The guard of an application's commits. One bug, which is only here, guards without the row lock. */
    public TransactionBoundary transactions(PostgresLockBackend backend) {
        String name = backend.info().name();
        return this == CHECK_WITHOUT_ROW_LOCK
                ? new SpringTransactions(name, null, CommitGuard.AUTO)
                : new SpringTransactions(name, backend.pins(), CommitGuard.REQUIRED);
    }

    private static String read(String resource) {
        try (InputStream file = Bug.class.getResourceAsStream(resource)) {
            return new String(Objects.requireNonNull(file, resource).readAllBytes(), StandardCharsets.UTF_8);
        } catch (IOException ex) {
            throw new UncheckedIOException(ex);
        }
    }

    /** The name on the command line. */
    @Override
    public String toString() {
        return name().toLowerCase(Locale.ROOT).replace('_', '-');
    }
}
