package io.syncguard.testing;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicBoolean;

/** Stands between a client and a Redis. It forwards bytes, and does not know where an answer ends. */
public final class RedisProxy implements ServerProxy {

    private static final int BUFFER = 8192;

    private final TcpProxy connections;
    private final AtomicBoolean losesNextAnswer = new AtomicBoolean();

    private volatile boolean swallowsMessages;

    /** Words of the server's answers, with replacements of the same length. */
    private final Map<String, String> replaced = new ConcurrentHashMap<>();

    /** @param url of the server */
    public RedisProxy(String url) {
        URI server = URI.create(url);
        this.connections = new TcpProxy(server.getHost(), server.getPort(), Bytes::new);
    }

    @Override
    public TcpProxy connections() {
        return connections;
    }

    @Override
    public String url() {
        return "redis://127.0.0.1:" + connections.port();
    }

    /** Loses the answers of the server on all existing connections from now on. New connections work. */
    public void loseWaysBack() {
        connections.loseWaysBack();
    }

    /** The same in both directions: neither side receives anything more. */
    public void loseWays() {
        connections.loseWays();
    }

    /** Calls {@link #loseWays} at the next answer of the server, when the server has executed the request. */
    public void loseWaysAtNextAnswer() {
        losesNextAnswer.set(true);
    }

    /** Replaces words in the answers of the server by others of the same length. */
    public void replaceInAnswers(String words, String others) {
        replaced.put(words, others);
    }

    /** Whether messages on channels get lost. All else passes. */
    public void swallowMessages(boolean swallow) {
        swallowsMessages = swallow;
    }

    /** The number of clients that reset a broken connection instead of closing it. */
    public int resets() {
        return connections.resets();
    }

    private final class Bytes implements TcpProxy.Traffic {

        @Override
        public void forwardRequests(TcpProxy.Link link) throws IOException {
            InputStream requests = link.client().getInputStream();
            OutputStream out = link.upstream().getOutputStream();
            byte[] buffer = new byte[BUFFER];
            for (int read = requests.read(buffer); read >= 0; read = requests.read(buffer)) {
                // A short request arrives in one read.
                if (connections.isKeptBack(new String(buffer, 0, read, StandardCharsets.ISO_8859_1))) {
                    connections.awaitLetThrough(link);
                }
                if (!link.losesRequests()) {
                    out.write(buffer, 0, read);
                }
            }
        }

        @Override
        public void forwardAnswers(TcpProxy.Link link) throws IOException {
            InputStream answers = link.upstream().getInputStream();
            OutputStream out = link.client().getOutputStream();
            byte[] buffer = new byte[BUFFER];
            boolean lost = false;
            for (int read = answers.read(buffer); read >= 0; read = answers.read(buffer)) {
                connections.delay();
                if (losesNextAnswer.compareAndSet(true, false)) {
                    connections.loseWays();
                }
                // A client that misses a part must not receive what comes after it.
                lost |= connections.isSilent() || link.losesAnswers();
                if (!lost && !isSwallowed(buffer, read)) {
                    out.write(replaceIn(buffer, read));
                }
            }
        }

        /** A short message arrives in one read. */
        private boolean isSwallowed(byte[] buffer, int length) {
            return swallowsMessages
                    && new String(buffer, 0, length, StandardCharsets.ISO_8859_1).contains("\r\nmessage\r\n");
        }

        private byte[] replaceIn(byte[] buffer, int length) {
            String answer = new String(buffer, 0, length, StandardCharsets.ISO_8859_1);
            for (Map.Entry<String, String> each : replaced.entrySet()) {
                answer = answer.replace(each.getKey(), each.getValue());
            }
            return answer.getBytes(StandardCharsets.ISO_8859_1);
        }
    }
}
