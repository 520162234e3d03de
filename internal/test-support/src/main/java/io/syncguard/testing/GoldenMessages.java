package io.syncguard.testing;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.stream.Collectors;

/** What a person reads after a mistake: one file of each module, with a section for each mistake. */
public final class GoldenMessages {

    private static final Path FILE = Path.of("src/test/resources/messages.txt");

    private static final String TITLE = "=== ";

    /** With the value {@code update}, the tests write the file. */
    private static final String PROPERTY = "syncguard.messages";

    private GoldenMessages() {}

    public static void compare(String mistake, String actual) {
        String text = TranslatedTexts.inEnglish(withLineFeeds(actual).strip());
        if ("update".equals(System.getProperty(PROPERTY))) {
            update(mistake, text);
        }
        assertThat(text)
                .as("%s in %s; changed on purpose? -D%s=update", mistake, FILE, PROPERTY)
                .isEqualTo(all().get(mistake));
    }

    /** The texts of this module by the names of their mistakes. */
    public static SortedMap<String, String> all() {
        return all(FILE);
    }

    /** The texts in such a file by the names of their mistakes. */
    public static SortedMap<String, String> all(Path file) {
        try {
            SortedMap<String, String> texts = new TreeMap<>();
            for (String section : ("\n" + withLineFeeds(Files.readString(file))).split("\n" + TITLE)) {
                String[] parts = section.split("\n", 2);
                if (!section.isBlank()) {
                    texts.put(parts[0], parts[1].strip());
                }
            }
            return texts;
        } catch (IOException ex) {
            throw new UncheckedIOException(ex);
        }
    }

    /** Spring Boot ends lines as the platform does, and a checkout may, too. */
    private static String withLineFeeds(String text) {
        return text.replace("\r\n", "\n");
    }

    /** Other processes of the build update other sections. */
    private static synchronized void update(String mistake, String actual) {
        try (FileChannel channel = FileChannel.open(
                        Path.of("target/messages.lock"), StandardOpenOption.CREATE, StandardOpenOption.WRITE);
                FileLock lock = channel.lock()) {
            assertThat(lock.isValid()).isTrue();
            SortedMap<String, String> texts = all();
            texts.put(mistake, actual);
            Files.writeString(
                    FILE,
                    texts.entrySet().stream()
                            .map(text -> TITLE + text.getKey() + "\n" + text.getValue() + "\n")
                            .collect(Collectors.joining("\n")));
        } catch (IOException ex) {
            throw new UncheckedIOException(ex);
        }
    }
}
