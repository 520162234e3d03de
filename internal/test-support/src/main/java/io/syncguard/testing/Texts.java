package io.syncguard.testing;

import java.nio.charset.StandardCharsets;
import java.text.Normalizer;
import java.util.List;
import java.util.stream.Stream;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.ArbitrarySupplier;
import net.jqwik.api.Combinators;
import net.jqwik.api.Tuple;

/** Texts that callers may pass, and a second, independent definition of the rules for keys and lock ids. */
public final class Texts {

    private static final int MAX_KEY_BYTES = 512;

    /** Characters that have broken parsers, normalisers, databases and caches before. */
    private static final List<String> AWKWARD = List.of(
            "",
            " ",
            "\t",
            "\r\n",
            "\n",
            "\u0000",
            "\u0001",
            "\u001b[31m",
            "\u007f",
            "\u0085",
            "\u00a0",
            "\u2028",
            "\ufeff",
            "\u200d",
            "\u202e",
            "\ufffd",
            "\uffff",
            "\ue000",
            "'",
            "\"",
            "\\",
            "\\u0000",
            "%",
            "%s",
            "_",
            "?",
            "$1",
            "$$",
            "${syncguard_locks}",
            "#{1}",
            "{}",
            ":",
            "fence:",
            "--",
            "/*",
            "'; DROP TABLE syncguard_locks; --",
            "Order",
            "order",
            "\u0130",
            "\u0131",
            "\u00df",
            "\u017f",
            "\ufb01",
            "e\u0301",
            "\u00e9",
            "A\u030a",
            "\u00c5",
            "\u212b",
            "\u2126",
            "\u0301",
            "\u0958",
            "\ufb2c",
            "\u1112\u1161\u11ab",
            "\ud55c",
            "\uf900",
            "\ud834\udd5e",
            "\ud83d\udd12",
            "\ud83d\udc69\u200d\ud83d\udcbb",
            "\udbff\udfff",
            "\ud83d",
            "\udd12",
            "\udd12\ud83d",
            "x".repeat(500),
            "\u00e9".repeat(250),
            "e\u0301".repeat(250),
            "\u20ac".repeat(170),
            "\u0958".repeat(100),
            "\ud83d\udd12".repeat(127));

    private Texts() {}

    /** Any text, for {@code @ForAll(supplier = Texts.Any.class)}. */
    public static final class Any implements ArbitrarySupplier<String> {
        @Override
        public Arbitrary<String> get() {
            Arbitrary<String> anyChar = Arbitraries.integers()
                    .between(0, Character.MAX_VALUE)
                    .map(unit -> String.valueOf((char) unit.intValue()));
            return Arbitraries.frequencyOf(
                            Tuple.of(4, Arbitraries.of(AWKWARD)), Tuple.of(2, codePoints()), Tuple.of(1, anyChar))
                    .list()
                    .ofMinSize(0)
                    .ofMaxSize(8)
                    .map(pieces -> String.join("", pieces));
        }
    }

    /** Any text that is a legal key. */
    public static final class LegalKey implements ArbitrarySupplier<String> {
        @Override
        public Arbitrary<String> get() {
            return new Any().get().filter(Texts::isLegalKey);
        }
    }

    /**
     * Texts of the given number of UTF-8 bytes, made of characters of one to four bytes, none of which normalisation
     * removes.
     */
    public static Arbitrary<String> ofBytes(int bytes) {
        Arbitrary<String> mixed = Arbitraries.of("x", "\u00e9", "\u20ac", "\ud83d\udd12")
                .list()
                .ofMaxSize(bytes / 4)
                .map(pieces -> String.join("", pieces));
        Arbitrary<String> filling = Arbitraries.of("x", "\u00e9", "\u20ac", "\ud83d\udd12");
        return Combinators.combine(mixed, filling).as((start, more) -> {
            String text = start + more.repeat((bytes - utf8(start)) / utf8(more));
            return text + "x".repeat(bytes - utf8(text));
        });
    }

    public static Arbitrary<String> codePoints() {
        return Arbitraries.integers()
                .between(0, Character.MAX_CODE_POINT)
                .filter(codePoint -> Character.getType(codePoint) != Character.SURROGATE)
                .map(Character::toString);
    }

    /** Whether the text is well-formed, as the encoder of the JDK decides. */
    public static boolean isWellFormed(String text) {
        return StandardCharsets.UTF_8.newEncoder().canEncode(text);
    }

    public static boolean isLegalKey(String text) {
        return isWellFormed(text)
                && text.indexOf('\u0000') < 0
                && utf8(nfc(text)) >= 1
                && utf8(nfc(text)) <= MAX_KEY_BYTES;
    }

    public static boolean isLockId(String text) {
        return text.length() == 22
                && text.chars()
                        .allMatch(c -> c >= 'A' && c <= 'Z'
                                || c >= 'a' && c <= 'z'
                                || c >= '0' && c <= '9'
                                || c == '_'
                                || c == '-');
    }

    public static String nfc(String text) {
        return Normalizer.normalize(text, Normalizer.Form.NFC);
    }

    public static int utf8(String text) {
        return text.getBytes(StandardCharsets.UTF_8).length;
    }

    /** The indexes between the code points of the text, at each of which a defect may be inserted. */
    public static Stream<Integer> boundaries(String text) {
        return Stream.concat(
                text.isEmpty()
                        ? Stream.empty()
                        : Stream.iterate(0, i -> i < text.length(), i -> text.offsetByCodePoints(i, 1)),
                Stream.of(text.length()));
    }
}
