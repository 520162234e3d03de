package io.syncguard.docs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.lettuce.core.codec.StringCodec;
import io.lettuce.core.output.ArrayOutput;
import io.lettuce.core.protocol.CommandArgs;
import io.lettuce.core.protocol.CommandType;
import io.syncguard.LockHandle;
import io.syncguard.LockManager;
import io.syncguard.LockRequest;
import io.syncguard.autoconfigure.RedisLockAutoConfiguration;
import io.syncguard.autoconfigure.SyncGuardAutoConfiguration;
import io.syncguard.embedded.OwnRedis;
import io.syncguard.testing.SortedAutoConfigurations;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.springframework.boot.autoconfigure.aop.AopAutoConfiguration;
import org.springframework.boot.data.redis.autoconfigure.DataRedisAutoConfiguration;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;

/** The commands for {@code redis-cli} in docs/hanging-lock.md, sent to a Redis with locks. */
@Timeout(60)
class RedisCommandTests {

    @Test
    void each_command_shows_an_exclusive_lock_its_queue_or_readers() {
        List<String> commands = DocumentBlock.in("sh").stream()
                .filter(block -> block.page().equals("docs/hanging-lock.md"))
                .flatMap(block -> block.text().lines())
                .filter(line -> line.startsWith("redis-cli "))
                .map(line -> line.replaceFirst("\\s+#.*", ""))
                .toList();
        assertThat(commands).isNotEmpty();
        List<String> silent = new ArrayList<>(commands);
        try (OwnRedis redis = new OwnRedis()) {
            new ApplicationContextRunner()
                    .withConfiguration(SortedAutoConfigurations.of(
                            AopAutoConfiguration.class,
                            DataRedisAutoConfiguration.class,
                            RedisLockAutoConfiguration.class,
                            SyncGuardAutoConfiguration.class))
                    .withPropertyValues("spring.data.redis.url=" + redis.url())
                    .run(context -> {
                        LockManager locks = context.getBean(LockManager.class);
                        LockRequest order = LockRequest.of("order:42");
                        LockHandle exclusive = locks.acquire(order);
                        CompletableFuture<Void> waiting =
                                CompletableFuture.runAsync(() -> locks.acquire(order.waitTime(Duration.ofSeconds(50)))
                                        .release());
                        await().untilAsserted(() -> {
                            silent.removeIf(command -> shows(redis, command));
                            assertThat(silent).noneMatch(command -> command.contains(":queue:"));
                        });
                        exclusive.release();
                        waiting.join();

                        LockHandle reader = locks.acquire(order.shared());
                        silent.removeIf(command -> shows(redis, command));
                        reader.release();
                    });
        }
        assertThat(silent).isEmpty();
    }

    private static boolean shows(OwnRedis redis, String command) {
        return answer(redis, command).stream()
                .anyMatch(part -> part instanceof List<?> list ? !list.isEmpty() : part != null && !part.equals("0"));
    }

    private static List<Object> answer(OwnRedis redis, String command) {
        List<String> words = Stream.of(command.replace("--scan --pattern", "SCAN 0 MATCH")
                        .replaceFirst("^redis-cli ", "")
                        .replace("'", "")
                        .split(" "))
                .toList();
        return redis.commands()
                .dispatch(
                        CommandType.valueOf(words.get(0)),
                        new ArrayOutput<>(StringCodec.UTF8),
                        new CommandArgs<>(StringCodec.UTF8).addValues(words.subList(1, words.size())));
    }
}
