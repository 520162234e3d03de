package io.syncguard.portable;

import io.syncguard.LockErrorCode;
import io.syncguard.LockSetupException;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * The script that creates the tables of a database, which is a repeatable migration of Flyway.
 *
 * @param dialect the database
 * @param tables the names of the tables
 */
public record PortableScript(Dialect dialect, PortableTables tables) {

    /**
     * Returns the script of a product; {@code null} if there is no dialect for it.
     *
     * @param own dialects of the application, which come first
     */
    public static @Nullable PortableScript of(String product, List<Dialect> own, PortableTables tables) {
        return Stream.concat(own.stream(), Stream.of(new MySqlDialect(), new H2Dialect(), new PostgresDialect()))
                .filter(dialect -> dialect.isOf(product))
                .map(dialect -> new PortableScript(dialect, tables))
                .findFirst()
                .orElse(null);
    }

    /** The folder of the script on the class path: a location for Flyway. */
    public String location() {
        return "syncguard/schema/" + dialect.scripts();
    }

    String path() {
        return location() + "/R__syncguard_schema.sql";
    }

    /**
     * Writes the script with the names of the tables, for a database where the application must not create tables.
     *
     * @throws LockSetupException if the file cannot be written
     */
    public void writeTo(Path file) {
        try {
            Files.writeString(file, text());
        } catch (IOException ex) {
            throw new LockSetupException(
                    LockErrorCode.INVALID_ARGUMENT,
                    "syncguard.jdbc.schema-script is '" + file + "', and this file cannot be written",
                    List.of("Create its directory", "Correct syncguard.jdbc.schema-script"),
                    ex);
        }
    }

    /** The statements, without comments. */
    List<String> statements() {
        return Stream.of(text().replaceAll("(?m)^ *--.*\\R", "").split(";"))
                .map(String::strip)
                .filter(statement -> !statement.isEmpty())
                .toList();
    }

    private String text() {
        String text = read();
        for (Map.Entry<String, String> placeholder : tables.placeholders().entrySet()) {
            text = text.replace("${" + placeholder.getKey() + "}", placeholder.getValue());
        }
        return text;
    }

    private String read() {
        try (InputStream script = dialect.getClass().getClassLoader().getResourceAsStream(path())) {
            if (script == null) {
                throw new IOException(path() + " is not on the class path: the jar of the dialect is incomplete");
            }
            return new String(script.readAllBytes(), StandardCharsets.UTF_8);
        } catch (IOException ex) {
            throw new UncheckedIOException(ex);
        }
    }
}
