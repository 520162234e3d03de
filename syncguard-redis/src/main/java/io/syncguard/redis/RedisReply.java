package io.syncguard.redis;

import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.function.IntFunction;
import java.util.stream.IntStream;

/**
 * The answer of a script: texts, whole numbers, and lists of them.
 *
 * @param items as the driver decodes them
 */
record RedisReply(List<?> items) {

    /** Wraps the answer of a script: a list, or a single item. */
    static RedisReply of(Object answer) {
        return new RedisReply(answer instanceof List<?> items ? items : List.of(answer));
    }

    int size() {
        return items.size();
    }

    boolean isNumber(int index) {
        return items.get(index) instanceof Long;
    }

    boolean isNothing(int index) {
        return items.get(index) == null;
    }

    String text(int index) {
        return new String((byte[]) items.get(index), StandardCharsets.UTF_8);
    }

    long number(int index) {
        return (Long) items.get(index);
    }

    /** Reads one item for each request, in their order, by its index. */
    <T> List<T> answers(int requests, IntFunction<T> reader) {
        if (items.size() != requests) {
            throw new IllegalStateException(requests + " requests got " + items.size() + " answers");
        }
        return IntStream.range(0, requests).mapToObj(reader).toList();
    }

    /** Returns an item as the answer of a single operation. */
    RedisReply answer(int index) {
        return of(items.get(index));
    }

    /** Returns the items, each of which is a list. */
    List<RedisReply> replies() {
        return items.stream().map(item -> new RedisReply((List<?>) item)).toList();
    }
}
