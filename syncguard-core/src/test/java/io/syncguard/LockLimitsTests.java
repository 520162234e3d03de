package io.syncguard;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.junit.jupiter.api.Assertions.assertTimeoutPreemptively;
import static org.junit.jupiter.params.provider.Arguments.arguments;

import java.nio.charset.StandardCharsets;
import java.text.Normalizer;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.NullSource;
import org.junit.jupiter.params.provider.ValueSource;

class LockLimitsTests {

    @Test
    void a_key_is_normalised_and_nothing_else() {
        assertThat(LockLimits.key("Zu\u0308rich")).isEqualTo("Z\u00fcrich");
        assertThat(LockLimits.key(" A a ")).isEqualTo(" A a ");
        assertThat(LockLimits.key(" ")).isEqualTo(" ");
        assertThat(LockLimits.key("\uD83D\uDD12")).isEqualTo("\uD83D\uDD12");
        assertThat(LockRequest.of("e\u0301").key()).isEqualTo("\u00e9");
    }

    @Test
    void a_key_has_1_to_512_bytes_after_normalisation() {
        assertThat(LockLimits.key("x".repeat(512))).hasSize(512);
        assertThat(LockLimits.key("\u00e9".repeat(256))).hasSize(256);
        assertThat(LockLimits.key("e\u0301".repeat(256))).as("768 bytes before").hasSize(256);
        refused(() -> LockLimits.key(""), "empty");
        refused(() -> LockLimits.key("x".repeat(513)), "513");
        refused(() -> LockLimits.key("\u00e9".repeat(256) + "x"), "513");
    }

    @ParameterizedTest
    @ValueSource(strings = {"a\u0000", "\uD83D", "a\uD83Db", "\uDD12", "\uDD12\uD83D"})
    void a_key_without_a_meaning_on_every_backend_is_refused(String key) {
        refused(() -> LockLimits.key(key), "must");
    }

    @Test
    void a_ttl_is_a_whole_number_of_milliseconds_up_to_a_year() {
        assertThat(LockLimits.ttl(Duration.ofMillis(1))).hasMillis(1);
        assertThat(LockLimits.ttl(Duration.ofDays(365))).hasDays(365);
        refused(() -> LockLimits.ttl(Duration.ZERO), "ttl");
        refused(() -> LockLimits.ttl(Duration.ofMillis(-1)), "ttl");
        refused(() -> LockLimits.ttl(Duration.ofNanos(1_500_000)), "ttl");
        refused(() -> LockLimits.ttl(Duration.ofDays(365).plusMillis(1)), "ttl");
    }

    @Test
    void a_heartbeat_comes_every_millisecond_to_every_third_of_the_ttl() {
        LockRequest request = LockRequest.of("a").heartbeat(Duration.ofSeconds(3));

        assertThat(request.ttl(Duration.ofSeconds(9)).heartbeatInterval()).hasSeconds(3);
        assertThat(request.heartbeat(Duration.ofMillis(1)).heartbeatInterval()).hasMillis(1);
        refused(() -> request.ttl(Duration.ofMillis(8_999)), "heartbeat is 3s");
        refused(() -> request.heartbeat(Duration.ofNanos(999_999)), "heartbeat");
        refused(() -> request.heartbeat(Duration.ofDays(122)), "heartbeat");
    }

    @Test
    void a_request_without_heartbeat_forgets_how_often() {
        LockRequest request =
                LockRequest.of("a").heartbeat(Duration.ofSeconds(3)).noHeartbeat();

        assertThat(request.heartbeat()).isFalse();
        assertThat(request.heartbeatInterval()).isNull();
        assertThat(request.heartbeat(Duration.ofSeconds(1)).heartbeat()).isTrue();
    }

