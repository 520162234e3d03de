package io.syncguard.verification.bugs;

import io.syncguard.CommitGuard;
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
import java.util.List;
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

/** A bug that lock services have had, other ones or earlier versions of ours. A process of a run is told its name. */
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

    /** Puts something around a backend. */
    @FunctionalInterface
    private interface Decorator {

        Decorator NONE = (right, application) -> right;

        LockBackend around(LockBackend right, Supplier<DataSource> application);

        static Decorator of(UnaryOperator<LockBackend> decorator) {
            return (right, application) -> decorator.apply(right);
        }
    }

    /**
     * Where a bug is.
     *
     * @param store beneath the recorder of the history: its answers are recorded
     * @param engine above the recorder: what really happened is recorded
     * @param script whether it has whole functions or triggers, in place of those of the schema or beside them
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

    /** In a few words. */
    public String what() {
        return what;
    }

    /** For the arguments of a process. */
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

    /** Runs its script where that of the schema has run, with the default names. */
    public void install(DataSource dataSource) {
        if (!place.script) {
            return;
        }
        String script = read("/planted/" + this + ".sql");
        for (Map.Entry<String, String> each : new PostgresScript(PostgresTables.DEFAULT, FenceSource.COUNTER)
                .placeholders()
                .entrySet()) {
            script = script.replace("${" + each.getKey() + "}", each.getValue());
        }
        new JdbcTemplate(dataSource).execute(script);
    }

    /** The backend with it, where no history is recorded. */
    public LockBackend around(LockBackend right) {
        return place.store.around(right, () -> {
            throw new IllegalStateException("No application has its transactions here");
        });
    }

    /** The backends of an application with it, in this order: those that are recorded, and those of the engine. */
    public List<BeanPostProcessor> around(BeanPostProcessor recorder, BeanFactory beans) {
        Supplier<DataSource> application = () -> beans.getBean(DataSource.class);
        return List.of(processor(place.store, application), recorder, processor(place.engine, application));
    }

    /** The guard of an application's commits with it. One of the bugs is here, and nowhere else. */
    public TransactionBoundary transactions(PostgresLockBackend backend) {
        return this == CHECK_WITHOUT_ROW_LOCK
                ? new SpringTransactions(backend.name(), null, CommitGuard.AUTO)
                : new SpringTransactions(backend.name(), backend.pins(), CommitGuard.REQUIRED);
    }

    private static BeanPostProcessor processor(Decorator decorator, Supplier<DataSource> application) {
        return new BeanPostProcessor() {
            @Override
            public Object postProcessAfterInitialization(Object bean, String name) {
                return bean instanceof LockBackend backend ? decorator.around(backend, application) : bean;
            }
        };
    }

    private static String read(String resource) {
        try (InputStream file = Bug.class.getResourceAsStream(resource)) {
            return new String(Objects.requireNonNull(file, resource).readAllBytes(), StandardCharsets.UTF_8);
        } catch (IOException ex) {
            throw new UncheckedIOException(ex);
        }
    }

    /** As the command line has it. */
    @Override
    public String toString() {
        return name().toLowerCase(Locale.ROOT).replace('_', '-');
    }
}
