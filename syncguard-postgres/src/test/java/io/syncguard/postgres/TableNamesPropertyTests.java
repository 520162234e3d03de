package io.syncguard.postgres;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.catchThrowable;

import io.syncguard.LockErrorCode;
import io.syncguard.LockException;
import io.syncguard.LockSetupException;
import io.syncguard.OneLine;
import io.syncguard.core.Requests;
import io.syncguard.core.StoreCalls;
import io.syncguard.spi.AcquireRequest;
import io.syncguard.spi.AcquireResult;
import io.syncguard.spi.ExtendResult;
import io.syncguard.spi.KeyedLockId;
import io.syncguard.spi.ReleaseResult;
import io.syncguard.testing.Texts;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.stream.Stream;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.Assume;
import net.jqwik.api.Combinators;
import net.jqwik.api.Example;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;
import net.jqwik.api.lifecycle.AfterContainer;
import net.jqwik.api.lifecycle.BeforeContainer;

/** Under any legal names of the tables everything works. Illegal names are refused before there is a connection. */
class TableNamesPropertyTests {

    private static final String LOCK_ID = "the_lock_id_of_a_grant";
    private static final String READER = "the_lock_id_of_another";

    /** Unreserved words of SQL, PL/pgSQL and the script itself. */
    private static final List<String> WORDS = List.of("""
            begin values time Row json strict execute loop set temp only_ new old excluded found free wanted extended outcome
            fence key lock_id l c s w e f q k o p_key v_now queue keys own front answer arrival position unnest PUBLIC syncguard_locks syncguard_fence_counters _ __
            """.split("\\s+"));

    private static CountedPostgres postgres;

    @BeforeContainer
    static void open() {
        postgres = new CountedPostgres();
    }

    @AfterContainer
    static void close() {
        postgres.close();
    }

    /** Creating tables takes time: fewer tries than in the other properties. */
    @Property(tries = 25)
    void locks_work_under_any_legal_names(@ForAll("legalNames") String locks, @ForAll("legalNames") String counters) {
        Assume.that(!mayMeet(locks, counters));

        assertLocksWork(locks, counters);
    }

    @Example
    void locks_work_under_names_that_the_script_uses_itself() {
        assertLocksWork("free", "extended");
        assertLocksWork("Wanted", "free");
        assertLocksWork("extended", "wanted");
    }

    @Property
    void a_name_that_is_not_plain_is_refused_for_either_table_and_every_other_is_not(@ForAll("names") String name) {
        Throwable asLocks = catchThrowable(() -> new PostgresTables(name, "some_other_table"));
        Throwable asCounters = catchThrowable(() -> new PostgresTables("some_other_table", name));

        if (isLegal(name)) {
            assertThat(asLocks).isNull();
            assertThat(asCounters).isNull();
        } else {
            assertRefused(asLocks, "syncguard.postgres.locks-table", "'" + OneLine.of(name) + "'");
            assertRefused(asCounters, "syncguard.postgres.fence-counters-table", "'" + OneLine.of(name) + "'");
        }
    }

    @Property
    void names_that_may_mean_one_table_are_refused_and_others_are_not(
            @ForAll("fewNames") String locks, @ForAll("fewNames") String counters) {
        Throwable failure = catchThrowable(() -> new PostgresTables(locks, counters));

        if (mayMeet(locks, counters)) {
            assertRefused(failure, "syncguard.postgres.fence-counters-table", "locks-table", locks, counters);
        } else {
            assertThat(failure).isNull();
        }
    }

    @Example
    void a_reserved_word_is_refused_before_anything_is_created() {
        for (String word : List.of("user", "LEFT", "order.fences")) {
            postgres.jdbc.execute("DROP SCHEMA IF EXISTS public, \"order\" CASCADE; CREATE SCHEMA public");
            postgres.jdbc.execute("CREATE SCHEMA \"order\"");
            PostgresTables tables = word.contains(".")
                    ? new PostgresTables("some_other_table", word)
                    : new PostgresTables(word, "some_other_table");

            assertThatExceptionOfType(LockSetupException.class)
                    .isThrownBy(() -> postgres.initialize(tables))
                    .withMessageContainingAll("syncguard.postgres.locks-table", "syntax error", "no reserved word")
                    .satisfies(ex -> assertThat(ex.code()).isEqualTo(LockErrorCode.INVALID_ARGUMENT));
            assertThat(
                            postgres.jdbc.queryForList(
                                    "SELECT relname FROM pg_class WHERE relnamespace::regnamespace::text IN ('public', '\"order\"')"))
                    .isEmpty();
        }
    }

    @Example
    void the_schema_of_the_locks_may_have_a_reserved_word_as_its_name() {
        postgres.jdbc.execute("DROP SCHEMA IF EXISTS \"order\" CASCADE; CREATE SCHEMA \"order\"");
        PostgresTables tables = new PostgresTables("Order.locks", "some_other_table");
        postgres.newSessions();
        postgres.initialize(tables);

        assertThat(fenceOf(postgres.backend(tables).acquire(request()))).isEqualTo(1);
    }

    @Provide
    Arbitrary<String> legalNames() {
        Arbitrary<String> letters = Arbitraries.strings()
                .withChars("abcxyzABCXYZ_0189")
                .ofMinLength(1)
                .ofMaxLength(48)
                .filter(TableNamesPropertyTests::isLegal);
        Arbitrary<String> longest = letters.map(text -> (text + "_".repeat(48)).substring(0, 48));
        Arbitrary<String> table = Arbitraries.oneOf(letters, longest, Arbitraries.of(WORDS));
        return Combinators.combine(Arbitraries.of("", "", "", "public.", "shop.", "SHOP.", "values."), table)
                .as(String::concat);
    }