    @Test
    void what_was_asked_for_stays_while_the_rest_changes() {
        LockRequest request =
                LockRequest.of("a").heartbeat(Duration.ofMillis(5)).owner("node-7");

        LockRequest changed = request.meterName("b")
                .key("c")
                .shared()
                .ttl(Duration.ofSeconds(1))
                .waitTime(Duration.ZERO)
                .onLost(OnLost.NOTIFY)
                .holdAtLeast(Duration.ofSeconds(1));

        assertThat(changed.heartbeatInterval()).hasMillis(5);
        assertThat(changed.owner()).isEqualTo("node-7");
    }

    @Test
    void a_wait_time_may_be_zero_but_not_negative() {
        assertThat(LockRequest.of("a").waitTime(Duration.ZERO).waitTime()).isZero();
        refused(() -> LockRequest.of("a").waitTime(Duration.ofNanos(-1)), "wait time");
        refused(() -> LockRequest.of("a").holdAtLeast(Duration.ofDays(366)), "hold at least");
    }

    @Test
    void a_time_that_no_long_can_hold_is_refused_like_any_other() {
        refused(() -> LockRequest.of("a").holdAtMost(Duration.ofSeconds(Long.MAX_VALUE)), "hold at most");
        refused(() -> LockRequest.of("a").holdAtMost(Duration.ofSeconds(Long.MIN_VALUE)), "hold at most");
        refused(() -> LockRequest.of("a").ttl(Duration.ofSeconds(Long.MAX_VALUE)), "ttl");
    }

    @Test
    void the_label_of_an_owner_has_the_limits_of_a_key_but_may_be_empty() {
        assertThat(LockRequest.of("a").owner("").owner()).isEmpty();
        assertThat(LockRequest.of("a").owner("Zu\u0308rich").owner()).isEqualTo("Z\u00fcrich");
        refused(() -> LockRequest.of("a").owner("node\u0000"), "label of the owner must not contain U+0000");
        refused(() -> LockRequest.of("a").owner("\uD83D"), "surrogate");
        refused(() -> LockRequest.of("a").owner("x".repeat(513)), "513");
    }

    @Test
    void a_list_is_asked_for_by_texts_that_keys_may_have() {
        assertThat(LockQuery.all().startingWith("Zu\u0308").prefix()).isEqualTo("Z\u00fc");
        refused(() -> LockQuery.all().startingWith("a\u0000"), "prefix of a list");
        refused(() -> LockQuery.all().startingWith("x".repeat(513)), "513");
        refused(() -> LockQuery.all().after("\uDD12"), "surrogate");
    }

    @Test
    @SuppressWarnings("NullAway") // Callers need not check for null.
    void null_is_refused_by_the_name_of_what_is_missing() {
        refused(() -> LockRequest.of(null), "A key must not be null");
        refused(() -> LockRequest.of("order", null), "A key must not be null");
        refused(() -> LockRequest.of("a").holdAtLeast(null), "hold at least must not be null");
        refused(() -> LockRequest.of("a").onLost(null), "must not be null");
        refused(() -> LockRequest.of("a").meterName(null), "A name must not be null");
        refused(() -> LockLimits.lockId(null), "A lock id must not be null");
        refused(() -> LockLimits.ttl(null), "A ttl must not be null");
        refused(() -> LockQuery.all().after(null), "must not be null");
        refused(() -> LockOperations.withoutLocks().executeWithoutResult("a", null), "A body must not be null");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {"", "short", "1234567890123456789012\n", "123456789012345678901=", "12345678901234567890123"})
    void a_malformed_lock_id_is_refused_without_being_shown(String lockId) {
        assertThatExceptionOfType(LockException.class)
                .isThrownBy(() -> LockLimits.lockId(lockId))
                .satisfies(ex -> assertThat(ex.code()).isEqualTo(LockErrorCode.INVALID_ARGUMENT))
                .satisfies(ex -> assertThat(lockId.isEmpty() || !ex.getMessage().contains(lockId))
                        .isTrue());
    }

