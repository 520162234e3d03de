package io.syncguard.core;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.syncguard.LockErrorCode;
import io.syncguard.LockException;
import io.syncguard.spi.Hashes;
import io.syncguard.spi.StorageKeys;
import org.junit.jupiter.api.Test;

class StorageKeysTests {

    @Test
    void a_key_that_fits_is_kept_as_it_is() {
        String key = "x".repeat(969);

        assertThat(new StorageKeys("test", 1000, 26).of(key)).isEqualTo("test:" + key);
    }

    @Test
    void a_key_that_does_not_fit_is_hashed() {
        assertThat(new StorageKeys("test", 1000, 26).of("x".repeat(970))).isEqualTo("test:OFD-qMyz5CjgEMW2gp_cbw");
        assertThat(new StorageKeys("test", 1000, 26).of("x".repeat(2000))).isEqualTo("test:NwQxsfemcqy24vwT9CJ8hQ");
        assertThat(new StorageKeys("", 1700, 0).of("x".repeat(2000))).isEqualTo("XA4OpCFXHDALXfauwKEYtQ");
        assertThat(new StorageKeys("p".repeat(500), 1000, 26).of("y".repeat(512)))
                .isEqualTo("p".repeat(500) + ":H230Rm619F0eJD3nNnCYfg");
    }

    @Test
    void colons_at_the_end_of_a_prefix_are_dropped() {
        assertThat(new StorageKeys("test::", 1000, 26).of("a")).isEqualTo("test:a");
        assertThat(new StorageKeys(":", 1000, 26).of("a")).isEqualTo("a");
    }

    @Test
    void a_fence_key_is_derived_from_the_storage_key() {
        StorageKeys keys = new StorageKeys("test", 1000, 26);

        assertThat(keys.fenceOf("a")).isEqualTo("test:fence:test:a");
        assertThat(keys.fenceOf("x".repeat(2000))).isEqualTo("test:fence:test:NwQxsfemcqy24vwT9CJ8hQ");
        assertThat(new StorageKeys("", 1700, 0).fenceOf("a")).isEqualTo("fence:a");
    }

    @Test
    void a_prefix_that_leaves_no_room_is_refused() {
        assertThat(new StorageKeys("p".repeat(951), 1000, 26).of("k".repeat(512)))
                .hasSize(974);
        assertThatExceptionOfType(LockException.class)
                .isThrownBy(() -> new StorageKeys("p".repeat(952), 1000, 26))
                .withMessageContaining("too long by 1 bytes")
                .satisfies(ex -> assertThat(ex.code()).isEqualTo(LockErrorCode.INVALID_ARGUMENT));
    }

    @Test
    void people_are_shown_the_first_twelve_bytes_of_the_hash() {
        assertThat(Hashes.abbreviated("order:42")).isEqualTo("da68380de022bac727782efe");
    }
}
