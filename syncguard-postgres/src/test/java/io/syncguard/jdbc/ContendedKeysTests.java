package io.syncguard.jdbc;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class ContendedKeysTests {

    private final ContendedKeys keys = new ContendedKeys();

    @Test
    void one_release_expects_who_has_queued_and_the_key_stays_contended() {
        keys.queued("k");

        assertThat(keys.released("k")).isTrue();
        assertThat(keys.isContended("k")).isTrue();
        assertThat(keys.released("k")).isFalse();
        assertThat(keys.isContended("k")).isFalse();
    }

    @Test
    void a_key_that_was_free_is_not_contended() {
        keys.queued("k");
        keys.free("k");

        assertThat(keys.isContended("k")).isFalse();
        assertThat(keys.released("k")).isFalse();
    }

    @Test
    void a_taken_key_is_contended_and_its_release_expects_nobody() {
        keys.taken("k");

        assertThat(keys.isContended("k")).isTrue();
        assertThat(keys.released("k")).isFalse();
        assertThat(keys.isContended("k")).isFalse();
    }

    @Test
    void a_refusal_does_not_hide_who_has_queued() {
        keys.queued("k");
        keys.taken("k");

        assertThat(keys.released("k")).isTrue();
    }

    /** These two have the same place. */
    @Test
    void another_key_is_not_taken_for_it_and_takes_its_place() {
        keys.queued("Aa");

        assertThat(keys.isContended("BB")).isFalse();
        assertThat(keys.released("BB")).isFalse();
        keys.free("BB");
        assertThat(keys.isContended("Aa")).isTrue();

        keys.queued("BB");
        assertThat(keys.isContended("BB")).isTrue();
        assertThat(keys.released("Aa")).isFalse();
    }
}