    @Test
    void a_fence_has_fifteen_digits() {
        assertThat(new Fence(42)).hasToString("000000000000042").isLessThan(new Fence(43));
        assertThat(new Fence(Fence.MAX_VALUE)).hasToString("900000000000000");
        refused(() -> new Fence(0), "between 1");
        refused(() -> new Fence(Fence.MAX_VALUE + 1), "between 1");
    }

    /** Normalising this text takes hours: it sorts a run of marks in time that grows with the square of its length. */
    @ParameterizedTest
    @MethodSource
    void a_text_that_no_normalisation_can_shorten_enough_is_refused_at_once(String what, Consumer<String> use) {
        String text = "a" + "\u0316\u0301".repeat(2_000_000);

        assertTimeoutPreemptively(
                Duration.ofSeconds(5),
                () -> assertThatExceptionOfType(LockException.class)
                        .isThrownBy(() -> use.accept(text))
                        .withMessageContainingAll(what, "512 UTF-8 bytes", "4000001 characters")
                        .satisfies(ex -> assertThat(ex.getMessage()).hasSizeLessThan(200)));
    }

    static Stream<Arguments> a_text_that_no_normalisation_can_shorten_enough_is_refused_at_once() {
        return Stream.of(
                arguments("key", (Consumer<String>) LockRequest::of),
                arguments("key", (Consumer<String>) LockLimits::key),
                arguments("key", (Consumer<String>) text -> LockRequest.of("order", text)),
                arguments("key", (Consumer<String>) LockHandle::current),
                arguments("name", (Consumer<String>) text -> LockRequest.of(text, "42")),
                arguments("resource", (Consumer<String>) LockLimits::resource),
                arguments(
                        "owner", (Consumer<String>) text -> LockRequest.of("a").owner(text)),
                arguments("prefix", (Consumer<String>) text -> LockQuery.all().startingWith(text)),
                arguments("part", (Consumer<String>) text -> LockQuery.all().containing(text)),
                arguments("owner", (Consumer<String>) text -> LockQuery.all().owner(text)),
                arguments("page", (Consumer<String>) text -> LockQuery.all().after(text)));
    }

    @Test
    void marks_within_the_limits_of_a_key_are_sorted_in_no_time() {
        String marks = "\u0316\u0301".repeat(128);

        assertTimeoutPreemptively(Duration.ofSeconds(10), () -> {
            for (int i = 0; i < 10_000; i++) {
                LockLimits.key(marks);
            }
        });
    }

    /**
     * Counts each code point of a normal form D with the chars of its longest spelling. So no text is longer than the
     * code points of its normal form D say, which are those of its normal form C in turn.
     */
    @Test
    void no_text_with_more_chars_has_a_normal_form_within_the_limit() {
        Map<Integer, Double> chars = new HashMap<>();
        codePoints()
                .filter(each -> nfd(each).codePointCount(0, nfd(each).length()) == 1)
                .forEach(each -> chars.merge(nfd(each).codePointAt(0), 1.0 * Character.charCount(each), Math::max));

        assertThat(codePoints().filter(each -> Character.charCount(each) > longest(each, chars)))
                .isEmpty();
        assertThat(codePoints()
                        .filter(each -> Normalizer.isNormalized(Character.toString(each), Normalizer.Form.NFC))
                        .mapToDouble(each ->
                                longest(each, chars) / Character.toString(each).getBytes(StandardCharsets.UTF_8).length)
                        .max())
                .hasValue(1.0 * LockLimits.MAX_KEY_CHARS / LockLimits.MAX_KEY_BYTES);
    }

    private static double longest(int codePoint, Map<Integer, Double> chars) {
        return nfd(codePoint).codePoints().mapToDouble(chars::get).sum();
    }

    private static String nfd(int codePoint) {
        return Normalizer.normalize(Character.toString(codePoint), Normalizer.Form.NFD);
    }

