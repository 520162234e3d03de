package io.syncguard;

import java.util.HexFormat;

/**
 * Texts of callers, such as keys, owners and reasons, in messages and in the log. A line end or a control character in
 * one of them could make a line of its own, or hide a part of the line.
 */
public final class OneLine {

    private OneLine() {}

    /**
     * The text with an escape of Java, such as <code>&#92;u000a</code>, in place of each control character, line end,
     * character that changes the direction of a line, and unpaired surrogate.
     */
    public static String of(String text) {
        return text.codePoints().noneMatch(OneLine::isEscaped) ? text : escaped(text);
    }

    private static String escaped(String text) {
        StringBuilder line = new StringBuilder();
        text.codePoints().forEach(codePoint -> {
            if (isEscaped(codePoint)) {
                // None of them is beyond the basic plane.
                line.append("\\u").append(HexFormat.of().toHexDigits((char) codePoint));
            } else {
                line.appendCodePoint(codePoint);
            }
        });
        return line.toString();
    }

    private static boolean isEscaped(int codePoint) {
        return switch (Character.getType(codePoint)) {
            case Character.CONTROL, Character.LINE_SEPARATOR, Character.PARAGRAPH_SEPARATOR, Character.SURROGATE ->
                true;
            default -> changesDirection(Character.getDirectionality(codePoint));
        };
    }

    private static boolean changesDirection(byte directionality) {
        return switch (directionality) {
            case Character.DIRECTIONALITY_LEFT_TO_RIGHT_EMBEDDING,
                    Character.DIRECTIONALITY_RIGHT_TO_LEFT_EMBEDDING,
                    Character.DIRECTIONALITY_LEFT_TO_RIGHT_OVERRIDE,
                    Character.DIRECTIONALITY_RIGHT_TO_LEFT_OVERRIDE,
                    Character.DIRECTIONALITY_POP_DIRECTIONAL_FORMAT,
                    Character.DIRECTIONALITY_LEFT_TO_RIGHT_ISOLATE,
                    Character.DIRECTIONALITY_RIGHT_TO_LEFT_ISOLATE,
                    Character.DIRECTIONALITY_FIRST_STRONG_ISOLATE,
                    Character.DIRECTIONALITY_POP_DIRECTIONAL_ISOLATE -> true;
            default -> false;
        };
    }
}
