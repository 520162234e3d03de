package io.syncguard.redis;

import static org.assertj.core.api.Assertions.assertThat;

import io.syncguard.Fence;
import io.syncguard.spi.LockBackend;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** How the library prepares the script files before it sends them to the server. */
class RedisScriptTests {

    private final RedisScript acquire = RedisScript.named("acquire");

    @ParameterizedTest
    @ValueSource(
            strings = {
                "acquire",
                "renew_waiters",
                "extend",
                "rotate",
                "release",
                "release_all",
                "release_after",
                "batch",
                "force_release",
                "status",
                "is_locked",
                "lookup"
            })
    void a_script_has_its_parts_once_and_no_comments(String name) {
        assertThat(RedisScript.named(name).text())
                .containsOnlyOnce("redis.call('TIME')")
                .doesNotContainPattern("(?m)^\\s*--");
    }

    @Test
    void the_numbers_of_the_scripts_are_those_of_the_library() {
        assertThat(acquire.text())
                .containsOnlyOnce("local TOLERANCE = " + LockBackend.TOLERANCE_MILLIS + "\n")
                .containsOnlyOnce("local LAST_FENCE = " + Fence.MAX_VALUE + "\n")
                .containsOnlyOnce("local MAX_HAND_OVERS = " + LockBackend.MAX_HAND_OVERS + "\n");
    }

    @ParameterizedTest
    @ValueSource(strings = {"\r\n", "\r"})
    void the_line_ends_of_the_files_change_no_digest(String lineEnd) {
        Map<String, String> files = Map.of(
                "main", "-- A comment.\n\n-- include part\n\nreturn part()\n",
                "part", "-- Another one.\nlocal function part()\n    return 1 -- one\nend\n");

        RedisScript script = RedisScript.of("main", name -> files.get(name).replace("\n", lineEnd));

        assertThat(script.text()).contains("local function part()\n    return 1 -- one\nend\n");
        assertThat(script).isEqualTo(RedisScript.of("main", files::get));
    }

    @Test
    void scripts_differ_in_their_digests() {
        assertThat(acquire.digest())
                .hasSize(40)
                .isNotEqualTo(RedisScript.named("release").digest());
    }
}
