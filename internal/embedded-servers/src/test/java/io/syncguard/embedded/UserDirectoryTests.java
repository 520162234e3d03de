package io.syncguard.embedded;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Somebody may have prepared a directory of the name that tests use. */
class UserDirectoryTests {

    @TempDir
    private Path shared;

    private Path usual;

    @BeforeEach
    void findTheUsualName() throws IOException {
        usual = UserDirectory.in(shared);
        assertThat(Files.getPosixFilePermissions(usual)).isEqualTo(PosixFilePermissions.fromString("rwx------"));
        assertThat(UserDirectory.in(shared)).isEqualTo(usual);
    }

    @Test
    void a_directory_that_others_may_write_is_not_used() throws IOException {
        Files.setPosixFilePermissions(usual, PosixFilePermissions.fromString("rwxrwxrwx"));

        assertAnotherIsUsed();
    }

    @Test
    void a_link_to_a_directory_is_not_used() throws IOException {
        Path target = Files.move(usual, shared.resolve("target"));
        Files.createSymbolicLink(usual, target);

        assertAnotherIsUsed();
    }

    @Test
    void a_file_is_not_used() throws IOException {
        Files.delete(usual);
        Files.createFile(usual, PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwx------")));

        assertAnotherIsUsed();
    }

    @Test
    void a_directory_of_another_user_is_not_used() throws IOException {
        assumeTrue("root".equals(System.getProperty("user.name")), "only root can give a directory to another user");
        Files.setOwner(
                usual, shared.getFileSystem().getUserPrincipalLookupService().lookupPrincipalByName("nobody"));

        assertAnotherIsUsed();
    }

    private void assertAnotherIsUsed() {
        Path another = UserDirectory.in(shared);
        assertThat(another).isEqualTo(usual.resolveSibling(usual.getFileName() + "-2"));
        assertThat(UserDirectory.in(shared)).isEqualTo(another);
    }
}
