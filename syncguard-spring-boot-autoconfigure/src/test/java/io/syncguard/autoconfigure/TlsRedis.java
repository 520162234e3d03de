package io.syncguard.autoconfigure;

import io.lettuce.core.ClientOptions;
import io.lettuce.core.SslOptions;
import io.lettuce.core.SslVerifyMode;
import io.netty.handler.ssl.util.SelfSignedCertificate;
import io.syncguard.concurrent.DaemonThreadFactory;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.security.KeyStore;
import java.security.cert.Certificate;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicInteger;
import javax.net.ssl.KeyManagerFactory;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLSocket;
import org.springframework.data.redis.connection.RedisStandaloneConfiguration;
import org.springframework.data.redis.connection.lettuce.LettuceClientConfiguration;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

/** Encryption in front of a Redis server, with one of two certificates. Remembers what clients say. */
@SuppressWarnings("deprecation")
final class TlsRedis implements AutoCloseable {

    private final int redis;
    private final List<SelfSignedCertificate> certificates;
    private final ServerSocket listening = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
    private final ExecutorService threads = Executors.newCachedThreadPool(DaemonThreadFactory.named("tls"));
    private final AtomicInteger handshakes = new AtomicInteger();
    private final StringBuffer received = new StringBuffer();
    private volatile SelfSignedCertificate used;

    TlsRedis(int redis) throws IOException, GeneralSecurityException {
        this.redis = redis;
        this.certificates = List.of(new SelfSignedCertificate("127.0.0.1"), new SelfSignedCertificate("127.0.0.1"));
        this.used = certificates.get(0);
        threads.execute(this::listen);
    }

    void use(int certificate) {
        used = certificates.get(certificate);
    }

    int port() {
        return listening.getLocalPort();
    }

    /** How many handshakes have begun and are over. */
    int handshakes() {
        return handshakes.get();
    }

    String received() {
        return received.toString();
    }

    LettuceConnectionFactory trusting(String password, int certificate) {
        RedisStandaloneConfiguration details = new RedisStandaloneConfiguration("127.0.0.1", listening.getLocalPort());
        details.setUsername("locker");
        details.setPassword(password);
        SslOptions options = SslOptions.builder()
                .jdkSslProvider()
                .trustManager(certificates.get(certificate).certificate())
                .build();
        return new LettuceConnectionFactory(
                details,
                LettuceClientConfiguration.builder()
                        .clientOptions(
                                ClientOptions.builder().sslOptions(options).build())
                        .useSsl()
                        .verifyPeer(SslVerifyMode.CA)
                        .build());
    }

    @Override
    public void close() throws IOException {
        listening.close();
        threads.shutdownNow();
        certificates.forEach(SelfSignedCertificate::delete);
    }

    private void listen() {
        while (!listening.isClosed()) {
            try {
                Socket client = listening.accept();
                threads.execute(() -> serve(client));
            } catch (IOException ex) {
                continue;
            }
        }
    }

    private void serve(Socket plain) {
        try (SSLSocket client = encrypted(plain);
                Socket server = new Socket(InetAddress.getLoopbackAddress(), redis)) {
            threads.execute(() -> forwardAnswers(server, client));
            byte[] bytes = new byte[8192];
            InputStream in = client.getInputStream();
            for (int length = in.read(bytes); length > 0; length = in.read(bytes)) {
                received.append(new String(bytes, 0, length, StandardCharsets.ISO_8859_1));
                server.getOutputStream().write(bytes, 0, length);
            }
        } catch (IOException | GeneralSecurityException ex) {
            // The client refuses the certificate, or is gone.
            return;
        }
    }

    private static void forwardAnswers(Socket server, Socket client) {
        try (client) {
            server.getInputStream().transferTo(client.getOutputStream());
        } catch (IOException ex) {
            // One of the two is gone.
            return;
        }
    }

    private SSLSocket encrypted(Socket plain) throws IOException, GeneralSecurityException {
        KeyStore keys = KeyStore.getInstance("PKCS12");
        keys.load(null, null);
        SelfSignedCertificate mine = used;
        keys.setKeyEntry("server", mine.key(), new char[0], new Certificate[] {mine.cert()});
        KeyManagerFactory managers = KeyManagerFactory.getInstance(KeyManagerFactory.getDefaultAlgorithm());
        managers.init(keys, new char[0]);
        SSLContext context = SSLContext.getInstance("TLS");
        context.init(managers.getKeyManagers(), null, null);
        SSLSocket socket = (SSLSocket) context.getSocketFactory().createSocket(plain, null, plain.getPort(), true);
        socket.setUseClientMode(false);
        try {
            socket.startHandshake();
            return socket;
        } catch (IOException ex) {
            plain.close();
            throw ex;
        } finally {
            handshakes.incrementAndGet();
        }
    }
}
