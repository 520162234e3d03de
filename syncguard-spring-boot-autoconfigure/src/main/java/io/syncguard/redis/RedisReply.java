package io.syncguard.redis;

import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.stream.IntStream;

/**
 * What a script has answered: texts, whole numbers, and lists of them.
 *
 * @param items as the driver gives them
 */
record RedisReply(List<?> items) {

    String text(int index) {
        return new String((byte[]) items.get(index), StandardCharsets.UTF_8);
    }

    long number(int index) {
        return (Long) items.get(index);
    }

    /** The numbers, as many as were asked for. */
    List<Long> numbers(int asked) {
        requireAnswers(asked);
        return items.stream().map(Long.class::cast).toList();
    }

    /** The texts, as many as were asked for. */
    List<String> texts(int asked) {
        requireAnswers(asked);
        return IntStream.range(0, asked).mapToObj(this::text).toList();
    }

    /** The lists. */
    List<RedisReply> replies() {
        return items.stream().map(item -> new RedisReply((List<?>) item)).toList();
    }

    private void requireAnswers(int asked) {
        if (items.size() != asked) {
            throw new IllegalStateException(asked + " questions got " + items.size() + " answers");
        }
    }
}