    private static Stream<Integer> codePoints() {
        return IntStream.rangeClosed(0, Character.MAX_CODE_POINT)
                .filter(each -> Character.getType(each) != Character.SURROGATE)
                .boxed();
    }

    @Test
    void the_longest_spelling_of_a_key_is_a_key() {
        String spelling = "\u03b9\u0308\u0301".repeat(256);

        assertThat(spelling).hasSize(LockLimits.MAX_KEY_CHARS);
        assertThat(LockLimits.key(spelling)).isEqualTo("\u0390".repeat(256));
        refused(() -> LockLimits.key(spelling + "\u0301"), "512");
    }

    private static void refused(ThrowingCallable call, String message) {
        assertThatExceptionOfType(LockException.class)
                .isThrownBy(call)
                .withMessageContaining(message)
                .satisfies(ex -> assertThat(ex.code()).isEqualTo(LockErrorCode.INVALID_ARGUMENT));
    }

    @Test
    void the_text_of_an_object_without_its_own_is_no_key_of_a_request() {
        Runnable lambda = () -> {};
        for (Object each : List.of(new LockLimitsTests(), new Object(), lambda, new String[0], new int[0][0])) {
            assertThatExceptionOfType(LockException.class)
                    .isThrownBy(() -> LockRequest.of("order_" + each + ":lines"))
                    .withMessageContainingAll(Integer.toHexString(each.hashCode()), "toString()", "id")
                    .satisfies(ex -> assertThat(ex.code()).isEqualTo(LockErrorCode.INVALID_ARGUMENT));
        }
    }

    /** Each of them took milliseconds, and a call may have a thousand keys. */
    @ParameterizedTest
    @ValueSource(strings = {"[", "a.", "a.A@1"})
    void a_text_that_looks_like_that_of_an_object_is_judged_in_no_time(String repeated) {
        String key = repeated.repeat(490 / repeated.length() / 2) + "a".repeat(240) + ".A@1";

        assertTimeoutPreemptively(Duration.ofSeconds(10), () -> {
            for (int i = 0; i < 10_000; i++) {
                assertThat(LockRequest.of(key).key()).isEqualTo(key);
            }
        });
    }

    @Test
    void the_text_of_an_object_is_found_behind_others_that_are_none() {
        assertThatExceptionOfType(LockException.class)
                .isThrownBy(() -> LockRequest.of("a@1b.C@2[[Lx.Y@fg;java.lang.Object@1g_java.lang.Object@1f"))
                .withMessageContaining("'java.lang.Object@1f'");
        assertThatExceptionOfType(LockException.class)
                .isThrownBy(() -> LockRequest.of("[L[[[Lshop.Order;@1f"))
                .withMessageContaining("'[[[Lshop.Order;@1f'");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "bob@cafe",
                "john.smith@beef",
                "John.Smith@ad",
                "java.lang.Object@acme.com",
                "java.lang.Object@abc.com",
                "Object@1f",
                "a/0x1f@2",
                "x.Y@",
                ".@1",
                "[I",
                "@1"
            })
    void a_text_with_an_at_sign_is_a_key(String key) {
        assertThat(LockRequest.of(key).key()).isEqualTo(key);
    }

    @Test
    void a_request_by_name_and_key_is_that_of_the_annotation() {
        LockRequest request = LockRequest.of("order", "42");

        assertThat(request.key()).isEqualTo("order:42");
        assertThat(request.name()).isEqualTo("order");
        assertThatExceptionOfType(LockException.class).isThrownBy(() -> LockRequest.of("", "42"));
    }

    @ParameterizedTest
    @NullSource
    @ValueSource(strings = {"", " "})
    @SuppressWarnings("NullAway") // Callers need not check for null.
    void a_key_that_is_missing_is_illegal_also_behind_a_name(@Nullable String key) {
        assertThatExceptionOfType(IllegalKeyException.class).isThrownBy(() -> LockRequest.of("order", key));
    }
}
