package io.syncguard.embedded;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.attribute.FileAttribute;
import java.nio.file.attribute.PosixFileAttributes;
import java.nio.file.attribute.PosixFilePermission;
import java.nio.file.attribute.PosixFilePermissions;
import java.nio.file.attribute.UserPrincipal;
import java.util.Set;

/**
 * The directory of a user's servers in a directory of all users, such as {@code /tmp/syncguard-ann}. Another user could
 * prepare one of that name with programs in it. So a directory counts only if it belongs to this user and is closed to
 * others. Otherwise the next name is tried.
 */
final class UserDirectory {

    private static final Set<PosixFilePermission> CLOSED = PosixFilePermissions.fromString("rwx------");

    private static final int NAMES = 100;

    private UserDirectory() {}

    /** The one in the directory for temporary files. */
    static Path temporary() {
        return in(Path.of(System.getProperty("java.io.tmpdir")));
    }

    static Path in(Path shared) {
        String name = "syncguard-" + System.getProperty("user.name").replaceAll("[^A-Za-z0-9._-]", "_");
        try {
            for (int number = 1; number <= NAMES; number++) {
                Path directory = shared.resolve(number == 1 ? name : name + "-" + number);
                if (createdOrOwn(shared, directory)) {
                    return directory.toRealPath();
                }
            }
        } catch (IOException ex) {
            throw new UncheckedIOException(ex);
        }
        throw new IllegalStateException(
                "Other users have taken " + shared.resolve(name) + " and the " + (NAMES - 1) + " names after it");
    }

    private static boolean createdOrOwn(Path shared, Path directory) throws IOException {
        boolean hasUsers = Files.getFileStore(shared).supportsFileAttributeView("posix");
        try {
            Files.createDirectory(
                    directory,
                    hasUsers
                            ? new FileAttribute<?>[] {PosixFilePermissions.asFileAttribute(CLOSED)}
                            : new FileAttribute<?>[0]);
            return true;
        } catch (FileAlreadyExistsException ex) {
            return !hasUsers || isOwn(shared, directory);
        }
    }

    private static boolean isOwn(Path shared, Path directory) throws IOException {
        PosixFileAttributes found =
                Files.readAttributes(directory, PosixFileAttributes.class, LinkOption.NOFOLLOW_LINKS);
        return found.isDirectory()
                && found.permissions().equals(CLOSED)
                && found.owner().equals(thisUser(shared));
    }

    /** The owner of a new file: the name of a user may be unknown, as in a container. */
    private static UserPrincipal thisUser(Path shared) throws IOException {
        Path probe = Files.createTempFile(shared, "syncguard-", ".owner");
        try {
            return Files.getOwner(probe);
        } finally {
            Files.delete(probe);
        }
    }
}
