package io.syncguard.check;

import java.util.List;

/**
 * What the check found out about one promise or one setting.
 *
 * @param subject the promise, the setting or the fault, in a few words
 * @param text what was found
 * @param advice what to do; empty if there is nothing to do
 * @param evidence the events or answers that show it; empty if the text says all
 */
record Finding(Part part, Verdict verdict, String subject, String text, String advice, List<String> evidence) {

    /** The parts of a check, in their order. */
    enum Part {
        LOOK("Look at the server"),
        CONTRACT("Contract of a store"),
        LOAD("Load and faults");

        private final String title;

        Part(String title) {
            this.title = title;
        }

        String title() {
            return title;
        }
    }

    enum Verdict {
        /** A promise is broken, or will be when the server fails. */
        BROKEN,
        /** The promises hold, but something costs safety or speed. */
        WARNING,
        NOT_TRIED,
        HOLDS
    }

    static Finding holds(Part part, String subject, String text) {
        return new Finding(part, Verdict.HOLDS, subject, text, "", List.of());
    }

    static Finding broken(Part part, String subject, String text, String advice) {
        return new Finding(part, Verdict.BROKEN, subject, text, advice, List.of());
    }

    static Finding warning(Part part, String subject, String text, String advice) {
        return new Finding(part, Verdict.WARNING, subject, text, advice, List.of());
    }

    static Finding notTried(Part part, String subject, String why) {
        return notTried(part, subject, why, "");
    }

    static Finding notTried(Part part, String subject, String why, String advice) {
        return new Finding(part, Verdict.NOT_TRIED, subject, why, advice, List.of());
    }

    Finding with(List<String> evidence) {
        return new Finding(part, verdict, subject, text, advice, List.copyOf(evidence));
    }

    /** All of it, in lines that end. */
    String inLines() {
        StringBuilder lines = new StringBuilder("  " + verdict + "  " + subject + ": " + text + "\n");
        if (!advice.isEmpty()) {
            lines.append("    -> ").append(advice).append('\n');
        }
        evidence.forEach(each ->
                lines.append("    ").append(each.replace("\n", "\n    ")).append('\n'));
        return lines.toString();
    }
}
