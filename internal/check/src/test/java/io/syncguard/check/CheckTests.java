package io.syncguard.check;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;

import io.syncguard.check.Finding.Part;
import io.syncguard.check.Finding.Verdict;
import io.syncguard.embedded.OwnRedis;
import io.syncguard.embedded.Signals;
import io.syncguard.testing.MariaDbServer;
import io.syncguard.testing.PostgresServer;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.UncheckedIOException;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.UUID;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.postgresql.ssl.LibPQFactory;
import org.springframework.data.redis.core.RedisCallback;
import org.springframework.jdbc.core.JdbcTemplate;

class CheckTests {

    @TempDir
    private Path directory;

    @Test
    void a_sound_server_ends_with_0_and_a_report_in_three_formats() throws Exception {
        try (OwnRedis durable = new OwnRedis("appendonly yes", "appendfsync always", "dir " + directory)) {
            assertThat(check(durable.url())).isZero();
        }

        assertThat(directory.resolve("report.txt")).content().contains("No promise was broken", "Redis");
        assertThat(directory.resolve("report.json")).content().contains("\"verdict\" : \"HOLDS\"");
        assertThat(directory.resolve("report.html")).content().contains("<h2>Look at the server</h2>");
    }

    @Test
    void a_broken_promise_ends_with_1() {
        try (OwnRedis evicting = new OwnRedis("maxmemory 50mb", "maxmemory-policy allkeys-lru")) {
            assertThat(check(evicting.url())).isEqualTo(1);
        }
    }

    @ParameterizedTest
    @ValueSource(
            strings = {"jdbc:oracle:thin:@host", "redis://127.0.0.1:1", "jdbc:postgresql://127.0.0.1:1/db", "nothing"})
    void a_check_that_cannot_run_ends_with_2(String url) {
        assertThat(check(url)).isEqualTo(2);
    }

    @Test
    void a_report_that_cannot_be_written_ends_the_check_before_it_begins() {
        assertThat(Check.run(
                        io.syncguard.testing.RedisServer.url(),
                        "--report",
                        directory.resolve("missing/report").toString()))
                .isEqualTo(2);
        assertThat(Check.run(io.syncguard.testing.RedisServer.url(), "--minutes", "0"))
                .isEqualTo(2);
    }

    @Test
    void a_login_of_the_command_line_is_used_on_redis() {
        try (OwnRedis guarded = new OwnRedis("user app on >p@ss:w/rd% ~* &* +@all");
                Server ofOptions = Address.connect(guarded.url(), "app", "p@ss:w/rd%");
                Server ofBoth = Address.connect("redis://app@127.0.0.1:" + guarded.port(), "", "p@ss:w/rd%")) {
            assertThat(Stream.of(ofOptions, ofBoth))
                    .allSatisfy(server -> assertThat(
                                    ((RedisServer) server).redis().<Object>execute((RedisCallback<Object>)
                                            connection -> connection.execute("ACL", bytes("WHOAMI"))))
                            .isEqualTo(bytes("app")));
        }
    }

    private static byte[] bytes(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }

    @Test
    void a_user_who_may_not_write_gets_a_report_with_the_rights_to_grant() throws Exception {
        String role = "reader_" + UUID.randomUUID().toString().substring(0, 8);
        String postgres = PostgresServer.newDatabaseUrl();
        JdbcTemplate owner = new JdbcTemplate(PostgresServer.dataSource(postgres));
        owner.execute("CREATE ROLE " + role + " LOGIN PASSWORD 'secret'");
        owner.execute("REVOKE ALL ON SCHEMA public FROM public");
        assertThat(checkThatMayNotWrite(postgres.replaceFirst("[?].*", "?user=" + role + "&password=secret")))
                .contains("GRANT CREATE ON DATABASE");

        try (OwnRedis redis = new OwnRedis("user " + role + " on nopass ~{syncguard}:* &* +@all")) {
            assertThat(checkThatMayNotWrite(redis.url(role, "any"))).contains("ACL SETUSER");
        }
    }

    @Test
    void a_database_of_one_process_is_no_place_for_the_load() {
        assertThat(check("jdbc:h2:" + directory.resolve("orders"), "--write")).isEqualTo(2);
        assertThat(read(directory.resolve("report.txt")))
                .contains("WARNING  instances: only one process", "jdbc:h2:tcp:");
    }

    @Test
    void a_refused_command_or_certificate_names_the_next_step() throws Exception {
        try (OwnRedis redis = new OwnRedis("user app on nopass ~* &* +@all -info");
                Server server = Address.connect(redis.url("app", "any"), "", "")) {
            assertThat(Check.reason(catchThrowable(server::look))).contains("'info'", "ACL SETUSER");
        }
        Properties tls = new Properties();
        tls.setProperty("sslmode", "verify-full");
        tls.setProperty("sslrootcert", directory.resolve("missing.crt").toString());
        assertThat(Check.reason(catchThrowable(() -> new LibPQFactory(tls))))
                .contains("missing.crt", "sslrootcert=FILE");
    }

    private String checkThatMayNotWrite(String url) {
        assertThat(check(url, "--write")).isEqualTo(2);
        assertThat(read(directory.resolve("report.txt")))
                .contains("HOLDS  primary server", "NOT_TRIED  all rules: the check cannot write");
        return read(directory.resolve("report.txt"));
    }

    @Test
    void a_report_tells_no_address_user_or_password() throws Exception {
        try (OwnRedis guarded = new OwnRedis("user secret-user on >secret-password ~* &* +@all")) {
            assertThat(check("redis://secret-user:secret-password@127.0.0.1:" + guarded.port()))
                    .isNotEqualTo(2);
        }

        try (Stream<Path> files = Files.list(directory)) {
            assertThat(files.map(CheckTests::read))
                    .allSatisfy(text -> assertThat(text).doesNotContain("secret-", "127.0.0.1"));
        }
    }

