package io.syncguard.fencing;

import io.syncguard.LockSetupException;
import java.util.regex.Pattern;

/**
 * The table with the largest fence that each resource has seen. Its name becomes part of SQL text, so the constructor
 * accepts only a plain identifier, with an optional schema in front.
 *
 * @param name the name of the table
 */
record FenceTable(String name) {

    /** The name of the table in the scripts. */
    static final String PLACEHOLDER = "syncguard_fences";

    /** 48 characters, like the other tables of the library; every supported database allows more. */
    private static final String IDENTIFIER = "[A-Za-z_][A-Za-z0-9_]{0,47}";

    private static final Pattern NAME = Pattern.compile(IDENTIFIER + "(\\." + IDENTIFIER + ")?");

    FenceTable {
        if (!NAME.matcher(name).matches()) {
            throw LockSetupException.invalid(
                    "syncguard.fencing.table is '" + name
                            + "', but has to be a plain identifier of at most 48 letters, digits and underscores, with"
                            + " an optional schema and a dot in front",
                    "Choose another name in syncguard.fencing.table");
        }
    }

    /** Replaces the placeholder in the text by the name of the table. */
    String fill(String text) {
        return text.replace("${" + PLACEHOLDER + "}", name);
    }
}
