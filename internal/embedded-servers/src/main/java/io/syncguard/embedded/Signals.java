package io.syncguard.embedded;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;

/** Signals to processes, for which Java has no method. */
public final class Signals {

    private Signals() {}

    /**
     * @param signal such as {@code STOP}
     * @return whether all processes were there to get it
     */
    public static boolean send(String signal, List<Long> pids) {
        List<String> command = new ArrayList<>(List.of("kill", "-" + signal));
        pids.forEach(pid -> command.add(Long.toString(pid)));
        ProcessBuilder kill = new ProcessBuilder(command);
        // In Turkish, the program of procps-ng does not know CONT, and the process would stay stopped for good.
        kill.environment().put("LC_ALL", "C");
        try {
            return kill.start().waitFor() == 0;
        } catch (IOException ex) {
            throw new IllegalStateException(ex);
        } catch (InterruptedException ex) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException(ex);
        }
    }
}
