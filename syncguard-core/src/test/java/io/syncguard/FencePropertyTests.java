package io.syncguard;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;

import java.util.Locale;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;
import net.jqwik.api.constraints.LongRange;

/** Fences have the order of their numbers and of their texts, wherever those were made. */
class FencePropertyTests {

    private static final long MAX = 900_000_000_000_000L;

    @Property
    void numbers_fences_and_texts_have_one_order(
            @ForAll @LongRange(min = 1, max = MAX) long one, @ForAll @LongRange(min = 1, max = MAX) long other) {
        Fence first = new Fence(one);
        Fence second = new Fence(other);

        int order = Long.signum(one - other);
        assertThat(Integer.signum(first.compareTo(second))).isEqualTo(order);
        assertThat(Integer.signum(first.toString().compareTo(second.toString())))
                .isEqualTo(order);
        assertThat(first.equals(second)).isEqualTo(order == 0);
    }

    @Property
    void a_text_has_fifteen_ascii_digits_under_any_default_locale(
            @ForAll @LongRange(min = 1, max = MAX) long value, @ForAll("locales") Locale locale) {
        Locale before = Locale.getDefault();
        Locale.setDefault(locale);
        try {
            String text = new Fence(value).toString();

            assertThat(text).matches("[0-9]{15}");
            assertThat(Long.parseLong(text)).isEqualTo(value);
        } finally {
            Locale.setDefault(before);
        }
    }

    @Property
    void there_are_no_fences_below_one_or_above_the_last(@ForAll("numbers") long value) {
        Throwable failure = catchThrowable(() -> new Fence(value));

        if (value >= 1 && value <= MAX) {
            assertThat(failure).isNull();
        } else {
            assertThat(failure)
                    .isInstanceOfSatisfying(
                            LockException.class, ex -> assertThat(ex.code()).isEqualTo(LockErrorCode.INVALID_ARGUMENT));
        }
    }

    @Provide
    Arbitrary<Long> numbers() {
        return Arbitraries.oneOf(
                Arbitraries.longs(),
                Arbitraries.longs().between(-2, 2),
                Arbitraries.longs().between(MAX - 2, MAX + 2));
    }

    @Provide
    Arbitrary<Locale> locales() {
        return Arbitraries.of(Locale.getAvailableLocales());
    }
}
