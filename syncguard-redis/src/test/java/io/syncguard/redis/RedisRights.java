package io.syncguard.redis;

import static org.assertj.core.api.Assertions.assertThat;

import io.lettuce.core.api.sync.RedisCommands;
import io.lettuce.core.codec.StringCodec;
import io.lettuce.core.output.StatusOutput;
import io.lettuce.core.protocol.CommandArgs;
import io.lettuce.core.protocol.CommandType;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.springframework.data.redis.connection.RedisConfiguration;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

/** The rights that {@code docs/security.md} asks for, and a user who has them and no others. */
final class RedisRights {

    static final String PASSWORD = "secret";

    private static final Pattern LOCKS = Pattern.compile("ACL SETUSER \\S+ on >\\S+ (.*)");

    private static final Pattern CLUSTER = Pattern.compile("In a cluster also `([^`]+)`");

    private static final Pattern SHARDS = Pattern.compile("With several shards also `([^`]+)`");

    private RedisRights() {}

    static List<String> toLock() {
        return found(LOCKS);
    }

    /** Returns all rights except those with this beginning. */
    static List<String> without(String start) {
        List<String> rights = toLock();
        assertThat(rights.removeIf(right -> right.startsWith(start))).isTrue();
        return rights;
    }

    static List<String> inACluster() {
        return found(CLUSTER);
    }

    static List<String> forShards() {
        return found(SHARDS);
    }

    /** Gives a user of this server these rights and no others. */
    static void allow(RedisCommands<String, String> server, String user, List<String> rights) {
        CommandArgs<String, String> arguments = new CommandArgs<>(StringCodec.UTF8);
        Stream.concat(Stream.of("SETUSER", user, "reset", "on", ">" + PASSWORD), rights.stream())
                .forEach(arguments::add);
        server.dispatch(CommandType.ACL, new StatusOutput<>(StringCodec.UTF8), arguments);
    }

    /** Lets an application log in as this user. */
    static LettuceConnectionFactory as(String user, LettuceConnectionFactory connections) {
        for (RedisConfiguration configuration : Arrays.asList(
                connections.getStandaloneConfiguration(),
                connections.getSentinelConfiguration(),
                connections.getClusterConfiguration())) {
            if (configuration instanceof RedisConfiguration.WithAuthentication login) {
                login.setUsername(user);
                login.setPassword(PASSWORD);
            }
        }
        return connections;
    }

    /** Finds in the document what an administrator types, as words. */
    private static List<String> found(Pattern pattern) {
        try {
            Matcher line = pattern.matcher(Files.readString(Path.of("../docs/security.md")));
            assertThat(line.find()).isTrue();
            return new ArrayList<>(List.of(line.group(1).split(" ")));
        } catch (IOException ex) {
            throw new UncheckedIOException(ex);
        }
    }
}
