package io.syncguard.verification.inputs;

import java.util.Random;

/**
 * Length of a run: that of a build, unless {@code -Dsyncguard.inputs.calls} sets the calls of all runs together.
 *
 * @param seed of all random values; {@code -Dsyncguard.inputs.seed} repeats them
 * @param calls how many this run makes
 * @param isLong whether the property is set
 */
record InputSettings(long seed, int calls, boolean isLong) {

    /**
     * @param inABuild calls of this run in a build
     * @param percent its share of a longer run
     */
    static InputSettings of(int inABuild, int percent) {
        Integer calls = Integer.getInteger("syncguard.inputs.calls");
        return new InputSettings(
                Long.getLong("syncguard.inputs.seed", new Random().nextInt(Integer.MAX_VALUE)),
                calls == null ? inABuild : (int) (calls * (long) percent / 100),
                calls != null);
    }

    String command() {
        return "-Dsyncguard.inputs.seed=" + seed;
    }
}
