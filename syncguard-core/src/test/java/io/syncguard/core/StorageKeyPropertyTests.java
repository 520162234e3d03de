package io.syncguard.core;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import io.syncguard.LockErrorCode;
import io.syncguard.LockException;
import io.syncguard.spi.StorageKeys;
import io.syncguard.testing.Texts;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.Arrays;
import java.util.Base64;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.Assume;
import net.jqwik.api.Combinators;
import net.jqwik.api.EdgeCasesMode;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;
import net.jqwik.api.constraints.IntRange;

/** Storage keys follow their rule for any prefix and limit: never too long, and different for different keys. */
class StorageKeyPropertyTests {

    @Property
    void a_storage_key_is_what_the_rule_says_and_never_too_long(
            @ForAll("keys") StorageKeys keys, @ForAll(supplier = Texts.LegalKey.class) String key) {
        String storageKey = keys.of(key);

        assertThat(storageKey).isEqualTo(rule(keys, key));
        assertThat(Texts.utf8(storageKey) + keys.reserve()).isLessThanOrEqualTo(keys.limit());
    }

    @Property
    void a_key_is_hashed_from_the_first_byte_on_that_does_not_fit(
            @ForAll("prefixes") String prefix,
            @ForAll @IntRange(min = 23, max = 512) int length,
            @ForAll @IntRange(max = 50) int reserve) {
        int fits = Texts.utf8(new StorageKeys(prefix, 100_000, 0).of("x".repeat(length))) + reserve;

        assertThat(new StorageKeys(prefix, fits, reserve).of("x".repeat(length)))
                .endsWith("x".repeat(length));
        assertThat(new StorageKeys(prefix, fits - 1, reserve).of("x".repeat(length)))
                .doesNotEndWith("x".repeat(length))
                .isEqualTo(rule(new StorageKeys(prefix, fits - 1, reserve), "x".repeat(length)));
    }

    @Property
    void a_fence_key_is_made_in_two_steps_and_never_too_long(
            @ForAll("keys") StorageKeys keys, @ForAll(supplier = Texts.LegalKey.class) String key) {
        String fenceKey = keys.fenceOf(key);

        assertThat(fenceKey).isEqualTo(rule(keys, "fence:" + rule(keys, key)));
        assertThat(Texts.utf8(fenceKey) + keys.reserve()).isLessThanOrEqualTo(keys.limit());
    }

    @Property
    void different_keys_have_different_storage_keys(
            @ForAll("keys") StorageKeys keys,
            @ForAll(supplier = Texts.LegalKey.class) String key,
            @ForAll("changes") String change) {
        String other = key + change;

        assertThat(keys.of(other)).isNotEqualTo(keys.of(key));
        assertThat(keys.fenceOf(other)).isNotEqualTo(keys.fenceOf(key)).isNotEqualTo(keys.of(key));
    }

    @Property
    void on_postgresql_every_legal_key_is_its_own_storage_key(@ForAll(supplier = Texts.LegalKey.class) String key) {
        String normal = Texts.nfc(key);

        assertThat(new StorageKeys("", 1700, 0).of(normal)).isEqualTo(normal);
        assertThat(new StorageKeys("", 1700, 0).fenceOf(normal)).isEqualTo("fence:" + normal);
    }

    @Property
    void only_colons_at_the_end_of_a_prefix_are_dropped(
            @ForAll("prefixes") String prefix, @ForAll @IntRange(max = 5) int colons) {
        StorageKeys keys = new StorageKeys(prefix + ":".repeat(colons), 100_000, 26);

        assertThat(keys.prefix()).isEqualTo(withoutColons(prefix)).doesNotEndWith(":");
        assertThat(keys.of("a")).isEqualTo(rule(keys, "a"));
    }

    @Property(edgeCases = EdgeCasesMode.NONE)
    void a_prefix_is_refused_exactly_when_it_leaves_no_room_for_a_hash(
            @ForAll("prefixes") String prefix,
            @ForAll @IntRange(min = 1, max = 1700) int limit,
            @ForAll @IntRange(max = 50) int reserve) {
        int start = prefix.equals("") ? 0 : Texts.utf8(prefix) + 1;
        Assume.that(!prefix.endsWith(":"));

        LockException failure =
                catchThrowableOfType(LockException.class, () -> new StorageKeys(prefix, limit, reserve));

        if (start + 22 + reserve <= limit) {
            assertThat(failure).isNull();
        } else {
            assertThat(failure.code()).isEqualTo(LockErrorCode.INVALID_ARGUMENT);
            assertThat(failure).hasMessageContainingAll("prefix", String.valueOf(start + 22 + reserve - limit));
        }
    }

    @Provide
    Arbitrary<String> prefixes() {
        Arbitrary<String> strange = new Texts.Any().get().filter(Texts::isWellFormed);
        Arbitrary<String> plain = Arbitraries.of("", "a", "shop", "shop:orders", ":", "::a", "p".repeat(500));
        Arbitrary<String> nearlyAtTheEnd = Arbitraries.of("a:\n", ":\r\n", "shop::\u2028", "a:\u0085", "a: ");
        return Arbitraries.oneOf(strange, plain, nearlyAtTheEnd);
    }

    /** All storage keys of such prefixes, most of which leave little room. */
    @Provide
    Arbitrary<StorageKeys> keys() {
        return Combinators.combine(
                        prefixes(),
                        Arbitraries.integers().between(0, 600),
                        Arbitraries.integers().between(0, 50))
                .as((prefix, room, reserve) ->
                        new StorageKeys(prefix, Texts.utf8(prefix) + 1 + 22 + reserve + room, reserve));
    }

    @Provide
    Arbitrary<String> changes() {
        return Arbitraries.oneOf(Texts.codePoints(), Arbitraries.of(" ", ":", "\n", "\u0301"));
    }

    /** The rule, step by step. */
    private static String rule(StorageKeys keys, String key) {
        String prefix = withoutColons(keys.prefix());
        String full = prefix.isEmpty() ? key : prefix + ":" + key;
        if (Texts.utf8(full) + keys.reserve() <= keys.limit()) {
            return full;
        }
        return (prefix.isEmpty() ? "" : prefix + ":") + hash(full);
    }

    private static String withoutColons(String prefix) {
        return prefix.endsWith(":") ? withoutColons(prefix.substring(0, prefix.length() - 1)) : prefix;
    }

    private static String hash(String text) {
        try {
            byte[] hash = MessageDigest.getInstance("SHA-256").digest(text.getBytes(StandardCharsets.UTF_8));
            return Base64.getUrlEncoder().withoutPadding().encodeToString(Arrays.copyOf(hash, 16));
        } catch (NoSuchAlgorithmException ex) {
            throw new AssertionError(ex);
        }
    }
}
