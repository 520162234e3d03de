package io.syncguard.redis;

import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.function.Function;

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

    /** Reads each item as the answer of a single operation. */
    <T> List<T> each(Function<RedisReply, T> reader) {
        return items.stream().map(item -> reader.apply(of(item))).toList();
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