    /** Legal ones, those that nearly are, and any other text. */
    @Provide
    Arbitrary<String> names() {
        Arbitrary<String> part = Arbitraries.of(
                "pg_locks",
                "PG_x",
                "pg_temp",
                "pgbouncer",
                "users",
                "1a",
                "a$b",
                "a-b",
                "a b",
                "h\u00f6chst",
                "\u212a",
                "\u017f",
                "\"a\"",
                "a\n",
                "",
                " a",
                "a'",
                "a;",
                "a\u0000",
                "x".repeat(49));
        Arbitrary<String> withPart = Combinators.combine(
                        Arbitraries.of("", "", "", "shop.", "a.b.", "."), part, Arbitraries.of("", "", "", ".t", "."))
                .as((start, middle, end) -> start + middle + end);
        return Arbitraries.oneOf(legalNames(), withPart, withPart, new Texts.Any().get());
    }

    @Provide
    Arbitrary<String> fewNames() {
        return Combinators.combine(
                        Arbitraries.of("", "shop.", "SHOP.", "a."),
                        Arbitraries.of("t", "T", "shop", "a", "a_t", "t_shared", "A_Waiters"))
                .as(String::concat);
    }

    private static boolean isLegal(String name) {
        String[] parts = name.split("\\.", -1);
        return parts.length <= 2 && Arrays.stream(parts).allMatch(TableNamesPropertyTests::isPlain);
    }

    private static boolean isPlain(String part) {
        return part.length() >= 1
                && part.length() <= 48
                && part.chars()
                        .allMatch(c -> c >= 'A' && c <= 'Z' || c >= 'a' && c <= 'z' || c >= '0' && c <= '9' || c == '_')
                && !Character.isDigit(part.charAt(0))
                && !part.toLowerCase(Locale.ROOT).startsWith("pg_");
    }

    /** Counters may be neither the table of the locks nor one of the two that are named after it. */
    private static boolean mayMeet(String locks, String counters) {
        return Stream.of("", "_shared", "_waiters").anyMatch(suffix -> mayBeOne(locks + suffix, counters));
    }

    /** Names that are equal except for case, of which both or only one have a schema. */
    private static boolean mayBeOne(String name, String other) {
        String[] one = name.toLowerCase(Locale.ROOT).split("\\.");
        String[] two = other.toLowerCase(Locale.ROOT).split("\\.");
        return one[one.length - 1].equals(two[two.length - 1])
                && (one.length == 1 || two.length == 1 || one[0].equals(two[0]));
    }

    private static void assertLocksWork(String locks, String counters) {
        postgres.jdbc.execute("DROP SCHEMA IF EXISTS public, shop, values CASCADE; CREATE SCHEMA public");
        postgres.jdbc.execute("CREATE SCHEMA shop; CREATE SCHEMA values");
        PostgresTables tables = new PostgresTables(locks, counters);
        postgres.newSessions();
        postgres.initialize(tables);
        StoreCalls backend = postgres.backend(tables);

        assertThat(fenceOf(backend.acquire(request()))).isEqualTo(1);
        assertThat(backend.isLocked("a")).isTrue();
        assertThat(backend.lookup("a"))
                .containsExactly(backend.lookupById(LOCK_ID).orElseThrow());
        assertThat(backend.acquire(request())).isInstanceOf(AcquireResult.Refused.class);
        assertThat(backend.extendAll(List.of(Requests.extension(LOCK_ID, Duration.ofMinutes(2)))))
                .hasOnlyElementsOfType(ExtendResult.Extended.class);
        assertThat(backend.rotate(Requests.extension(LOCK_ID, Duration.ofMinutes(1))))
                .isInstanceOf(ExtendResult.Rotated.class);
        AcquireRequest reader =
                Requests.shared("a", READER, Duration.ofMinutes(1), "test").waitingAs(1);
        assertThat(backend.acquire(reader)).isInstanceOf(AcquireResult.Queued.class);
        assertThat(backend.release(LOCK_ID)).isEqualTo(ReleaseResult.RELEASED);
        assertThat(backend.isLocked("a")).isFalse();

        postgres.initialize(tables);
        assertThat(backend.renewWaiters(List.of(new KeyedLockId(READER)))).containsExactly(Duration.ZERO);
        assertThat(fenceOf(backend.acquire(reader))).as("the counter is kept").isEqualTo(3);
        assertThat(backend.extendAll(List.of(Requests.extension(READER, Duration.ofSeconds(30)))))
                .hasOnlyElementsOfType(ExtendResult.Extended.class);
        assertThat(backend.release(READER)).isEqualTo(ReleaseResult.RELEASED);
        assertThat(postgres.jdbc.queryForObject("SELECT " + locks + "_sweep(ARRAY['a'])", Integer.class))
                .isZero();
        assertThat(postgres.jdbc.queryForList("SELECT fence FROM " + counters, Long.class))
                .containsExactly(3L);
    }

    private static AcquireRequest request() {
        return Requests.exclusive("a", LOCK_ID, Duration.ofMinutes(1), "test");
    }

    private static long fenceOf(AcquireResult attempt) {
        assertThat(attempt).isInstanceOf(AcquireResult.Granted.class);
        return ((AcquireResult.Granted) attempt).fence().value();
    }

    private static void assertRefused(Throwable failure, String... parts) {
        assertThat(failure)
                .isExactlyInstanceOf(LockSetupException.class)
                .hasNoCause()
                .hasMessageContainingAll(parts);
        assertThat(((LockException) failure).code()).isEqualTo(LockErrorCode.INVALID_ARGUMENT);
    }
}
