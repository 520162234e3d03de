package io.syncguard.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;
import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertAll;

import io.lettuce.core.AclSetuserArgs;
import io.lettuce.core.KillArgs;
import io.lettuce.core.protocol.CommandType;
import io.syncguard.CommitGuard;
import io.syncguard.DistributedLock;
import io.syncguard.LockException;
import io.syncguard.LockHandle;
import io.syncguard.LockManager;
import io.syncguard.LockQuery;
import io.syncguard.LockRequest;
import io.syncguard.LockTemplate;
import io.syncguard.embedded.OwnRedis;
import io.syncguard.leader.LeaderElection;
import io.syncguard.testing.CapturedLog;
import io.syncguard.testing.GoldenMessages;
import io.syncguard.testing.PostgresServer;
import java.io.IOException;
import java.net.URI;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.stream.Stream;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.support.TransactionTemplate;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/** What a person reads after a mistake with which the application starts: the exception of a call, and the warning. */
@Timeout(120)
class CallMessagesTests {

    private final ApplicationContextRunner runner = new ApplicationContextRunner()
            .withUserConfiguration(FailedStart.Application.class, Shop.class)
            .withPropertyValues(
                    "spring.flyway.enabled=false",
                    "spring.liquibase.enabled=false",
                    "syncguard.aop.max-keys=2",
                    "syncguard.wait-time=0s",
                    "syncguard.shutdown-timeout=0s",
                    "syncguard.postgres.network-timeout=500ms",
                    "syncguard.leader.elections.settlement.auto-startup=false");

    @Test
    void in_a_call() {
        runner.withUserConfiguration(AnnotationFailedStartTests.Store.class)
                .withPropertyValues(FailedStart.NO_DATA_SOURCE)
                .run(application -> {
                    Shop shop = application.getBean(Shop.class);
                    LockManager locks = application.getBean(LockManager.class);
                    LockRequest request = LockRequest.of("order", "42").owner("node-7");
                    Map<String, ThrowingCallable> mistakes = new LinkedHashMap<>();
                    mistakes.put("call-key-null", () -> shop.submit(null));
                    mistakes.put("call-key-blank", () -> shop.submit(" "));
                    mistakes.put("call-key-too-long", () -> shop.submit("x".repeat(600)));
                    mistakes.put("call-too-many-keys", () -> shop.submitAll(List.of("1", "2", "3")));
                    mistakes.put("call-no-keys", () -> shop.submitAll(List.of()));
                    mistakes.put("call-property-of-null", () -> shop.pay(null));
                    mistakes.put("call-unknown-property", () -> shop.pay("42"));
                    mistakes.put("call-name-empty", () -> LockRequest.of("", "42"));
                    mistakes.put("call-heartbeat", () -> locks.acquire(request.heartbeat(Duration.ofSeconds(15))));
                    mistakes.put("call-lock-id", () -> locks.release("order:42"));
                    LockTemplate template = new LockTemplate(locks);
                    mistakes.put("call-late-mono", () -> template.execute(request, lock -> Mono.just(1)));
                    mistakes.put("call-late-flux", () -> template.execute(request, lock -> List.of(Flux.just(1))));
                    mistakes.put(
                            "call-late-future", () -> template.execute(request, lock -> new CompletableFuture<>()));
                    mistakes.put("call-late-stream", () -> template.execute(request, lock -> Stream.of(1)));
                    mistakes.put("call-list", () -> LockQuery.all().limit(0));
                    mistakes.put(
                            "call-election",
                            () -> application.getBean(LeaderElection.class).member("settelment"));
                    mistakes.put("call-contended", () -> {
                        locks.acquire(request);
                        CompletableFuture.runAsync(() -> shop.submit("42")).get();
                    });

                    assertAll(mistakes.entrySet().stream()
                            .map(mistake -> () -> GoldenMessages.compare(
                                    mistake.getKey(), text(catchThrowable(mistake.getValue())))));
                });
    }

