package io.syncguard.postgres;

import io.syncguard.LockErrorCode;
import io.syncguard.LockSetupException;
import io.syncguard.spi.FenceSource;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The script that creates the tables and functions, which is a repeatable migration of Flyway.
 *
 * @param tables their names
 * @param fences where fences come from
 */
public record PostgresScript(PostgresTables tables, FenceSource fences) {

    /** The folder of the script on the class path: a location for Flyway. */
    public static final String LOCATION = "db/syncguard/postgresql";

    static final String PATH = LOCATION + "/R__syncguard_schema.sql";

    private static final Pattern ROUTINE =
            Pattern.compile("CREATE OR REPLACE (?:FUNCTION|PROCEDURE) (?:\\w+\\.)?(\\w+)\\(");

    private static final String LOCK_TABLE = "\n    LOCK TABLE ";

    private static final String END_OF_BLOCK = "\nEND;";

    private static final String END_OF_SCRIPT = "\nEND $script$;";

    private static final Pattern FOREIGN_OBJECTS = Pattern.compile("(?s)FOR \"Foreign\" IN(.*?)\\n    LOOP\\n");

    /** The placeholders of the script, without the <code>${}</code>. */
    public Map<String, String> placeholders() {
        Map<String, String> placeholders = new HashMap<>(tables.placeholders());
        placeholders.put("syncguard_fence_source", fenceSource());
        return placeholders;
    }

    /**
     * Writes the script with the names of the tables, for a database where the application must not create tables.
     *
     * @throws LockSetupException if the file cannot be written
     */
    public void writeTo(Path file) {
        try {
            Files.writeString(file, textOfFile(text()));
        } catch (IOException ex) {
            throw new LockSetupException(
                    LockErrorCode.INVALID_ARGUMENT,
                    "syncguard.postgres.schema-script is '" + file + "', and this file cannot be written",
                    List.of("Create its directory", "Correct syncguard.postgres.schema-script"),
                    ex);
        }
    }

    /** Replaces the second paragraph of the head, which is about the placeholders: a file has none. */
    String textOfFile(String text) {
        String separator = "\n--\n";
        String[] parts = text.split(separator, 3);
        return String.join(
                separator,
                parts[0],
                """
                -- The locks are in the table %s, the fence counters in %s, and fences come from %s.
                -- An administrator runs this file as it is:
                --   psql -v ON_ERROR_STOP=1 -f FILE DATABASE""".formatted(
                                tables.locks(),
                                tables.fenceCounters(),
                                fences == FenceSource.COUNTER ? "counters" : "the clock"),
                parts[2]);
    }

    /** The names of all functions and procedures that the script creates, without the schema. */
    List<String> functions() {
        return ROUTINE.matcher(text())
                .results()
                .map(routine -> routine.group(1).toLowerCase(Locale.ROOT))
                .toList();
    }

    /** The query with which the script finds an object with one of its names that belongs to a stranger. */
    String foreignObjects() {
        Matcher query = FOREIGN_OBJECTS.matcher(text());
        if (!query.find()) {
            throw new IllegalStateException(PATH);
        }
        return query.group(1);
    }

    /** The beginning of the script, after which no other session runs it until the end of the transaction. */
    String beginning() {
        String text = text();
        int lock = text.indexOf(LOCK_TABLE);
        return text.substring(0, text.indexOf(END_OF_BLOCK, lock) + END_OF_BLOCK.length()) + END_OF_SCRIPT;
    }

    String fenceSource() {
        return fences.name().toLowerCase(Locale.ROOT);
    }

    /** The script with all placeholders replaced. */
    String text() {
        return text(read());
    }

    /** @param file the content of the script's file, with any line ends */
    String text(String file) {
        return PostgresTables.fill(file.replaceAll("\r\n?", "\n"), placeholders());
    }

    private static String read() {
        try (InputStream script = PostgresScript.class.getClassLoader().getResourceAsStream(PATH)) {
            if (script == null) {
                throw new IOException(PATH + " is not on the class path: the jar of SyncGuard is incomplete");
            }
            return new String(script.readAllBytes(), StandardCharsets.UTF_8);
        } catch (IOException ex) {
            throw new UncheckedIOException(ex);
        }
    }
}
