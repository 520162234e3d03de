package io.syncguard.testing;

import java.util.stream.Stream;

/** What the usual build takes of many cases of one kind. The profile "verification" takes all. */
public final class UsualBuild {

    private static final boolean HAS_ALL = Boolean.getBoolean("syncguard.verification");

    private UsualBuild() {}

    /** The first cases alone, which stand for the others; all of them in the profile. */
    public static <T> Stream<T> first(int number, Stream<T> all) {
        return HAS_ALL ? all : all.limit(number);
    }
}
