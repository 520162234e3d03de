package io.syncguard.verification.matrix;

import io.syncguard.verification.matrix.Fleet.Load;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.regex.Pattern;

/**
 * A campaign that can be run by its name.
 *
 * @param name the name of its files and of its part of the report
 * @param load the work of the processes
 * @param site starts the servers; a failed assumption says what is missing
 * @param faults the faults of the campaign on this site
 * @param notPromised names of the rules that these faults may break
 * @param why the reason for that; empty if all rules hold
 */
record Plan<S extends Site>(
        String name, Load load, Starter<S> site, Faults<S> faults, Set<String> notPromised, String why) {

    @FunctionalInterface
    interface Starter<S> {
        S start() throws IOException;
    }

    @FunctionalInterface
    interface Faults<S> {
        List<Fault> on(S site, Fleet fleet, Load load);
    }

    /** A plan on which every rule holds. */
    static <S extends Site> Plan<S> of(String name, Starter<S> site, Faults<S> faults) {
        return new Plan<>(name, Load.USUAL, site, faults, Set.of(), "");
    }

    Plan<S> with(Load other) {
        return new Plan<>(name, other, site, faults, notPromised, why);
    }

    Plan<S> butNot(Set<String> rules, String because) {
        return new Plan<>(name, load, site, faults, rules, because);
    }

    /** Returns the plan with only the faults whose whole name matches. */
    Plan<S> only(Pattern names) {
        return new Plan<>(
                name, load, site, (servers, fleet, of) -> matching(names, servers, fleet, of), notPromised, why);
    }

    private List<Fault> matching(Pattern names, S servers, Fleet fleet, Load of) {
        List<Fault> all = faults.on(servers, fleet, of);
        List<Fault> chosen = all.stream()
                .filter(fault -> names.matcher(fault.name()).matches())
                .toList();
        if (chosen.isEmpty()) {
            throw new IllegalArgumentException("No fault of " + name + " matches " + names + ": " + all);
        }
        return chosen;
    }

    /**
     * @param rounds the number of rounds of each fault; a fault with a share gets fewer
     * @param tolerance added to the promised times, for other load on the machine
     */
    CampaignReport run(int rounds, long seed, Duration tolerance) throws Exception {
        try (S servers = site.start()) {
            return new Campaign<>(this, servers, seed, tolerance).run(rounds);
        }
    }

    /** Injects random faults for the duration in the settings. */
    Soak.Report soak(Soak.Settings settings, long seed) throws Exception {
        try (S servers = site.start()) {
            return new Soak<>(this, servers, settings, seed).run();
        }
    }

    @Override
    public String toString() {
        return name;
    }
}
