package io.syncguard.postgres;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import io.syncguard.LockErrorCode;
import io.syncguard.LockException;
import io.syncguard.LockHandle;
import io.syncguard.LockInfo;
import io.syncguard.LockLimits;
import io.syncguard.LockRequest;
import io.syncguard.core.LockEngine;
import io.syncguard.testing.Texts;
import java.time.Duration;
import java.util.List;
import java.util.function.Function;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.Combinators;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;
import net.jqwik.api.Tuple;
import net.jqwik.api.constraints.IntRange;
import net.jqwik.api.lifecycle.AfterContainer;
import net.jqwik.api.lifecycle.BeforeContainer;

/**
 * Any text that a caller passes as a lock id either opens the one lock with that id, or opens nothing, or is refused
 * before anything is sent. The message of a refusal does not show it.
 */
class LockIdPropertyTests {

    private static final String ALPHABET = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-";

    private static final Duration TTL = Duration.ofMinutes(2);

    private static CountedPostgres postgres;
    private static LockEngine locks;

    @BeforeContainer
    static void open() {
        postgres = CountedPostgres.withSchema();
        locks = postgres.locks();
    }

    @AfterContainer
    static void close() {
        locks.close();
        postgres.close();
    }

    @Property
    void any_text_is_answered_or_refused_before_anything_is_sent(@ForAll("texts") String text) {
        for (Function<String, Object> use : List.<Function<String, Object>>of(
                id -> locks.admin().lookupById(id).isPresent(),
                locks::owns,
                locks::release,
                id -> locks.extend(id, TTL).isPresent())) {
            long before = postgres.connections.asked();

            if (Texts.isLockId(text)) {
                assertThat(use.apply(text)).isEqualTo(false);
                assertThat(postgres.connections.asked()).isGreaterThan(before);
            } else {
                assertThat(catchThrowable(() -> use.apply(text))).satisfies(failure -> assertRefused(failure, text));
                assertThat(postgres.connections.asked()).isEqualTo(before);
            }
        }
    }

    @Property
    void a_lock_id_with_one_other_character_opens_nothing(
            @ForAll @IntRange(max = 21) int index, @ForAll("characters") char other) {
        try (LockHandle lock = locks.acquire(LockRequest.of("order:42"))) {
            LockInfo info = locks.admin().lookupById(lock.lockId()).orElseThrow();
            char right = lock.lockId().charAt(index);
            for (char wrong : new char[] {other, inOtherCase(right)}) {
                if (wrong != right) {
                    assertOpensNothing(lock.lockId().substring(0, index)
                            + wrong
                            + lock.lockId().substring(index + 1));
                }
            }

            assertThat(locks.admin().lookupById(lock.lockId())).contains(info);
        }
    }

    @Provide
    Arbitrary<Character> characters() {
        return Arbitraries.chars().with(ALPHABET.toCharArray());
    }

    /** Well-formed lock ids, texts that look similar, and any other text. */
    @Provide
    Arbitrary<String> texts() {
        Arbitrary<String> wellFormed = characters().list().ofSize(22).map(LockIdPropertyTests::join);
        Arbitrary<String> tooMuch = Arbitraries.of(
                "\n", "\r", "\r\n", "\u0085", "\u2028", "\u2029", " ", "\u0000", "=", "==", "A", "\u200b");
        Arbitrary<String> lookAlike = Arbitraries.of(
                "\u0410", "\uff21", "\u0663", "\u017f", "\u212a", "\u2013", "\u203f", "+", "/", ".", "\ud83d", "\n");
        Arbitrary<Integer> index = Arbitraries.integers().between(0, 21);
        return Arbitraries.frequencyOf(
                Tuple.of(2, wellFormed),
                Tuple.of(2, Combinators.combine(wellFormed, tooMuch).as((id, end) -> id + end)),
                Tuple.of(1, Combinators.combine(wellFormed, tooMuch).as((id, start) -> start + id)),
                Tuple.of(1, Combinators.combine(wellFormed, tooMuch).as((id, end) -> id.substring(end.length()) + end)),
                Tuple.of(
                        2,
                        Combinators.combine(wellFormed, lookAlike, index)
                                .as((id, odd, at) -> id.substring(0, at) + odd + id.substring(at + 1))),
                Tuple.of(1, characters().list().ofMaxSize(30).map(LockIdPropertyTests::join)),
                Tuple.of(2, new Texts.Any().get()));
    }

    private static void assertOpensNothing(String lockId) {
        assertThat(locks.admin().lookupById(lockId)).isEmpty();
        assertThat(locks.owns(lockId)).isFalse();
        assertThat(locks.release(lockId)).isFalse();
        assertThat(locks.extend(lockId, TTL)).isEmpty();
    }

    private static char inOtherCase(char letter) {
        return Character.isUpperCase(letter) ? Character.toLowerCase(letter) : Character.toUpperCase(letter);
    }

    private static String join(List<Character> characters) {
        StringBuilder text = new StringBuilder();
        characters.forEach(text::append);
        return text.toString();
    }

    /** The message is the same for every text of the same length: it reveals nothing else. */
    private static void assertRefused(Throwable failure, String text) {
        LockException another =
                catchThrowableOfType(LockException.class, () -> LockLimits.lockId("?".repeat(text.length())));
        assertThat(failure)
                .isExactlyInstanceOf(LockException.class)
                .hasNoCause()
                .hasMessage(another.getMessage())
                .hasMessageContaining("has 22 of A-Z");
        assertThat(((LockException) failure).code()).isEqualTo(LockErrorCode.INVALID_ARGUMENT);
    }
}
