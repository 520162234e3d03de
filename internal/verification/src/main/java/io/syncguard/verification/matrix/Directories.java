package io.syncguard.verification.matrix;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;

/** Directories for servers. */
final class Directories {

    private Directories() {}

    static Path newTemporary(String of) {
        try {
            return Files.createTempDirectory("syncguard-matrix-" + of + "-");
        } catch (IOException ex) {
            throw new UncheckedIOException(ex);
        }
    }
}
