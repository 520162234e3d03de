package io.syncguard.testing;

import io.syncguard.testing.ChangedLibrary.Edit;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.List;
import org.springframework.util.FileSystemUtils;

/** A bug that a test plants into a class of the library, to see that a checker finds it. */
public final class PlantedBug {

    private final Edit edit;

    private PlantedBug(Edit edit) {
        this.edit = edit;
    }

    /** Has the wrong text in place of the correct one, which occurs once. */
    public static PlantedBug in(Class<?> type, String correct, String wrong) {
        return new PlantedBug(new Edit("java/" + type.getName().replace('.', '/') + ".java", correct, wrong));
    }

    /** Asks a process in which the class has the bug. */
    String ask(Class<?> main, String question) {
        try {
            ChangedLibrary library = ChangedLibrary.with(List.of(edit));
            try (ChildJvm child = ChildJvm.start(library.directory(), main)) {
                return child.ask(question, Interleavings.PATIENCE_SECONDS);
            } finally {
                FileSystemUtils.deleteRecursively(library.directory());
            }
        } catch (IOException ex) {
            throw new UncheckedIOException(ex);
        }
    }
}
