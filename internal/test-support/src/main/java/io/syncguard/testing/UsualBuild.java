package io.syncguard.testing;

import java.util.stream.Stream;

/** Selects the cases of the usual build. The profile "verification" takes all cases. */
public final class UsualBuild {

    private static final boolean HAS_ALL = Boolean.getBoolean("syncguard.verification");

    private UsualBuild() {}

    /** Returns only the first cases, as examples of the others. In the profile it returns all. */
    public static <T> Stream<T> first(int number, Stream<T> all) {
        return HAS_ALL ? all : all.limit(number);
    }
}
