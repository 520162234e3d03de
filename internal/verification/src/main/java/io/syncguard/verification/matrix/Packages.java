package io.syncguard.verification.matrix;

import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;
import java.util.stream.Stream;

/** The servers of a Linux distribution. A campaign that needs one is skipped where it is not installed. */
final class Packages {

    private static final Path POSTGRES = Path.of("/usr/lib/postgresql");

    private Packages() {}

    /** The directory with the programs of the latest version. */
    static Path postgres() {
        Optional<Path> latest = children(POSTGRES)
                .map(version -> version.resolve("bin"))
                .filter(programs -> Files.isExecutable(programs.resolve("postgres")))
                .max(Path::compareTo);
        assumeTrue(latest.isPresent(), "no PostgreSQL in " + POSTGRES + ": Debian's package is postgresql");
        return latest.orElseThrow();
    }

    /** The program of Valkey if it is installed, else that of Redis. */
    static Path redis() {
        Optional<Path> server = Stream.of("/usr/bin/valkey-server", "/usr/bin/redis-server")
                .map(Path::of)
                .filter(Files::isExecutable)
                .findFirst();
        assumeTrue(server.isPresent(), "no valkey-server or redis-server: Debian's package is redis-server");
        return server.orElseThrow();
    }

    private static Stream<Path> children(Path directory) {
        if (!Files.isDirectory(directory)) {
            return Stream.empty();
        }
        try (Stream<Path> all = Files.list(directory)) {
            return all.toList().stream();
        } catch (IOException ex) {
            throw new UncheckedIOException(ex);
        }
    }
}
