package io.syncguard.aop;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;

import io.syncguard.DistributedLock;
import io.syncguard.LockErrorCode;
import io.syncguard.LockException;
import io.syncguard.LockSetupException;
import io.syncguard.LockTemplate;
import io.syncguard.testing.Durations;
import io.syncguard.testing.Texts;
import java.lang.reflect.Method;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Set;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.Combinators;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;
import org.springframework.beans.factory.support.DefaultListableBeanFactory;

/**
 * Whatever text the placeholders of an annotation resolve to, the method is locked accordingly, or the start fails and
 * the message names the annotation.
 */
class AnnotationTextPropertyTests {

    @Property
    void a_ttl_is_understood_or_refused(@ForAll(supplier = Durations.Any.class) Duration ttl) {
        for (String text : spellings(ttl)) {
            if (Durations.isLegalTtl(ttl)) {
                assertThat(read("ttl", text).defaults().ttl()).isEqualTo(ttl);
            } else {
                assertRefused("ttl", text);
            }
        }
    }

    @Property
    void other_times_are_understood_or_refused(@ForAll(supplier = Durations.Any.class) Duration time) {
        for (String text : spellings(time)) {
            if (Durations.isLegalTime(time)) {
                assertThat(read("waitTime", text).waitTime()).isEqualTo(time);
                assertThat(read("holdAtLeast", text).defaults().holdAtLeast()).isEqualTo(time);
            } else {
                assertRefused("waitTime", text);
                assertRefused("holdAtLeast", text);
            }
        }
    }

    @Property
    void a_name_is_the_key_in_its_normal_form_or_refused(@ForAll(supplier = Texts.Any.class) String text) {
        boolean template = catchThrowable(() -> TemplateText.requireNoneInName(text, Set.of())) != null;
        if (Texts.isLegalKey(text) && !template) {
            assertThat(read("name", text).prefix()).isEqualTo(Texts.nfc(text));
        } else {
            assertRefused("name", text);
        }
    }

    @Property
    void no_text_fails_in_another_way(@ForAll("times") String text) {
        for (String attribute : List.of("ttl", "waitTime", "holdAtLeast")) {
            if (catchThrowable(() -> read(attribute, text)) != null) {
                assertRefused(attribute, text);
            }
        }
    }

    /** Texts that look like a time, and others. */
    @Provide
    Arbitrary<String> times() {
        Arbitrary<String> amount = Arbitraries.oneOf(
                Arbitraries.bigIntegers().map(String::valueOf),
                Arbitraries.of("1", "0", "+1", "-0", "1.5", "\u0663", "1e3"));
        Arbitrary<String> unit =
                Arbitraries.of("", "ns", "us", "ms", "s", "m", "h", "d", "S", "M", "w", "\u017f", " s", "s\n");
        Arbitrary<String> simple = Combinators.combine(amount, unit).as(String::concat);
        Arbitrary<String> iso = Combinators.combine(Arbitraries.of("P", "PT", "pt", "-PT", "P1DT"), amount, unit)
                .as((start, number, end) -> start + number + end);
        return Arbitraries.oneOf(simple, iso, new Texts.Any().get());
    }

    /** The duration in ISO-8601, and in the simple style if that can express it. */
    private static List<String> spellings(Duration duration) {
        boolean isSimple = duration.toNanosPart() % 1_000_000 == 0 && Math.abs(duration.toDays()) < 1_000_000;
        return isSimple ? List.of(duration.toString(), duration.toMillis() + "ms") : List.of(duration.toString());
    }

    private static LockedMethod read(String attribute, String text) {
        DefaultListableBeanFactory beans = new DefaultListableBeanFactory();
        beans.addEmbeddedValueResolver(value -> value.equals("${text}") ? text : value);
        Method method = Arrays.stream(Annotated.class.getDeclaredMethods())
                .filter(each -> each.getName().equals(attribute))
                .findFirst()
                .orElseThrow();
        return new LockedMethodParser(
                        beans,
                        () -> beans.getBean(LockTemplate.class),
                        () -> new CallLimits(Duration.ofSeconds(5), 100, Duration.ofSeconds(30), Map.of()))
                .parse(method.getAnnotation(DistributedLock.class), method, Annotated.class);
    }

    private static void assertRefused(String attribute, String text) {
        Throwable failure = catchThrowable(() -> read(attribute, text));
        assertThat(failure)
                .isExactlyInstanceOf(LockSetupException.class)
                .hasMessageContainingAll("@DistributedLock", "Annotated." + attribute, "'" + attribute + "'");
        assertThat(((LockException) failure).code()).isEqualTo(LockErrorCode.INVALID_ARGUMENT);
    }

    static class Annotated {

        @DistributedLock(name = "n", ttl = "${text}")
        public void ttl() {}

        @DistributedLock(name = "n", waitTime = "${text}")
        public void waitTime() {}

        @DistributedLock(name = "n", holdAtLeast = "${text}")
        public void holdAtLeast() {}

        @DistributedLock(name = "${text}")
        public void name() {}
    }
}
