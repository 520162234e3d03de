package io.syncguard.verification.matrix;

import java.io.FileOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicLong;

/** The calls of one process, in a file that survives the end of the process. Thread-safe. */
final class CallLog implements AutoCloseable {

    private static final int COLUMNS = 11;

    private final String process;
    private final FileOutputStream file;
    private final AtomicLong numbers = new AtomicLong();

    CallLog(String process, Path path) {
        this.process = process;
        try {
            this.file = new FileOutputStream(path.toFile());
        } catch (IOException ex) {
            throw new UncheckedIOException(ex);
        }
    }

    Call begin(Call.Kind kind, String key, long waitMillis) {
        return write(Call.begin(process, numbers.incrementAndGet(), kind, key, waitMillis));
    }

    /** A later line with the same number replaces an earlier one. */
    Call write(Call call) {
        byte[] line = (call.toLine() + "\n").getBytes(StandardCharsets.UTF_8);
        synchronized (this) {
            try {
                file.write(line);
            } catch (IOException ex) {
                throw new UncheckedIOException(ex);
            }
        }
        return call;
    }

    @Override
    public void close() throws IOException {
        file.close();
    }

    /** Reads the calls in these files. It ignores an incomplete last line, which a killed process may have left. */
    static List<Call> read(List<Path> files) {
        List<Call> calls = new ArrayList<>();
        for (Path file : files) {
            Map<Long, Call> byNumber = new LinkedHashMap<>();
            try {
                String text = Files.readString(file);
                text.substring(0, text.lastIndexOf('\n') + 1)
                        .lines()
                        .filter(line -> line.split("\t").length == COLUMNS)
                        .map(Call::ofLine)
                        .forEach(call -> byNumber.put(call.number(), call));
            } catch (IOException ex) {
                throw new UncheckedIOException(ex);
            }
            calls.addAll(byNumber.values());
        }
        return calls;
    }
}
