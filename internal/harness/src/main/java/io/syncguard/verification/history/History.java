package io.syncguard.verification.history;

import io.syncguard.verification.history.HistoryEvent.Kind;
import io.syncguard.verification.history.HistoryEvent.Outcome;
import io.syncguard.verification.history.HistoryEvent.Source;
import java.io.BufferedWriter;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.BiConsumer;
import java.util.stream.Stream;

/**
 * The events of all processes, by key. Several million events do not fit in memory, so the lines are sorted into files
 * by the hash of their key, and one file is read at a time.
 */
public final class History {

    private static final int BUCKETS = 64;

    /** The library's only thread for late releases: a release that hangs there delays all others. */
    private static final String RELEASE_THREAD = "syncguard-release";

    private static final long STUCK_NANOS = 200_000_000L;

    private final Path directory;
    private final ProcessTimes processes = new ProcessTimes();
    private final Map<String, Long> counts = new TreeMap<>();

    private History(Path directory) {
        this.directory = directory;
    }

    /** Merges the files of the processes into new files in the directory. */
    public static History of(Collection<Path> files, Path directory) {
        History history = new History(directory);
        try {
            history.sort(files);
        } catch (IOException ex) {
            throw new UncheckedIOException(ex);
        }
        return history;
    }

    public ProcessTimes processes() {
        return processes;
    }

    /** The number of events by kind and outcome. */
    public Map<String, Long> counts() {
        return counts;
    }

    /** The number of calls that were answered or failed, without the observations of clients. */
    public long operations() {
        return counts.entrySet().stream()
                .filter(count -> Stream.of(Kind.ACQUIRE, Kind.EXTEND, Kind.RELEASE, Kind.LOOKUP, Kind.JOINED)
                        .anyMatch(kind -> count.getKey().startsWith(kind + " ")))
                .mapToLong(Map.Entry::getValue)
                .sum();
    }

    /**
     * Passes the events of each key to the reader. An answered event replaces its line without an answer. May be called
     * once per history.
     */
    public void forEachKey(BiConsumer<String, List<HistoryEvent>> reader) {
        for (int bucket = 0; bucket < BUCKETS; bucket++) {
            eventsByKey(bucket).forEach((key, events) -> {
                events.values().forEach(event -> counts.merge(event.kind() + " " + event.outcome(), 1L, Long::sum));
                reader.accept(key, new ArrayList<>(events.values()));
            });
        }
    }

    private void sort(Collection<Path> files) throws IOException {
        List<BufferedWriter> buckets = new ArrayList<>();
        try {
            for (int bucket = 0; bucket < BUCKETS; bucket++) {
                buckets.add(Files.newBufferedWriter(bucketFile(bucket)));
            }
            for (Path file : files) {
                sort(file, buckets);
            }
        } finally {
            for (BufferedWriter bucket : buckets) {
                bucket.close();
            }
        }
    }

    private void sort(Path file, List<BufferedWriter> buckets) throws IOException {
        boolean torn = isTorn(file);
        String before = null;
        try (var lines = Files.newBufferedReader(file)) {
            for (String line = lines.readLine(); line != null; line = lines.readLine()) {
                if (before != null) {
                    sort(before, buckets);
                }
                before = line;
            }
        }
        if (before != null && !torn) {
            sort(before, buckets);
        }
    }

    /** A process that is killed while it writes leaves half a line. */
    private static boolean isTorn(Path file) throws IOException {
        try (var bytes = Files.newByteChannel(file)) {
            if (bytes.size() == 0) {
                return false;
            }
            var last = java.nio.ByteBuffer.allocate(1);
            bytes.position(bytes.size() - 1).read(last);
            return last.get(0) != '\n';
        }
    }

    private void sort(String line, List<BufferedWriter> buckets) throws IOException {
        HistoryEvent event = HistoryEvent.ofLine(line, text -> text);
        String process = event.source().process();
        processes.sawAlive(process, event.end() == HistoryEvent.NEVER ? event.start() : event.end());
        if (isStuckRelease(event)) {
            processes.sawReleaseStuck(process, event.end());
        }
        if (event.is(Kind.UNDISTURBED)) {
            processes.sawUndisturbed(event.start(), event.end());
        }
        if (event.is(Kind.CRASHED)) {
            processes.sawCrash(event.start(), event.end());
        }
        if (event.is(Kind.PROCESS_STARTED)) {
            processes.sawWaiterTtl(process, event.value());
        } else if (!event.is(Kind.PROCESS_ENDED)) {
            BufferedWriter bucket = buckets.get(Math.floorMod(event.key().hashCode(), BUCKETS));
            bucket.write(line);
            bucket.write('\n');
        }
    }

    private static boolean isStuckRelease(HistoryEvent event) {
        return event.is(Kind.RELEASE)
                && event.source().client().equals(RELEASE_THREAD)
                && event.end() != HistoryEvent.NEVER
                && event.end() - event.start() > STUCK_NANOS;
    }

    private Map<String, Map<Source, HistoryEvent>> eventsByKey(int bucket) {
        Map<String, String> texts = new HashMap<>();
        Map<String, Map<Source, HistoryEvent>> byKey = new LinkedHashMap<>();
        try (Stream<String> lines = Files.lines(bucketFile(bucket))) {
            lines.forEach(line -> {
                HistoryEvent event = HistoryEvent.ofLine(line, text -> texts.computeIfAbsent(text, same -> same));
                byKey.computeIfAbsent(event.key(), key -> new LinkedHashMap<>())
                        .merge(event.source(), event, History::answered);
            });
        } catch (IOException ex) {
            throw new UncheckedIOException(ex);
        }
        return byKey;
    }

    private static HistoryEvent answered(HistoryEvent one, HistoryEvent other) {
        return one.outcome() == Outcome.UNKNOWN && one.end() == HistoryEvent.NEVER ? other : one;
    }

    private Path bucketFile(int bucket) {
        return directory.resolve("bucket-" + bucket);
    }
}
