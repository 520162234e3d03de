package io.syncguard.postgres;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;

import io.syncguard.Fence;
import io.syncguard.IllegalKeyException;
import io.syncguard.LockErrorCode;
import io.syncguard.LockException;
import io.syncguard.LockHandle;
import io.syncguard.LockRequest;
import io.syncguard.core.LockEngine;
import io.syncguard.spi.Hashes;
import io.syncguard.testing.Texts;
import java.text.Normalizer;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.function.Consumer;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.Combinators;
import net.jqwik.api.EdgeCasesMode;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;
import net.jqwik.api.Tuple;
import net.jqwik.api.Tuple.Tuple2;
import net.jqwik.api.lifecycle.AfterContainer;
import net.jqwik.api.lifecycle.AfterTry;
import net.jqwik.api.lifecycle.BeforeContainer;

/**
 * Any text that a caller passes as a key is one lock, the same for each of its spellings and for no other key, or it is
 * refused before anything is sent.
 */
class KeyPropertyTests {

    /** Each line: spellings that are one text to Unicode. */
    private static final List<List<String>> SPELLINGS = List.of(
            List.of("\u00e9", "e\u0301"),
            List.of("\u00c5", "A\u030a", "\u212b"),
            List.of("\u03a9", "\u2126"),
            List.of("\u1ec7", "e\u0323\u0302", "e\u0302\u0323", "\u00ea\u0323", "\u1eb9\u0302"),
            List.of("\ud55c", "\u1112\u1161\u11ab", "\ud558\u11ab"),
            List.of("\u0958", "\u0915\u093c"),
            List.of("\ufb2c", "\u05e9\u05bc\u05c1", "\u05e9\u05c1\u05bc"),
            List.of("\uf900", "\u8c48"),
            List.of("\ud834\udd5e", "\ud834\udd57\ud834\udd65"),
            List.of("x", "x"));

    private static CountedPostgres postgres;
    private static LockEngine locks;

    /** How often each normalised key has been granted so far. */
    private static final Map<String, Long> GRANTS = new HashMap<>();

    private final List<LockHandle> held = new ArrayList<>();

    @BeforeContainer
    static void open() {
        GRANTS.clear();
        postgres = CountedPostgres.withSchema();
        locks = postgres.locks();
    }

    @AfterContainer
    static void close() {
        locks.close();
        postgres.close();
    }

    @AfterTry
    void release() {
        held.forEach(LockHandle::release);
        held.clear();
    }

    @Property
    void any_text_is_answered_or_refused_before_anything_is_sent(@ForAll(supplier = Texts.Any.class) String text) {
        for (Consumer<String> use : List.<Consumer<String>>of(
                locks::isLocked, locks.admin()::lookup, locks.admin()::holders, this::grant)) {
            long before = postgres.connections.asked();

            Throwable failure = catchThrowable(() -> use.accept(text));

            if (Texts.isLegalKey(text)) {
                assertThat(failure).isNull();
                assertThat(postgres.connections.asked()).isGreaterThan(before);
            } else {
                assertRefused(failure);
                assertThat(postgres.connections.asked()).isEqualTo(before);
            }
        }
    }

    @Property
    void a_legal_key_is_kept_in_its_normal_form_and_as_nothing_else(
            @ForAll(supplier = Texts.LegalKey.class) String key) {
        LockHandle lock = grant(key);

        String normal = Texts.nfc(key);
        assertThat(lock.key()).isEqualTo(normal);
        assertThat(postgres.jdbc.queryForMap("SELECT key, user_key FROM syncguard_locks"))
                .containsEntry("key", normal)
                .containsEntry("user_key", normal);
        assertThat(locks.admin().lookup(key))
                .hasValueSatisfying(info -> assertThat(info.keyHash()).isEqualTo(Hashes.abbreviated(normal)));
        assertThat(locks.admin().holders(key)).hasSize(1);
        assertThat(locks.isLocked(key)).isTrue();
        assertThat(locks.tryAcquire(LockRequest.of(key))).isNull();
        assertThat(lock.release()).isTrue();
        assertThat(locks.isLocked(key)).isFalse();
    }

    @Property
    void all_spellings_of_a_text_are_one_lock(@ForAll("spellings") Tuple2<String, String> spellings) {
        LockHandle lock = grant(spellings.get1());

        assertThat(locks.tryAcquire(LockRequest.of(spellings.get2()))).isNull();
        assertThat(locks.admin().lookup(spellings.get2()))
                .isEqualTo(locks.admin().lookupById(lock.lockId()));
        lock.release();
        // The second grant has the next fence.
        grant(spellings.get2());
    }

    @Property
    void different_keys_never_meet(
            @ForAll(supplier = Texts.LegalKey.class) String key,
            @ForAll(supplier = Texts.LegalKey.class) String other) {
        Map<String, LockHandle> grants = new HashMap<>();
        for (String each : withRelatives(key, other)) {
            grants.put(each, grant(each));
        }

        LockHandle first = grants.remove(Texts.nfc(key));
        first.release();

        assertThat(locks.isLocked(key)).isFalse();
        assertThat(postgres.jdbc.queryForList("SELECT user_key FROM syncguard_locks", String.class))
                .containsExactlyInAnyOrderElementsOf(grants.keySet());
    }