    @Test
    void under_a_required_guard_where_the_store_guards_no_commits() {
        Applications.on("jdbc:h2:mem:unguarded")
                .run(application -> GoldenMessages.compare("call-no-guard", text(catchThrowable(() -> {
                    TransactionTemplate transaction =
                            new TransactionTemplate(application.getBean(PlatformTransactionManager.class));
                    LockRequest request = LockRequest.of("order", "42").commitGuard(CommitGuard.REQUIRED);
                    transaction.executeWithoutResult(
                            status -> application.getBean(LockTemplate.class).execute(request, LockHandle::fence));
                }))));
    }

    @Test
    void after_a_change_of_the_database() {
        TestDatabase database = TestDatabase.withSchema();
        JdbcTemplate jdbc = database.jdbc();
        String owner = jdbc.queryForObject("SELECT current_user", String.class);
        String user = database.newRole("orders");
        jdbc.execute("GRANT ALL ON ALL TABLES IN SCHEMA public TO " + user);
        String cut = "; SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = '" + user + "'";
        runner.withPropertyValues(database.loginOf(user)).run(application -> {
            Shop shop = application.getBean(Shop.class);
            Stream.of(
                            "call-no-right | lacks | REVOKE INSERT, DELETE ON syncguard_locks FROM %s"
                                    + " | GRANT INSERT, DELETE ON syncguard_locks TO %s",
                            "call-no-right-to-run | EXECUTE | REVOKE EXECUTE ON ALL ROUTINES IN SCHEMA public FROM"
                                    + " PUBLIC"
                                    + " | GRANT EXECUTE ON ALL ROUTINES IN SCHEMA public TO PUBLIC",
                            "call-no-usage | USAGE | REVOKE USAGE ON SCHEMA public FROM PUBLIC"
                                    + " | GRANT USAGE ON SCHEMA public TO PUBLIC",
                            "call-no-connection | too many | ALTER ROLE %s CONNECTION LIMIT 0" + cut
                                    + " | ALTER ROLE %s CONNECTION LIMIT -1",
                            "call-no-login | log in | ALTER ROLE %s NOLOGIN" + cut + " | ALTER ROLE %s LOGIN",
                            "call-no-tables | relation | DROP TABLE syncguard_locks CASCADE | SELECT 1")
                    .map(row -> row.replace("%s", user).split(" \\| "))
                    .forEach(row -> {
                        jdbc.execute(row[2]);
                        String text = text(failureWith(row[1], () -> shop.submit("42")));
                        GoldenMessages.compare(
                                row[0],
                                text.replace("'" + owner + "'", "'migration'").replace(user, "orders"));
                        jdbc.execute(row[3]);
                    });
        });
    }

    @ParameterizedTest
    @CsvSource({
        "spring.data.redis.url=redis://127.0.0.1:1, redis-down",
        "spring.data.redis.cluster.nodes=127.0.0.1:1, redis-cluster-down",
        "spring.data.redis.sentinel.nodes=127.0.0.1:1, redis-sentinel-down"
    })
    void without_redis(String server, String mistake) {
        try (CapturedLog log = new CapturedLog()) {
            runner.withPropertyValues(FailedStart.NO_DATA_SOURCE, server)
                    .withPropertyValues(
                            server.contains("sentinel") ? "spring.data.redis.sentinel.master=shop" : "shop=")
                    .run(application -> {
                        String failure = text(catchThrowable(
                                () -> application.getBean(Shop.class).submit("42")));
                        GoldenMessages.compare(
                                mistake, "WARN " + String.join("\nWARN ", log.messages()) + "\n" + failure);
                    });
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"url=redis://%s", "cluster.nodes=%s", "sentinel.nodes=%s"})
    void where_another_server_than_redis_is(String server) throws IOException {
        try (NoRedis web = new NoRedis("HTTP/1.1 400 Bad Request\r\n\r\n");
                NoRedis reset = new NoRedis("")) {
            redisAt(server, web.port(), "redis-is-web");
            redisAt(server, reset.port(), "redis-is-postgres");
        }
        redisAt(
                server,
                URI.create(PostgresServer.newDatabaseUrl().substring("jdbc:".length()))
                        .getPort(),
                "redis-is-postgres");
    }

