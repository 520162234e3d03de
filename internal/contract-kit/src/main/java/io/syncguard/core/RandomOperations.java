package io.syncguard.core;

import java.util.ArrayList;
import java.util.List;
import java.util.Random;

/**
 * Random operations in the order of real callers: a caller that was granted a key makes no second request, and no lock
 * id is used twice.
 */
final class RandomOperations {

    private static final String[] KEYS = {"k", "k", "k", "m"};
    private static final String[] MODES = {"exclusive", "exclusive", "shared", "shared", "1", "2", "2", "3"};
    private static final int[] MILLIS = {1, 2, 998, 999, 1000, 1001, 5000, 58_999, 59_999, 60_000, 61_000};

    private final Random random;
    private final List<String> waiting = new ArrayList<>();
    private final List<String> requests = new ArrayList<>();
    private final List<String> holding = new ArrayList<>();
    private int callers;

    RandomOperations(long seed) {
        random = new Random(seed);
    }

    /** Runs this number of operations, and returns them with the answers of this store. */
    String on(StoppedStore newStore, int operations) {
        try (StoppedStore store = newStore;
                AnswerScript script = new AnswerScript(store)) {
            StringBuilder answered = new StringBuilder();
            for (int i = 0; i < operations; i++) {
                String line = script.replayLine(next());
                remember(line);
                answered.append(line).append('\n');
                if (line.startsWith("time passes")) {
                    // Deletes lapsed queue entries: a release that finds one in front may wake instead of handing over.
                    answered.append(script.replay("k swept\nm swept"));
                }
            }
            return answered.toString();
        }
    }

    private String next() {
        int what = random.nextInt(100);
        if (what < 25 || callers < 3) {
            return newRequest();
        }
        if (what < 45 && !waiting.isEmpty()) {
            return requests.get(random.nextInt(requests.size()));
        }
        if (what < 60) {
            return oneOf(holding) + " extends " + ttl();
        }
        if (what < 75) {
            return random.nextInt(4) == 0
                    ? oneOf(waiting) + " releases"
                    : oneOf(holding) + " releases" + (random.nextInt(4) == 0 ? " after " + millis() : "");
        }
        return switch (what % 5) {
            case 0 -> oneOf(waiting) + "," + oneOf(waiting) + " renew";
            case 1 -> key() + " leases?";
            case 2 -> oneOf(holding) + " lease?";
            case 3 -> "time passes " + millis();
            default -> key() + " locked?";
        };
    }

    private String newRequest() {
        String mode = MODES[random.nextInt(MODES.length)];
        boolean waits = random.nextInt(3) > 0;
        return "C" + ++callers + (waits ? " waits " : " tries ") + key() + " " + mode + " " + ttl()
                + (waits && !mode.equals("shared") && random.nextBoolean() ? " hand-over" : "");
    }

    private void remember(String line) {
        String operation = line.split(" = ")[0];
        String caller = line.split(" ")[0];
        if (line.contains(" = queued") && !waiting.contains(caller)) {
            waiting.add(caller);
            requests.add(operation);
        } else if (line.contains(" = granted") || line.contains(" = refused")) {
            forget(caller);
            holding.add(caller);
        } else if (line.contains(" releases")) {
            forget(caller);
        }
    }

    private void forget(String caller) {
        int index = waiting.indexOf(caller);
        if (index >= 0) {
            waiting.remove(index);
            requests.remove(index);
        }
    }

    /** Picks one of the latest callers. */
    private String oneOf(List<String> some) {
        int last = Math.min(some.size(), 6);
        return last == 0 ? "C1" : some.get(some.size() - 1 - random.nextInt(last));
    }

    private String key() {
        return KEYS[random.nextInt(KEYS.length)];
    }

    /** Picks a ttl. A request may take a third of it, which has to be enough on a busy machine. */
    private int ttl() {
        return 3000 + millis();
    }

    private int millis() {
        return MILLIS[random.nextInt(MILLIS.length)];
    }
}
