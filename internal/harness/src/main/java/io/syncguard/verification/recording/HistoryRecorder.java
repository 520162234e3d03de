package io.syncguard.verification.recording;

import io.syncguard.spi.Hashes;
import io.syncguard.verification.history.HistoryEvent;
import io.syncguard.verification.history.HistoryEvent.Kind;
import io.syncguard.verification.history.HistoryEvent.Source;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.concurrent.atomic.AtomicLong;

/**
 * Appends the events of one process to its file. A written event survives {@code kill -9} of this process, because the
 * operating system has it. Thread-safe.
 *
 * <p>It uses no channel, because an interrupted thread would close it.
 */
public final class HistoryRecorder implements AutoCloseable {

    private final String process;
    private final FileOutputStream file;
    private final AtomicLong numbers = new AtomicLong();

    public HistoryRecorder(String process, Path path) {
        this.process = process;
        try {
            this.file = new FileOutputStream(path.toFile(), true);
        } catch (IOException ex) {
            throw new UncheckedIOException(ex);
        }
    }

    /** Creates an event of this process, which begins now. */
    public HistoryEvent begin(Kind kind, String client, String key, String lock) {
        return HistoryEvent.of(
                kind, new Source(process, client, numbers.incrementAndGet()), key, lock, System.nanoTime());
    }

    /** Copies the event under a new number, because one request may have several answers. */
    public HistoryEvent again(HistoryEvent event) {
        return new HistoryEvent(
                event.kind(),
                new Source(process, event.source().client(), numbers.incrementAndGet()),
                event.key(),
                event.lock(),
                event.start(),
                event.end(),
                event.outcome(),
                event.lease(),
                event.value());
    }

    /** Appends the event. A later event with the same number replaces an earlier one. */
    public void write(HistoryEvent event) {
        byte[] line = (event.toLine() + "\n").getBytes(StandardCharsets.UTF_8);
        synchronized (this) {
            try {
                file.write(line);
            } catch (IOException ex) {
                throw new UncheckedIOException(ex);
            }
        }
    }

    public static String hash(String lockId) {
        return Hashes.abbreviated(lockId);
    }

    @Override
    public void close() {
        try {
            file.close();
        } catch (IOException ex) {
            throw new UncheckedIOException(ex);
        }
    }
}
