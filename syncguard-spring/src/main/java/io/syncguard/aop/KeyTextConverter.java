package io.syncguard.aop;

import org.jspecify.annotations.Nullable;
import org.springframework.core.convert.TypeDescriptor;
import org.springframework.expression.TypeConverter;
import org.springframework.expression.spel.support.StandardTypeConverter;

/**
 * Converts the values of one evaluation. Records the first value that becomes part of a text, as in
 * {@code 'order:' + #order}, and is not fit for a key. Not thread-safe.
 */
final class KeyTextConverter implements TypeConverter {

    private static final TypeConverter CONVERTER = new StandardTypeConverter();

    private @Nullable UnfitValue unfit;

    /** The first value that was converted to a text and is not fit for a key; {@code null} if there was none. */
    @Nullable
    UnfitValue unfit() {
        return unfit;
    }

    /**
     * Accepts every conversion to text, because SpEL would otherwise convert some values without {@link #convertValue}.
     */
    @Override
    public boolean canConvert(@Nullable TypeDescriptor source, TypeDescriptor target) {
        return target.getType() == String.class || CONVERTER.canConvert(source, target);
    }

    @Override
    public @Nullable Object convertValue(
            @Nullable Object value, @Nullable TypeDescriptor source, TypeDescriptor target) {
        return target.getType() == String.class ? text(value) : CONVERTER.convertValue(value, source, target);
    }

    private @Nullable Object text(@Nullable Object wrapped) {
        Object value = KeyText.withoutOptional(wrapped);
        if (value == null) {
            return null;
        }
        if (unfit == null) {
            unfit = KeyText.unfitOperand(value);
        }
        TypeDescriptor source = TypeDescriptor.forObject(value);
        TypeDescriptor text = TypeDescriptor.valueOf(String.class);
        return unfit == null && CONVERTER.canConvert(source, text)
                ? CONVERTER.convertValue(value, source, text)
                : String.valueOf(value);
    }
}
