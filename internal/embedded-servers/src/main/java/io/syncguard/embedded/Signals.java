package io.syncguard.embedded;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;

/** Signals to processes, which Java sends only to its own children. */
final class Signals {

    private Signals() {}

    static void send(String signal, List<Long> pids) {
        List<String> command = new ArrayList<>(List.of("kill", "-" + signal));
        pids.forEach(pid -> command.add(Long.toString(pid)));
        try {
            new ProcessBuilder(command).start().waitFor();
        } catch (IOException | InterruptedException ex) {
            throw new IllegalStateException(ex);
        }
    }
}