    @Test
    void a_report_hides_what_messages_tell_of_the_server() {
        Report report = new Report(
                        Map.of(),
                        List.of(Finding.broken(
                                        Part.LOAD, "x", "db.example.com refused app, application", "GRANT TO app")
                                .with(List.of("password s3cret!"))),
                        Map.of())
                .without(List.of("db.example.com", "app", "s3cret!", "5432", ""));

        assertThat(report.toText())
                .contains("*** refused ***, application", "GRANT TO ***", "password ***")
                .doesNotContain("example", "s3cret");
    }

    @Test
    @Tag("verification")
    void a_part_that_cannot_run_ends_the_check_with_2_and_a_report_of_the_others() throws Exception {
        try (OwnRedis readOnly = new OwnRedis("user reader on >reader ~* &* +@all -incr -incrby")) {
            assertThat(check("redis://reader:reader@127.0.0.1:" + readOnly.port(), "--write", "--minutes", "1"))
                    .isEqualTo(2);
        }

        assertThat(directory.resolve("report.txt")).content().contains("could not run", "HOLDS  primary server");
    }

    @Test
    void the_text_of_a_server_is_no_html() {
        Report report = new Report(
                Map.of("server", "<script>alert(1)</script>"),
                List.of(Finding.holds(Part.LOOK, "x", "a < b & \"c\"").with(List.of("</pre><b>"))),
                Map.of());

        assertThat(report.toHtml())
                .doesNotContain("<script>", "</pre><b>")
                .contains("&lt;script&gt;", "a &lt; b &amp; &quot;c&quot;");
    }

    @Test
    void a_proxy_that_repeats_requests_is_found() throws Exception {
        try (Repeater proxy = new Repeater(
                        URI.create(io.syncguard.testing.RedisServer.url()).getPort(), "INCR");
                Server server = Address.connect("redis://127.0.0.1:" + proxy.port(), "", "");
                Area area = server.newArea()) {
            Finding found = Check.repeats(area);

            assertThat(found.verdict()).isEqualTo(Verdict.BROKEN);
            assertThat(found.text()).contains("counted 400 of 200 writes");
        }
    }

    @Test
    void a_clock_that_jumps_is_found() {
        AtomicLong ahead = new AtomicLong();
        ClockWatch clock = new ClockWatch(() -> System.nanoTime() / 1_000_000 + ahead.get());
        clock.look();
        clock.look();
        assertThat(clock.finding().verdict()).isEqualTo(Verdict.HOLDS);

        ahead.set(5_000);
        clock.look();

        assertThat(clock.finding().verdict()).isEqualTo(Verdict.BROKEN);
    }

    static Stream<String> servers() {
        return Stream.of(
                PostgresServer.newDatabaseUrl(),
                MariaDbServer.newDatabaseUrl(),
                io.syncguard.testing.RedisServer.url());
    }

    @ParameterizedTest
    @Tag("verification")
    @MethodSource("servers")
    void a_sound_server_breaks_no_rule_under_load(String url) {
        check(url, "--write", "--minutes", "1");

        assertThat(read(directory.resolve("report.txt")).lines())
                .filteredOn(line -> line.startsWith("  BROKEN") && !line.contains("fsync"))
                .isEmpty();
    }

    @Test
    void an_interrupted_check_leaves_nothing() throws Exception {
        String url = PostgresServer.newDatabaseUrl();
        JdbcTemplate jdbc = new JdbcTemplate(PostgresServer.dataSource(url));
        interruptInContract(url, () -> assertThat(areas(jdbc)).isEqualTo(1));

        assertThat(areas(jdbc)).isZero();
        try (OwnRedis redis = new OwnRedis()) {
            interruptInContract(
                    redis.url(), () -> assertThat(redis.commands().dbsize()).isPositive());

            assertThat(redis.commands().dbsize()).isZero();
        }
    }

    private void interruptInContract(String url, Runnable before) throws Exception {
        Process check = new ProcessBuilder(
                        Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                        "-cp",
                        System.getProperty("surefire.test.class.path", System.getProperty("java.class.path")),
                        Check.class.getName(),
                        url,
                        "--write",
                        "--report",
                        directory.resolve("report").toString())
                .redirectErrorStream(true)
                .start();
        StringBuilder printed = new StringBuilder();
        try (BufferedReader lines = new BufferedReader(new InputStreamReader(check.getInputStream()))) {
            for (String line = lines.readLine(); line != null && !line.contains("(20 of "); line = lines.readLine()) {
                printed.append(line).append('\n');
            }
            assertThat(printed).contains("  holds  ");
            before.run();
            Signals.send("INT", List.of(check.pid()));
            while (lines.readLine() != null) {
                // The process must not wait for its reader.
            }
            assertThat(check.waitFor(60, TimeUnit.SECONDS)).isTrue();
        }
    }

    private static int areas(JdbcTemplate jdbc) {
        return jdbc.queryForObject(
                "SELECT count(*) FROM pg_namespace WHERE nspname LIKE 'syncguard\\_check\\_%'", Integer.class);
    }

    private int check(String url, String... more) {
        return Check.run(Stream.concat(
                        Stream.of(url, "--report", directory.resolve("report").toString()), Stream.of(more))
                .toArray(String[]::new));
    }

    private static String read(Path file) {
        try {
            return Files.isRegularFile(file) ? Files.readString(file) : "";
        } catch (IOException ex) {
            throw new UncheckedIOException(ex);
        }
    }
}
