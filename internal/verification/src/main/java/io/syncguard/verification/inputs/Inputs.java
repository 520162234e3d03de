package io.syncguard.verification.inputs;

import io.syncguard.LockLimits;
import io.syncguard.spi.StoreProbe;
import java.nio.charset.StandardCharsets;
import java.text.Normalizer;
import java.time.Duration;
import java.util.List;
import java.util.Random;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** Random values, most of them unusual. The same seed makes the same values. Used by one thread. */
final class Inputs {

    private static final Duration YEAR = Duration.ofDays(365);

    /** Texts that have broken parsers, encoders, databases, scripts, logs and pages before. */
    private static final List<String> PIECES = List.of(
            "",
            " ",
            "\n",
            "\r\n",
            "\t",
            "\u0000",
            "\u0001",
            "\u001b[2J",
            "\u007f",
            "\u0085",
            "\u2028",
            "\u202e",
            "\u2066",
            "\ufeff",
            "\u200d",
            "\uffff",
            "\ud83d",
            "\udd12",
            "\ud83d\udd12",
            "e\u0301",
            "\u00e9",
            "\u212b",
            "\ud55c",
            "\u1112\u1161\u11ab",
            "\u05e9\u05dc\u05d5\u05dd",
            "'",
            "\"",
            "\\",
            "%",
            "_",
            "?",
            "*",
            "[a-z]",
            ":",
            "/",
            "..%2f",
            ";",
            "&",
            "=",
            "#",
            "+",
            "{",
            "}",
            "{a}",
            "{}",
            "fence:",
            "lock:",
            "leader:",
            "$1",
            "${syncguard_locks}",
            "${spring.datasource.password}",
            "#{T(java.lang.Math).random()}",
            "T(java.lang.Math).random()",
            "'; DROP TABLE syncguard_locks; --",
            "') OR 1=1 --",
            "$$; SELECT pg_sleep(60); $$",
            "]] redis.call('FLUSHALL') --",
            "\nEVAL \"return 1\" 0\r\n",
            "\nWARN Lost lock 'forged'",
            "\u0000WARN",
            "<script>alert(1)</script>",
            "\"><img src=x onerror=alert(1)>",
            "{{7*7}}",
            "${jndi:ldap://localhost/a}",
            "%n%s%d",
            "null",
            "NaN",
            "-1",
            "9223372036854775808",
            "order",
            "Order",
            "x".repeat(500),
            "\u00e9".repeat(250),
            "e\u0301".repeat(256),
            "x".repeat(70_000));

    private static final List<Duration> DURATIONS = List.of(
            Duration.ZERO,
            Duration.ofNanos(1),
            Duration.ofNanos(-1),
            Duration.ofNanos(1_000_001),
            Duration.ofMillis(1),
            Duration.ofMillis(-1),
            Duration.ofMillis(2),
            Duration.ofSeconds(30),
            YEAR,
            YEAR.plusNanos(1),
            YEAR.plusMillis(1),
            Duration.ofMillis(Long.MAX_VALUE),
            Duration.ofSeconds(Long.MAX_VALUE, 999_999_999),
            Duration.ofSeconds(Long.MIN_VALUE));

    private final Random random;

    Inputs(long seed) {
        this.random = new Random(seed);
    }

    int number(int bound) {
        return random.nextInt(bound);
    }

    boolean chance(int percent) {
        return random.nextInt(100) < percent;
    }

    <T> T oneOf(List<T> values) {
        return values.get(random.nextInt(values.size()));
    }

    long anyLong() {
        return oneOf(List.of(0L, 1L, -1L, 900_000_000_000_000L, Long.MAX_VALUE, Long.MIN_VALUE, random.nextLong()));
    }

    /** Any text, or {@code null}. */
    @Nullable
    String textOrNull() {
        return chance(2) ? null : text();
    }

    /** Any text. A long one is rare. */
    String text() {
        String text = Stream.generate(this::piece).limit(random.nextInt(5)).collect(Collectors.joining());
        return text.length() > 2000 && chance(90) ? text.substring(0, 20) : text;
    }

    /** A text that is a legal key and that no other call has had. */
    String newKey() {
        String text = legal(text());
        String start = isReserved(text) ? "k" + text : text;
        return start.substring(0, start.offsetByCodePoints(0, Math.min(start.codePointCount(0, start.length()), 60)))
                + ":" + Long.toHexString(random.nextLong());
    }

    @Nullable
    Duration durationOrNull() {
        return chance(2) ? null : duration();
    }

    Duration duration() {
        return chance(80) ? oneOf(DURATIONS) : Duration.ofSeconds(random.nextLong(), random.nextInt(1_000_000_000));
    }

    /** A text with the form of a lock id, with nearly that form, or with any other. */
    @Nullable
    String lockIdOrNull() {
        String id = random.ints(22, 0, 64)
                .mapToObj(i -> "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-".substring(i, i + 1))
                .collect(Collectors.joining());
        return chance(70) ? id : chance(50) ? id + oneOf(PIECES) : textOrNull();
    }

    private String piece() {
        return switch (random.nextInt(4)) {
            case 0 -> Character.toString(random.nextInt(Character.MAX_CODE_POINT + 1));
            case 1 -> Character.toString(' ' + random.nextInt(95));
            default -> oneOf(PIECES);
        };
    }

    /** A second, independent definition of the rule for keys. */
    static boolean isLegalKey(@Nullable String text) {
        return text != null && !text.isEmpty() && isLegalOrEmpty(text);
    }

    /** Whether a caller may lock this key. */
    static boolean isLockable(@Nullable String key) {
        return key != null && isLegalKey(key) && !isReserved(key);
    }

    private static boolean isReserved(String key) {
        return nfc(key).startsWith(LockLimits.ELECTION_PREFIX) || nfc(key).startsWith(StoreProbe.KEY);
    }

    static boolean isLegalOrEmpty(String text) {
        return StandardCharsets.UTF_8.newEncoder().canEncode(text)
                && text.indexOf('\u0000') < 0
                && nfc(text).getBytes(StandardCharsets.UTF_8).length <= 512;
    }

    static String nfc(String text) {
        return Normalizer.normalize(text, Normalizer.Form.NFC);
    }

    private static String legal(String text) {
        return text.codePoints()
                .filter(c -> c != 0 && Character.getType(c) != Character.SURROGATE)
                .limit(200)
                .collect(StringBuilder::new, StringBuilder::appendCodePoint, StringBuilder::append)
                .toString();
    }

    static boolean isLegalTtl(@Nullable Duration ttl) {
        return ttl != null
                && ttl.compareTo(Duration.ZERO) > 0
                && ttl.compareTo(Duration.ofDays(365)) <= 0
                && ttl.getNano() % 1_000_000 == 0;
    }
}
