package io.syncguard.redis;

import io.lettuce.core.SslOptions;
import io.netty.handler.ssl.SslContextBuilder;
import java.io.IOException;
import java.security.GeneralSecurityException;
import java.time.Duration;
import java.util.function.Supplier;
import javax.net.ssl.SSLParameters;

/**
 * The TLS options that the application has at the moment of each connection: a server that it no longer trusts gets no
 * new password. The driver asks for each connection, also when it reconnects. Thread-safe.
 */
final class RedisTls extends SslOptions {

    private final Supplier<SslOptions> options;

    /** @param options returns those that the application has at that moment */
    RedisTls(Supplier<SslOptions> options) {
        super(options.get());
        this.options = options;
    }

    @Override
    public SslContextBuilder createSslContextBuilder() throws IOException, GeneralSecurityException {
        return options.get().createSslContextBuilder();
    }

    @Override
    public SSLParameters createSSLParameters() {
        return options.get().createSSLParameters();
    }

    @Override
    public Duration getHandshakeTimeout() {
        return options.get().getHandshakeTimeout();
    }
}
