package io.syncguard.aop;

import org.jspecify.annotations.Nullable;
import org.springframework.core.convert.TypeDescriptor;
import org.springframework.expression.TypeConverter;
import org.springframework.expression.spel.support.StandardTypeConverter;

/**
 * Converts the values of one evaluation, and remembers one that becomes a part of a text and is not fit for a key:
 * {@code 'order:' + #order}. For one thread.
 */
final class KeyTextConverter implements TypeConverter {

    private static final TypeConverter CONVERTER = new StandardTypeConverter();

    private @Nullable UnfitValue unfit;

    /** What was converted to a text and is not fit for a key; {@code null} if all was. */
    @Nullable
    UnfitValue unfit() {
        return unfit;
    }

    /** Without this, SpEL would take the text of some values without asking {@link #convertValue}. */
    @Override
    public boolean canConvert(@Nullable TypeDescriptor source, TypeDescriptor target) {
        return target.getType() == String.class || CONVERTER.canConvert(source, target);
    }

    @Override
    public @Nullable Object convertValue(
            @Nullable Object value, @Nullable TypeDescriptor source, TypeDescriptor target) {
        return target.getType() == String.class ? text(value) : CONVERTER.convertValue(value, source, target);
    }

    private @Nullable Object text(@Nullable Object given) {
        Object value = KeyText.withoutOptional(given);
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
