package io.syncguard.testing;

import io.syncguard.embedded.Signals;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.stream.Stream;

/**
 * A child process in which no thread can be started for a while: {@code Thread.start} throws the
 * {@code OutOfMemoryError} of the JVM itself. Its threads have large stacks, and the parent limits its address
 * space so that no further stack fits.
 *
 * <p>Linux only. A limit on the number of processes would not work: it does not apply to root, and counts the processes
 * of others.
 */
public final class ThreadShortage {

    private static final long STACK_MEGABYTES = 256;

    /** The memory for the JVM itself, which ends if it cannot map a page. Less than a stack. */
    private static final long SPARE_MEGABYTES = 200;

    private static final Path PRLIMIT = Path.of("/usr/bin/prlimit");

    /** Used in the child: the threads that used up the remaining stacks. */
    private final List<Thread> last = new ArrayList<>();

    private final CountDownLatch enough = new CountDownLatch(1);

    private ThreadShortage() {}

    public static boolean isPossible() {
        return Files.isReadable(Path.of("/proc/self/status")) && Files.isExecutable(PRLIMIT);
    }

    /** The command that starts the JVM of a child. Its first argument is the executable. */
    public static ProcessBuilder newProcess(List<String> command) {
        List<String> arguments = new ArrayList<>(command);
        arguments.add(1, "-Xss" + STACK_MEGABYTES + "m");
        ProcessBuilder process = new ProcessBuilder(arguments);
        // Each further arena of the C library would take the address space of several pages at once.
        process.environment().put("MALLOC_ARENA_MAX", "1");
        return process;
    }

    /**
     * Limits the process so that it has no room for a further stack. It may reuse stacks of ended threads. The process
     * is stopped while this reads its size: a thread that starts then would take all the room that is left for the JVM.
     */
    public static void limit(long pid) {
        send("STOP", pid);
        try {
            while (!status(pid, "State").contains("stopped")) {
                Thread.onSpinWait();
            }
            long kilobytes = Long.parseLong(status(pid, "VmSize").replaceAll("\\D", ""));
            setLimit(pid, Long.toString((kilobytes + SPARE_MEGABYTES * 1024) * 1024));
        } finally {
            send("CONT", pid);
        }
    }

    private static void send(String signal, long pid) {
        if (!Signals.send(signal, List.of(pid))) {
            throw new IllegalStateException("Failed: SIG" + signal + " to " + pid);
        }
    }

    private static String status(long pid, String field) {
        try (Stream<String> lines = Files.lines(Path.of("/proc/" + pid + "/status"))) {
            return lines.filter(line -> line.startsWith(field + ":"))
                    .findFirst()
                    .orElseThrow();
        } catch (IOException ex) {
            throw new UncheckedIOException(ex);
        }
    }

    public static void unlimit(long pid) {
        setLimit(pid, "unlimited");
    }

    private static void setLimit(long pid, String bytes) {
        run(PRLIMIT.toString(), "--pid", Long.toString(pid), "--as=" + bytes + ":unlimited");
    }

    private static void run(String... command) {
        try {
            if (new ProcessBuilder(command).inheritIO().start().waitFor() != 0) {
                throw new IllegalStateException("Failed: " + String.join(" ", command));
            }
        } catch (IOException ex) {
            throw new UncheckedIOException(ex);
        } catch (InterruptedException ex) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException(ex);
        }
    }

    /** Called in the limited child: uses up the remaining stacks. Returns when no thread can be started. */
    public static ThreadShortage begin() {
        ThreadShortage shortage = new ThreadShortage();
        try {
            while (shortage.last.size() < 1000) {
                Thread thread = new Thread(shortage::stay, "last-" + shortage.last.size());
                thread.setDaemon(true);
                thread.start();
                shortage.last.add(thread);
            }
        } catch (OutOfMemoryError ex) {
            return shortage;
        }
        shortage.end();
        throw new IllegalStateException("A thousand threads could be started");
    }

    /** Called in the child: whether a thread can be started. The thread ends at once. */
    public static boolean isOver() {
        try {
            Thread thread = new Thread(() -> {}, "trial");
            thread.setDaemon(true);
            thread.start();
            return true;
        } catch (OutOfMemoryError ex) {
            return false;
        }
    }

    /** Called in the child: frees the stacks. The parent removes the limit. */
    public void end() {
        enough.countDown();
    }

    private void stay() {
        try {
            enough.await();
        } catch (InterruptedException ex) {
            // This thread ends as well.
        }
    }
}
