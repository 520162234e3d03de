package io.syncguard.postgres;

import static org.assertj.core.api.Assertions.assertThat;

import io.syncguard.spi.FenceSource;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** How the library prepares the script before a server runs it, or before it becomes a file for an administrator. */
class PostgresScriptTests {

    private static final String FILE = """
            -- The tables.
            --
            -- The placeholder is ${syncguard_locks}.
            --
            -- The rights.
            --
            -- The rules.
            CREATE TABLE ${syncguard_locks} (fence BIGINT);
            """;

    private final PostgresScript script =
            new PostgresScript(new PostgresTables("shop_locks", "shop_counters"), FenceSource.COUNTER);

    @ParameterizedTest
    @ValueSource(strings = {"\n", "\r\n", "\r"})
    void the_line_ends_of_the_file_in_the_jar_make_no_difference(String lineEnd) {
        String text = script.text(FILE.replace("\n", lineEnd));

        assertThat(text).isEqualTo(FILE.replace("${syncguard_locks}", "shop_locks"));
        assertThat(script.textOfFile(text)).isEqualTo("""
                        -- The tables.
                        --
                        -- The locks are in the table shop_locks, the fence counters in shop_counters, and fences come from counters.
                        -- An administrator runs this file as it is:
                        --   psql -v ON_ERROR_STOP=1 -f FILE DATABASE
                        --
                        -- The rights.
                        --
                        -- The rules.
                        CREATE TABLE shop_locks (fence BIGINT);
                        """);
    }
}
