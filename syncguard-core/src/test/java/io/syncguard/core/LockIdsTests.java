package io.syncguard.core;

import static org.assertj.core.api.Assertions.assertThat;

import io.syncguard.testing.Texts;
import java.util.Base64;
import java.util.BitSet;
import java.util.List;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/**
 * Lock ids are 16 random bytes in 22 characters.
 */
class LockIdsTests {

    private final List<String> ids =
            Stream.generate(new LockIds()::next).limit(10_000).toList();

    @Test
    void every_id_is_well_formed_and_like_no_other() {
        assertThat(ids).allMatch(Texts::isLockId).doesNotHaveDuplicates();
    }

    /** A deviation of more than ten standard deviations is no coincidence. */
    @Test
    void all_128_bits_are_as_often_set_as_not() {
        List<BitSet> bits = ids.stream()
                .map(id -> BitSet.valueOf(Base64.getUrlDecoder().decode(id)))
                .toList();

        assertThat(IntStream.range(0, 128))
                .allSatisfy(bit ->
                        assertThat(bits.stream().filter(each -> each.get(bit))).hasSizeBetween(4_500, 5_500));
    }
}