    private void redisAt(String server, int port, String mistake) {
        try (CapturedLog log = new CapturedLog()) {
            runner.withPropertyValues(
                            FailedStart.NO_DATA_SOURCE,
                            "spring.data.redis." + server.formatted("127.0.0.1:" + port),
                            server.contains("sentinel") ? "spring.data.redis.sentinel.master=shop" : "shop=")
                    .run(application -> GoldenMessages.compare(
                            mistake,
                            log.messages()
                                    .get(0)
                                    .replace("of the sentinels", "at")
                                    .replace(":" + port, ":6379")));
        }
    }

    @Test
    void after_a_change_of_redis() {
        try (OwnRedis redis = new OwnRedis()) {
            redis.commands()
                    .aclSetuser(
                            "shop",
                            new AclSetuserArgs()
                                    .on()
                                    .addPassword("a")
                                    .allKeys()
                                    .allChannels()
                                    .allCommands());
            runner.withPropertyValues(FailedStart.NO_DATA_SOURCE, "spring.data.redis.url=" + redis.url("shop", "a"))
                    .run(application -> {
                        Map<String, Runnable> changes = new LinkedHashMap<>();
                        changes.put(
                                "redis-call-no-right NOPERM",
                                () -> redis.commands()
                                        .aclSetuser("shop", new AclSetuserArgs().removeCommand(CommandType.EVALSHA)));
                        changes.put("redis-call-password WRONGPASS", () -> {
                            redis.commands()
                                    .aclSetuser(
                                            "shop",
                                            new AclSetuserArgs()
                                                    .removePassword("a")
                                                    .addPassword("b"));
                            redis.commands()
                                    .clientKill(KillArgs.Builder.typeNormal().skipme());
                        });
                        changes.put("redis-call-down reached", redis::kill);
                        changes.forEach((mistakeAndWord, change) -> {
                            change.run();
                            String[] names = mistakeAndWord.split(" ");
                            String text = text(failureWith(
                                    names[1],
                                    () -> application.getBean(Shop.class).submit("42")));
                            GoldenMessages.compare(names[0], text.replace(":" + redis.port(), ":6379"));
                        });
                    });
        }
    }

    /** The failure of a call that is repeated until its message has the word: the connections notice a change late. */
    private static Throwable failureWith(String word, ThrowingCallable call) {
        return await().atMost(Duration.ofSeconds(30))
                .pollInterval(Duration.ofMillis(20))
                .until(
                        () -> catchThrowable(call),
                        failure -> failure != null
                                && String.valueOf(failure.getMessage()).contains(word));
    }

    private static String text(@Nullable Throwable failure) {
        assertThat(failure).isNotNull();
        Throwable shown = failure instanceof LockException || failure.getCause() == null ? failure : failure.getCause();
        return (shown.getClass().getSimpleName() + ": " + shown.getMessage())
                .replace(CallMessagesTests.class.getName() + "$", "com.example.")
                .replaceAll("NOPERM .*?\\.(?= Grant)", "NOPERM <words>.")
                .replaceAll("function \\w+\\(.*?\\)", "function <name>")
                .replaceAll("since \\S+Z", "since <time>")
                .replaceAll("after \\d+ ms", "after <n> ms");
    }

    static class Shop {

        @DistributedLock(name = "order", key = "#id")
        public void submit(@Nullable String id) {}

        @DistributedLock(name = "order", key = "#ids")
        public void submitAll(List<String> ids) {}

        @DistributedLock(name = "order", key = "#order.id")
        public void pay(@Nullable Object order) {}
    }
}
