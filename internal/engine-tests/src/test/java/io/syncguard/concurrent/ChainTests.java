package io.syncguard.concurrent;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** A walk over objects of others ends, wherever they lead. */
@Timeout(10)
class ChainTests {

    @Test
    void a_chain_leads_to_its_end() {
        Exception end = new Exception("end");
        Exception first = new Exception("first", new Exception("second", end));

        assertThat(Chain.causes(first)).extracting(Throwable::getMessage).containsExactly("first", "second", "end");
        assertThat(Chain.end(first, Throwable::getCause)).isSameAs(end);
        assertThat(Chain.end(end, Throwable::getCause)).isSameAs(end);
        assertThat(Chain.causes(null)).isEmpty();
    }

    @Test
    void a_circle_is_walked_once_and_has_no_end() {
        Exception first = new Exception("first");
        first.initCause(new Exception("second", first));

        assertThat(Chain.causes(first)).extracting(Throwable::getMessage).containsExactly("first", "second");
        assertThat(Chain.end(first, Throwable::getCause)).isSameAs(first);
    }

    @Test
    void equal_objects_are_not_the_same() {
        String again = new String("a");

        assertThat(Chain.of("a", each -> each == again ? null : again)).containsExactly("a", "a");
    }

    @Test
    void objects_that_are_made_anew_each_time_are_limited() {
        Stream<Object> chain = Chain.of(new Object(), each -> new Object());

        assertThat(chain).hasSize(Chain.LIMIT);
        Object first = new Object();
        assertThat(Chain.end(first, each -> new Object())).isSameAs(first);
    }
}
