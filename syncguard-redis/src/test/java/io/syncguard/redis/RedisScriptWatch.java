package io.syncguard.redis;

import io.lettuce.core.AclCategory;
import io.lettuce.core.RedisClient;
import io.lettuce.core.RedisCommandExecutionException;
import io.lettuce.core.RedisCredentials;
import io.lettuce.core.RedisURI;
import io.lettuce.core.api.sync.RedisCommands;
import io.lettuce.core.codec.StringCodec;
import io.lettuce.core.models.command.CommandDetail;
import io.lettuce.core.models.command.CommandDetailParser;
import io.lettuce.core.output.KeyListOutput;
import io.lettuce.core.protocol.CommandArgs;
import io.lettuce.core.protocol.CommandType;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.UncheckedIOException;
import java.net.Socket;
import java.nio.charset.Charset;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Queue;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.awaitility.Awaitility;

/**
 * Watches by {@code MONITOR} all scripts that run on a server for some prefixes, with their commands, and finds keys
 * that a command touches and its script has not declared: other servers refuse such commands. A server runs one script
 * at a time, so the commands after the line of a script belong to it, however many connections there are. The server
 * tells the positions of a command's keys.
 */
final class RedisScriptWatch implements AutoCloseable {

    /** The server sends one byte for each character. */
    private static final Charset BYTES = StandardCharsets.ISO_8859_1;

    /** Ends what a line says of its client. A script calls itself {@code lua}. */
    private static final String CLIENT_END = "] \"";

    private static final String ESCAPES = "nrtab";

    private static final String ESCAPED = "\n\r\t\007\b";

    private static final Set<AclCategory> OF_DATA =
            Set.of(AclCategory.KEYSPACE, AclCategory.READ, AclCategory.WRITE, AclCategory.DANGEROUS);

    /** Cached by the URL of the server, which needs a while to send them. */
    private static final Map<String, Map<String, CommandDetail>> DETAILS = new ConcurrentHashMap<>();

    private final RedisClient client;
    private final RedisCommands<String, String> server;
    private final Map<String, CommandDetail> details;

    /** Commands without keys that were looked up before. */
    private final Set<String> withoutKeys = new LinkedHashSet<>();

    private final RedisURI uri;
    private volatile Socket monitor;
    private volatile boolean closed;
    private final CompletableFuture<Void> begun = new CompletableFuture<>();
    private final Map<String, CompletableFuture<Void>> marks = new ConcurrentHashMap<>();

    /** The hash tags of the prefixes. In a shard, a number follows. */
    private final Set<String> tags = ConcurrentHashMap.newKeySet();

    /** The lines of each script: its own, then those of its commands. */
    private final Queue<List<String>> scripts = new ConcurrentLinkedQueue<>();

    /** @param url the URL of the server, with an administrator's login */
    RedisScriptWatch(String url) {
        client = RedisClient.create(url);
        server = client.connect().sync();
        details = DETAILS.computeIfAbsent(
                url,
                any -> CommandDetailParser.parse(server.command()).stream()
                        .collect(Collectors.toMap(CommandDetail::getName, command -> command)));
        uri = RedisURI.create(url);
        monitor = monitor(uri);
        Thread reader = new Thread(this::read, "monitor");
        reader.setDaemon(true);
        reader.start();
        begun.orTimeout(30, TimeUnit.SECONDS).join();
    }

    /** Returns the commands of the administrator. */
    RedisCommands<String, String> commands() {
        return server;
    }

    /** Watches the scripts of a prefix from now on. */
    void watch(String prefix) {
        tags.add(prefix.substring(prefix.indexOf('{'), prefix.indexOf('}')));
    }

    /** Returns the commands that have touched undeclared keys since the last call, with these keys. */
    Set<String> undeclared() {
        String mark = UUID.randomUUID().toString();
        CompletableFuture<Void> seen = new CompletableFuture<>();
        marks.put(mark, seen);
        Awaitility.await()
                .atMost(Duration.ofSeconds(30))
                .pollDelay(Duration.ZERO)
                .until(() -> {
                    server.echo(mark);
                    return isDone(seen);
                });
        marks.remove(mark);
        Set<String> found = new LinkedHashSet<>();
        for (List<String> script = scripts.poll(); script != null; script = scripts.poll()) {
            Set<String> declared = new LinkedHashSet<>(declared(words(script.get(0))));
            script.stream()
                    .skip(1)
                    .map(RedisScriptWatch::words)
                    .forEach(command -> keys(command).stream()
                            .filter(key -> !declared.contains(key))
                            .forEach(key -> found.add(name(command).toUpperCase(Locale.ROOT) + " " + key)));
        }
        return found;
    }

    @Override
    public void close() {
        closed = true;
        try {
            monitor.close();
        } catch (IOException ex) {
            throw new UncheckedIOException(ex);
        } finally {
            client.shutdown();
        }
    }

    private static Socket monitor(RedisURI uri) {
        try {
            Socket socket = new Socket(uri.getHost(), uri.getPort());
            RedisCredentials login =
                    uri.getCredentialsProvider().resolveCredentials().block();
            String auth = login == null || !login.hasPassword()
                    ? ""
                    : "AUTH " + (login.hasUsername() ? login.getUsername() + " " : "") + new String(login.getPassword())
                            + "\r\n";
            socket.getOutputStream().write((auth + "MONITOR\r\n").getBytes(StandardCharsets.UTF_8));
            return socket;
        } catch (IOException ex) {
            throw new UncheckedIOException(ex);
        }
    }

