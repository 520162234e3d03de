package io.syncguard.postgres;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.syncguard.LockErrorCode;
import io.syncguard.LockSetupException;
import io.syncguard.spi.FenceSource;
import io.syncguard.testing.PostgresServer;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import javax.sql.DataSource;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.springframework.jdbc.core.JdbcTemplate;

/** Two applications have tables of locks in one schema. */
class NeighbourTests {

    private final DataSource dataSource = PostgresServer.newDatabase();

    @ParameterizedTest
    @CsvSource({
        "shop, shop_shared",
        "shop_shared, shop",
        "shop, SHOP_Waiters",
        "shop_waiters, Shop",
        "shop, shop_answer",
        "shop, shop_force",
        "public.shop_force, shop",
        "shop, public.shop_queue_and"
    })
    void the_second_is_refused_if_its_table_is_one_of_the_first(String first, String second) {
        schema(first).initialize();

        assertThatExceptionOfType(LockSetupException.class)
                .isThrownBy(() -> schema(second).initialize())
                .withMessageContaining("'" + second + "' would share a table or functions with the locks of")
                .satisfies(ex -> assertThat(ex.code()).isEqualTo(LockErrorCode.INVALID_ARGUMENT));
    }

    @ParameterizedTest
    @CsvSource({"shop, shop_b", "shop, shops", "shop, shop_fence", "shop_acquire, shop"})
    void other_names_are_two_applications(String first, String second) {
        schema(first).initialize();

        assertThatCode(schema(second)::initialize).doesNotThrowAnyException();
        assertThatCode(schema(first)::check).doesNotThrowAnyException();
    }

    @ParameterizedTest
    @CsvSource({"COUNTER, CLOCK, true", "CLOCK, COUNTER, true", "CLOCK, CLOCK, true", "COUNTER, COUNTER, false"})
    void two_tables_of_locks_share_counters_only_if_neither_deletes_any(
            FenceSource first, FenceSource second, boolean refused) {
        new PostgresSchema(dataSource, new PostgresTables("shop", "counters"), first).initialize();
        PostgresSchema other = new PostgresSchema(dataSource, new PostgresTables("public.depot", "counters"), second);

        if (refused) {
            assertThatExceptionOfType(LockSetupException.class)
                    .isThrownBy(other::initialize)
                    .withMessageContaining("'counters' has also the fences of the locks in 'shop'");
        } else {
            assertThatCode(other::initialize).doesNotThrowAnyException();
        }
        assertThatCode(() -> new PostgresSchema(dataSource, new PostgresTables("shop", "counters"), first).check())
                .doesNotThrowAnyException();
    }

    /** If a new function makes another ending, this finds it. */
    @Test
    void no_other_word_makes_a_name_of_one_from_that_of_the_other() {
        schema("shop").initialize();
        Set<String> names = new TreeSet<>(new JdbcTemplate(dataSource).queryForList("""
                SELECT substr(p.proname, 6) || '(' || oidvectortypes(p.proargtypes) || ')' FROM pg_proc p
                WHERE p.proname LIKE 'shop\\_%'
                UNION SELECT substr(c.relname, 6) FROM pg_class c
                WHERE c.relname LIKE 'shop\\_%' AND c.relkind IN ('r', 'c')
                """, String.class));
        Set<String> ambiguous = new TreeSet<>();
        for (String name : names) {
            for (String other : names) {
                if (name.endsWith("_" + other)) {
                    ambiguous.add(name.substring(0, name.length() - other.length() - 1));
                }
            }
            if (!name.contains("(")) {
                ambiguous.add(name);
            }
        }

        assertThat(names).hasSizeGreaterThan(50);
        assertThat(List.of("shared", "waiters", "answer", "force", "queue_and")).containsAll(ambiguous);
    }

    private PostgresSchema schema(String locks) {
        String plain = locks.substring(locks.indexOf('.') + 1);
        return new PostgresSchema(dataSource, new PostgresTables(locks, "counters_of_" + plain));
    }
}
