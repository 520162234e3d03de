package io.syncguard.core;

import static org.assertj.core.api.Assertions.assertThat;

import io.syncguard.spi.FenceSource;
import java.util.Random;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** The answers of a store on a server beside those of the store in memory. */
public abstract class ServerAnswersContract extends SameAnswersContract {

    private static final long SEED = Long.getLong("syncguard.answers.seed", new Random().nextInt(Integer.MAX_VALUE));

    /** Whether the store distinguishes a lapsed lease from an unknown one until it is swept. */
    protected abstract boolean remembersLapsedLeases();

    /** The only difference between the servers. */
    @ParameterizedTest
    @EnumSource
    void a_lapsed_lease_is_distinguished_from_an_unknown_one_or_not(FenceSource fences) {
        String over = "A tries k exclusive 600000\ntime passes 601001\nA extends 600000\nA releases\n";

        assertThat(answers(newStore(fences), over))
                .contains(
                        remembersLapsedLeases() ? "= Expired" : "= NotFound",
                        remembersLapsedLeases() ? "= EXPIRED" : "= NOT_FOUND");
    }

    @Tag("verification")
    @ParameterizedTest
    @EnumSource
    void random_operations_have_the_same_answers(FenceSource fences) {
        String said = new RandomOperations(SEED).on(new InMemoryStoppedStore(fences), 400);

        assertThat(withoutTheDifference(answers(newStore(fences), said)))
                .as("-Dsyncguard.answers.seed=" + SEED)
                .isEqualTo(withoutTheDifference(said));
    }

    /** The release of a lapsed queue entry may answer that it left, that it expired, or that it is unknown. */
    private static String withoutTheDifference(String answers) {
        return answers.replace("NotFound", "Expired")
                .replace("NOT_FOUND", "EXPIRED")
                .replace("LEFT", "EXPIRED");
    }
}