    private void read() {
        try {
            for (readAll(); !closed; readAll()) {
                monitor = monitor(uri);
            }
        } catch (IOException | RuntimeException ex) {
            begun.completeExceptionally(ex);
            marks.values().forEach(mark -> mark.completeExceptionally(ex));
        }
    }

    /** Reads until one side closes the connection. */
    private void readAll() throws IOException {
        try (BufferedReader lines = new BufferedReader(new InputStreamReader(monitor.getInputStream(), BYTES))) {
            List<String> script = new ArrayList<>();
            for (String line = lines.readLine(); line != null; line = lines.readLine()) {
                int clientEnd = line.indexOf(CLIENT_END);
                if (clientEnd > 0) {
                    if (!line.startsWith(" lua", clientEnd - 4)) {
                        ended(script);
                        script = new ArrayList<>();
                        complete(line);
                    }
                    script.add(line.substring(clientEnd + 2));
                } else if (line.startsWith("-")) {
                    throw new IOException(line);
                } else {
                    begun.complete(null);
                }
            }
        }
    }

    private void ended(List<String> script) {
        if (script.size() > 1 && script.stream().anyMatch(this::isOfPrefix)) {
            scripts.add(script);
        }
    }

    private void complete(String line) {
        marks.forEach((mark, seen) -> {
            if (line.contains(mark)) {
                seen.complete(null);
            }
        });
    }

    private boolean isOfPrefix(String line) {
        for (int begin = line.indexOf('{'); begin >= 0; begin = line.indexOf('{', begin + 1)) {
            int end = begin;
            while (end < line.length() && line.charAt(end) != '}' && line.charAt(end) != '#') {
                end++;
            }
            if (tags.contains(line.substring(begin, end))) {
                return true;
            }
        }
        return false;
    }

    /** Both for scripts and for functions, the number of the keys is the second argument. */
    private static List<String> declared(List<String> script) {
        return script.subList(3, 3 + Integer.parseInt(script.get(2)));
    }

    private List<String> keys(List<String> command) {
        CommandDetail detail = details.get(name(command));
        int first = detail.getFirstKeyPosition();
        if (detail.getFlags().contains(CommandDetail.Flag.MOVABLEKEYS)) {
            return askForKeys(command);
        }
        if (first > 0) {
            int last = detail.getLastKeyPosition();
            List<String> keys = new ArrayList<>();
            for (int i = first; i <= (last < 0 ? command.size() + last : last); i += detail.getKeyStepCount()) {
                keys.add(command.get(i));
            }
            return keys;
        }
        if (!Collections.disjoint(detail.getAclCategories(), OF_DATA)) {
            return List.of("(any key)");
        }
        // A command may have sub-commands with keys.
        String subCommand = name(command) + (detail.getArity() == -2 ? " " + command.get(1) : "");
        if (withoutKeys.contains(subCommand)) {
            return List.of();
        }
        List<String> keys = askForKeys(command);
        if (keys.isEmpty()) {
            withoutKeys.add(subCommand);
        }
        return keys;
    }

    private List<String> askForKeys(List<String> command) {
        if (command.size() == 1) {
            // One word has no keys, and Redis 7.0 refuses the question.
            return List.of();
        }
        CommandArgs<String, String> arguments = new CommandArgs<>(StringCodec.UTF8).add("GETKEYS");
        command.forEach(word -> arguments.add(word.getBytes(BYTES)));
        try {
            return server.dispatch(CommandType.COMMAND, new KeyListOutput<>(new StringCodec(BYTES)), arguments);
        } catch (RedisCommandExecutionException ex) {
            if (String.valueOf(ex.getMessage()).contains("no key arguments")) {
                return List.of();
            }
            throw ex;
        }
    }

    private static String name(List<String> command) {
        return command.get(0).toLowerCase(Locale.ROOT);
    }

    /** Valkey 8.1 escapes neither quotes nor backslashes, so an argument with {@code " "} would be two there. */
    private static List<String> words(String line) {
        return Stream.of(line.substring(1, line.length() - 1).split("\" \"", -1))
                .map(RedisScriptWatch::unescaped)
                .toList();
    }

    private static String unescaped(String word) {
        StringBuilder text = new StringBuilder();
        for (int i = 0; i < word.length(); i++) {
            char next = word.charAt(i);
            if (next != '\\' || i + 1 == word.length()) {
                text.append(next);
            } else if (word.charAt(++i) == 'x' && i + 2 < word.length()) {
                text.append((char) Integer.parseInt(word, i + 1, i + 3, 16));
                i += 2;
            } else {
                int control = ESCAPES.indexOf(word.charAt(i));
                text.append(control < 0 ? word.charAt(i) : ESCAPED.charAt(control));
            }
        }
        return text.toString();
    }

    /** Waits at most a second for the event, because a test may have cut the connection that would have seen it. */
    private static boolean isDone(CompletableFuture<Void> event) throws Exception {
        try {
            event.get(1, TimeUnit.SECONDS);
            return true;
        } catch (TimeoutException ex) {
            return false;
        }
    }
}
