package io.syncguard.verification.stress;

import io.syncguard.redis.RedisSettings;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.UncheckedIOException;
import java.net.Socket;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The changes of the lock scripts in a Redis, from a connection with MONITOR. The server keeps the output until the
 * test reads it at the end. A restart of the server would end the connection.
 */
final class RedisRowLog {

    private static final Pattern LINE = Pattern.compile("\\+(\\d+)\\.(\\d{6}) \\[\\d+ (\\S+)] (.*)");
    private static final Pattern ARGUMENT = Pattern.compile("\"((?:[^\"\\\\]++|\\\\.)*+)\"");

    private final Socket socket;
    private final BufferedReader lines;

    RedisRowLog(String url) {
        URI server = URI.create(url);
        try {
            socket = new Socket(server.getHost(), server.getPort());
            lines = new BufferedReader(new InputStreamReader(socket.getInputStream(), StandardCharsets.UTF_8));
            send("MONITOR");
            String answer = lines.readLine();
            if (!"+OK".equals(answer)) {
                throw new IllegalStateException("Redis does not show its commands: " + answer);
            }
        } catch (IOException ex) {
            throw new UncheckedIOException(ex);
        }
    }

    private void send(String command) throws IOException {
        socket.getOutputStream().write((command + "\r\n").getBytes(StandardCharsets.UTF_8));
    }

    /** The changes of each of these keys, in their order. Ends the connection. */
    List<List<RowChange>> ofBusiestKeys(int limit) throws IOException {
        RedisRows rows = new RedisRows(RedisSettings.KEY_PREFIX);
        try (socket) {
            send("QUIT");
            lines.lines().map(LINE::matcher).filter(Matcher::matches).forEach(line -> read(line, rows));
        }
        return rows.ofBusiestKeys(limit);
    }

    private static void read(Matcher line, RedisRows rows) {
        if (!line.group(3).equals("lua")) {
            rows.end();
            return;
        }
        List<String> command = new ArrayList<>();
        ARGUMENT.matcher(line.group(4)).results().forEach(argument -> command.add(argument.group(1)));
        rows.run(Long.parseLong(line.group(1) + line.group(2)), command);
    }
}
