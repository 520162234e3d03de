package io.syncguard.autoconfigure;

import io.syncguard.embedded.OwnPostgres;
import io.syncguard.testing.PostgresImpostor;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.security.GeneralSecurityException;
import java.security.KeyStore;
import java.util.Base64;
import java.util.List;
import java.util.Properties;
import java.util.concurrent.TimeUnit;

/**
 * A PostgreSQL with a certificate, which somebody in the network path may replace. It wants encryption and a password.
 */
final class EncryptedPostgres implements AutoCloseable {

    static final String USER = "shop";
    static final String PASSWORD = "secret";
    private static final char[] STORE_PASSWORD = "changeit".toCharArray();

    private final OwnPostgres server = new OwnPostgres();
    private final PostgresImpostor path;

    EncryptedPostgres() throws IOException, GeneralSecurityException, InterruptedException {
        server.jdbc().execute("CREATE ROLE " + USER + " LOGIN PASSWORD '" + PASSWORD + "'");
        server.jdbc().execute("GRANT ALL ON SCHEMA public TO " + USER);
        writeCertificate();
        Path rules = server.data().resolve("pg_hba.conf");
        Files.writeString(rules, "hostssl all " + USER + " all scram-sha-256\n" + Files.readString(rules));
        server.jdbc().execute("ALTER SYSTEM SET ssl = on");
        server.jdbc().queryForObject("SELECT pg_reload_conf()", Boolean.class);
        path = new PostgresImpostor(server.port());
    }

    OwnPostgres server() {
        return server;
    }

    PostgresImpostor path() {
        return path;
    }

    /** An URL without any property, through the path. */
    String url() {
        return "jdbc:postgresql://127.0.0.1:" + path.port() + "/postgres";
    }

    String certificate() {
        return server.data().resolve("server.crt").toString();
    }

    /** Driver properties that refuse any other server. */
    Properties verified() {
        Properties properties = new Properties();
        properties.setProperty("sslmode", "verify-full");
        properties.setProperty("sslrootcert", certificate());
        return properties;
    }

    /** How each session of the user is encrypted. */
    List<Boolean> encryption() {
        return server.jdbc()
                .queryForList(
                        "SELECT ssl FROM pg_stat_ssl JOIN pg_stat_activity USING (pid) WHERE usename = ?",
                        Boolean.class,
                        USER);
    }

    private void writeCertificate() throws IOException, GeneralSecurityException, InterruptedException {
        Path store = server.data().resolve("server.p12");
        Process keytool = new ProcessBuilder(
                        Path.of(System.getProperty("java.home"), "bin", "keytool")
                                .toString(),
                        "-genkeypair",
                        "-alias",
                        "server",
                        "-keyalg",
                        "EC",
                        "-dname",
                        "CN=localhost",
                        "-ext",
                        "san=ip:127.0.0.1",
                        "-keystore",
                        store.toString(),
                        "-storepass",
                        new String(STORE_PASSWORD))
                .inheritIO()
                .start();
        if (!keytool.waitFor(30, TimeUnit.SECONDS) || keytool.exitValue() != 0) {
            throw new IllegalStateException("keytool made no certificate");
        }
        KeyStore keys = KeyStore.getInstance(store.toFile(), STORE_PASSWORD);
        writePem("server.crt", "CERTIFICATE", keys.getCertificate("server").getEncoded());
        writePem(
                "server.key",
                "PRIVATE KEY",
                keys.getKey("server", STORE_PASSWORD).getEncoded());
    }

    private void writePem(String file, String type, byte[] content) throws IOException {
        String text = Base64.getMimeEncoder(64, new byte[] {'\n'}).encodeToString(content);
        Path path = server.data().resolve(file);
        Files.writeString(path, "-----BEGIN " + type + "-----\n" + text + "\n-----END " + type + "-----\n");
        Files.setPosixFilePermissions(path, PosixFilePermissions.fromString("rw-------"));
    }

    @Override
    public void close() throws IOException {
        path.close();
        server.close();
    }
}
