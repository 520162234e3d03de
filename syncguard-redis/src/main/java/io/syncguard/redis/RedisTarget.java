package io.syncguard.redis;

import java.util.List;
import java.util.Objects;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.springframework.data.redis.connection.RedisNode;

/**
 * The servers to which the settings of the application lead.
 *
 * @param name for messages, such as {@code Redis at 127.0.0.1:6379}
 * @param kind the kind of server that the settings are for
 * @param nodes the servers that the settings name
 * @param tls whether connections are encrypted
 */
record RedisTarget(String name, Kind kind, List<RedisNode> nodes, boolean tls) {

    /** All addresses, for messages. */
    String addresses() {
        return nodes.stream().map(RedisNode::asString).sorted().collect(Collectors.joining(", "));
    }

    /** Whether the settings name this server. Otherwise a sentinel or a cluster has announced it. */
    boolean names(String host, int port) {
        return nodes.stream().anyMatch(node -> host.equals(node.getHost()) && Objects.equals(node.getPort(), port));
    }

    /** A kind of server, each with settings of its own. */
    enum Kind {
        SERVER("a single Redis", "a single Redis", "spring.data.redis.url or spring.data.redis.host"),
        SENTINEL("a sentinel", "sentinels", "spring.data.redis.sentinel.nodes and spring.data.redis.sentinel.master"),
        CLUSTER("a node of a cluster", "a cluster", "spring.data.redis.cluster.nodes");

        private final String one;
        private final String all;
        private final String properties;

        Kind(String one, String all, String properties) {
            this.one = one;
            this.all = all;
            this.properties = properties;
        }

        /** @param mode that the server says in INFO */
        static @Nullable Kind ofMode(String mode) {
            return switch (mode) {
                case "standalone" -> SERVER;
                case "sentinel" -> SENTINEL;
                case "cluster" -> CLUSTER;
                default -> null;
            };
        }

        /** What one server of this kind is. */
        String one() {
            return one;
        }

        /** What the settings are for. */
        String all() {
            return all;
        }

        /** The properties that lead to a server of this kind. */
        String properties() {
            return properties;
        }
    }
}
