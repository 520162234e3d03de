package io.syncguard.redis;

import io.lettuce.core.cluster.SlotHash;
import java.util.List;

/**
 * Finds hash tags whose slots are spread evenly over a cluster. The slots are divided into as many equal parts as there
 * are shards, and the slot of each shard is near the middle of its part. Masters that share the slots evenly thus also
 * share the shards evenly.
 */
final class RedisHashTags {

    private RedisHashTags() {}

    /**
     * Returns the prefixes of the shards: the hash tag of each is that of the prefix, {@code #} and a number.
     *
     * @param prefix a prefix with a hash tag
     */
    static List<String> spread(String prefix, int shards) {
        int end = prefix.indexOf('}', prefix.indexOf('{'));
        String[] found = new String[shards];
        int missing = shards;
        for (int number = 0; missing > 0; number++) {
            String candidate = prefix.substring(0, end) + "#" + number + prefix.substring(end);
            int place = SlotHash.getSlot(candidate) * shards;
            int part = place / SlotHash.SLOT_COUNT;
            if (found[part] == null && isNearMiddle(place % SlotHash.SLOT_COUNT)) {
                found[part] = candidate;
                missing--;
            }
        }
        return List.of(found);
    }

    /** Whether the slot is in the middle quarter of its part. */
    private static boolean isNearMiddle(int place) {
        return Math.abs(place - SlotHash.SLOT_COUNT / 2) <= SlotHash.SLOT_COUNT / 8;
    }
}