    @Property
    void a_key_has_up_to_512_bytes_whatever_its_characters(@ForAll("lengths") Tuple2<Integer, String> text) {
        assertThat(Texts.utf8(text.get2())).isEqualTo(text.get1());
        if (text.get1() <= 512) {
            assertThat(grant(text.get2()).key()).isEqualTo(text.get2());
        } else {
            assertRefused(catchThrowable(() -> grant(text.get2())), "512", String.valueOf(text.get1()));
        }
    }

    @Property
    void the_length_is_that_of_the_normal_form(@ForAll("textsThatChangeTheirLength") String text) {
        int bytes = Texts.utf8(Texts.nfc(text));
        if (bytes <= 512) {
            assertThat(Texts.utf8(grant(text).key())).isEqualTo(bytes);
        } else {
            assertRefused(catchThrowable(() -> grant(text)), "512", String.valueOf(bytes));
        }
    }

    @Property(edgeCases = EdgeCasesMode.NONE)
    void what_is_no_unicode_or_has_the_character_zero_is_refused_wherever_that_stands(
            @ForAll(supplier = Texts.LegalKey.class) String key,
            @ForAll("defects") String defect,
            @ForAll int anywhere) {
        List<Integer> boundaries = Texts.boundaries(key).toList();
        int index = boundaries.get(Math.floorMod(anywhere, boundaries.size()));
        String text = key.substring(0, index) + defect + key.substring(index);
        long before = postgres.connections.asked();

        for (Consumer<String> use : List.<Consumer<String>>of(this::grant, locks::isLocked, LockHandle::current)) {
            assertRefused(
                    catchThrowable(() -> use.accept(text)),
                    defect.equals("\u0000") ? "U+0000" : "surrogate",
                    "index " + index);
        }
        assertThat(postgres.connections.asked()).isEqualTo(before);
    }

    @Provide
    Arbitrary<String> defects() {
        return Arbitraries.of("\u0000", "\ud83d", "\ud800", "\udbff", "\udd12", "\udc00", "\udfff", "\udd12\ud83d");
    }

    @Provide
    Arbitrary<Tuple2<String, String>> spellings() {
        Arbitrary<Tuple2<String, String>> one = Arbitraries.of(SPELLINGS)
                .flatMap(spellings -> Combinators.combine(Arbitraries.of(spellings), Arbitraries.of(spellings))
                        .as(Tuple::of));
        return one.list()
                .ofMinSize(1)
                .ofMaxSize(20)
                .map(pairs -> Tuple.of(
                        pairs.stream().map(Tuple2::get1).collect(Collectors.joining()),
                        pairs.stream().map(Tuple2::get2).collect(Collectors.joining())));
    }

    @Provide
    Arbitrary<Tuple2<Integer, String>> lengths() {
        return Arbitraries.of(1, 511, 512, 513, 514)
                .flatMap(bytes -> Texts.ofBytes(bytes).map(text -> Tuple.of(bytes, text)));
    }

    /** Texts of nearly 512 bytes before or after normalisation: some grow by it, most shrink. */
    @Provide
    Arbitrary<String> textsThatChangeTheirLength() {
        Arbitrary<String> unit = Arbitraries.of("e\u0301", "\u0958", "\u212b", "\u1112\u1161\u11ab", "\ud834\udd5e");
        return Combinators.combine(unit, Arbitraries.of(511, 512, 513), Arbitraries.of(true, false))
                .as((repeated, bytes, after) -> {
                    String counted = after ? Texts.nfc(repeated) : repeated;
                    int times = bytes / Texts.utf8(counted);
                    return repeated.repeat(times) + "x".repeat(bytes - times * Texts.utf8(counted));
                });
    }

    /** The two keys, and texts that a faulty store could confuse with the first; normalised. */
    private static Set<String> withRelatives(String key, String other) {
        return Stream.of(
                        key,
                        other,
                        key + " ",
                        " " + key,
                        key + "\n",
                        key.strip(),
                        key.toUpperCase(Locale.ROOT),
                        key.toLowerCase(Locale.ROOT),
                        Normalizer.normalize(key, Normalizer.Form.NFKC),
                        key + "\u200d",
                        key + ":",
                        "fence:" + key)
                .filter(Texts::isLegalKey)
                .map(Texts::nfc)
                .collect(Collectors.toSet());
    }

    /** Grants the key, which has to be free, with the next fence of exactly this key. */
    private LockHandle grant(String key) {
        LockHandle lock = locks.tryAcquire(LockRequest.of(key));
        assertThat(lock).as("a free key").isNotNull();
        held.add(lock);
        assertThat(lock.fence()).isEqualTo(new Fence(GRANTS.merge(Texts.nfc(key), 1L, Long::sum)));
        return lock;
    }

    private static void assertRefused(Throwable failure, String... parts) {
        assertThat(failure)
                .isExactlyInstanceOf(IllegalKeyException.class)
                .hasNoCause()
                .hasMessageStartingWith("A key ")
                .message()
                .containsAnyOf("empty", "512", "U+0000", "surrogate");
        assertThat(parts).allSatisfy(part -> assertThat(failure).hasMessageContaining(part));
        assertThat(((LockException) failure).code()).isEqualTo(LockErrorCode.INVALID_ARGUMENT);
    }
}
