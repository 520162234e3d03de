package io.syncguard.testing;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.URI;
import java.time.Duration;

/** Stands between a client and a Redis, byte by byte: it does not know where an answer ends. */
public final class RedisProxy implements ServerProxy {

    private static final int BUFFER = 8192;

    private final TcpProxy connections;

    /** @param url of the server */
    public RedisProxy(String url) {
        URI server = URI.create(url);
        this.connections = new TcpProxy(server.getHost(), server.getPort(), Bytes::new);
    }

    @Override
    public String url() {
        return "redis://127.0.0.1:" + connections.port();
    }

    @Override
    public void fallSilent() {
        connections.fallSilent();
    }

    @Override
    public void speakAgain() {
        connections.speakAgain();
    }

    @Override
    public void delayAnswers(Duration delay) {
        connections.delayAnswers(delay);
    }

    @Override
    public void cut() {
        connections.cut();
    }

    @Override
    public void reset() {
        connections.reset();
    }

    @Override
    public void close() {
        connections.close();
    }

    private final class Bytes implements TcpProxy.Traffic {

        @Override
        public void forwardRequests(TcpProxy.Link link) throws IOException {
            link.client().getInputStream().transferTo(link.upstream().getOutputStream());
        }

        @Override
        public void forwardAnswers(TcpProxy.Link link) throws IOException {
            InputStream answers = link.upstream().getInputStream();
            OutputStream out = link.client().getOutputStream();
            byte[] buffer = new byte[BUFFER];
            boolean lost = false;
            for (int read = answers.read(buffer); read >= 0; read = answers.read(buffer)) {
                connections.delay();
                // Who misses a part must not see what comes after it.
                lost |= connections.isSilent();
                if (!lost) {
                    out.write(buffer, 0, read);
                }
            }
        }
    }
}
