package io.syncguard.testing;

import java.math.BigInteger;
import java.time.Duration;
import java.util.List;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.ArbitrarySupplier;
import net.jqwik.api.Combinators;
import net.jqwik.api.Tuple;

/** Durations that callers may pass, and a second, independent definition of the rules for ttls and other times. */
public final class Durations {

    private static final Duration YEAR = Duration.ofDays(365);

    private static final List<Duration> EDGES = List.of(
            Duration.ZERO,
            Duration.ofNanos(1),
            Duration.ofNanos(-1),
            Duration.ofNanos(999_999),
            Duration.ofNanos(1_000_001),
            Duration.ofMillis(1),
            Duration.ofMillis(-1),
            YEAR,
            YEAR.plusNanos(1),
            YEAR.minusNanos(1),
            YEAR.plusMillis(1),
            YEAR.minusMillis(1),
            Duration.ofSeconds(Long.MAX_VALUE),
            Duration.ofSeconds(Long.MAX_VALUE, 999_999_999),
            Duration.ofSeconds(Long.MIN_VALUE),
            Duration.ofMillis(Long.MAX_VALUE),
            Duration.ofNanos(Long.MAX_VALUE));

    private Durations() {}

    /** Any duration, for {@code @ForAll(supplier = Durations.Any.class)}. Half of them are near the limits. */
    public static final class Any implements ArbitrarySupplier<Duration> {
        @Override
        public Arbitrary<Duration> get() {
            Arbitrary<Duration> any = Combinators.combine(
                            Arbitraries.longs(), Arbitraries.integers().between(0, 999_999_999))
                    .as(Duration::ofSeconds);
            Arbitrary<Duration> withNanos = Combinators.combine(
                            new Ttl().get(), Arbitraries.integers().between(-1_000_000, 1_000_000))
                    .as(Duration::plusNanos);
            return Arbitraries.frequencyOf(
                    Tuple.of(3, Arbitraries.of(EDGES)),
                    Tuple.of(1, any),
                    Tuple.of(1, withNanos),
                    Tuple.of(1, new Ttl().get()));
        }
    }

    /** Any legal ttl. */
    public static final class Ttl implements ArbitrarySupplier<Duration> {
        @Override
        public Arbitrary<Duration> get() {
            return Arbitraries.longs().between(1, YEAR.toMillis()).map(Duration::ofMillis);
        }
    }

    public static boolean isLegalTtl(Duration duration) {
        return nanos(duration).mod(nanos(Duration.ofMillis(1))).signum() == 0
                && nanos(duration).signum() > 0
                && isLegalTime(duration);
    }

    /** Whether the duration is a legal wait time or {@code holdAtLeast}. */
    public static boolean isLegalTime(Duration duration) {
        return nanos(duration).signum() >= 0 && nanos(duration).compareTo(nanos(YEAR)) <= 0;
    }

    private static BigInteger nanos(Duration duration) {
        return BigInteger.valueOf(duration.getSeconds())
                .multiply(BigInteger.valueOf(1_000_000_000))
                .add(BigInteger.valueOf(duration.getNano()));
    }
}
