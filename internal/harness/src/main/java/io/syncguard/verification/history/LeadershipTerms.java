package io.syncguard.verification.history;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;

/**
 * The terms of one election, by the proofs of leadership that its members recorded, and the rules for them.
 *
 * <p>A proof says: at some moment between two times, this member led, in this term and under this fence. Both times are
 * readings of {@link System#nanoTime}, which is one clock for all processes of a Linux machine. The moment itself is
 * not known, so the rules only assume that it lies between the two:
 *
 * <ol>
 *   <li>A member leads from its first proof of a term to its last. For any two terms, the last proof of one must begin
 *       before the first proof of the other ends: only then can one term have ended before the other began.
 *   <li>A later term has larger fences than all terms before it.
 *   <li>Within a term fences do not become smaller.
 * </ol>
 */
public final class LeadershipTerms {

    /**
     * The proofs of one term, in summary.
     *
     * @param began the end of its first proof: the member led at this time or earlier
     * @param ended the begin of its last proof: the member led at this time or later
     */
    public record Term(String member, int number, long began, long ended, long firstFence, long lastFence) {

        private Term and(Term later) {
            return new Term(member, number, began, later.ended, firstFence, later.lastFence);
        }

        private boolean mayBeBefore(Term other) {
            return ended <= other.began;
        }

        private boolean hasSmallerFencesThan(Term other) {
            return lastFence < other.firstFence;
        }
    }

    private final Map<String, Term> terms = new LinkedHashMap<>();
    private final List<String> violations = new ArrayList<>();
    private long proofs;

    /** Adds a proof. The proofs of one term must be added in their order. */
    void add(String member, int term, long fence, long from, long until) {
        proofs++;
        terms.merge(member + " " + term, new Term(member, term, until, from, fence, fence), (before, proof) -> {
            if (fence < before.lastFence) {
                violations.add("Fence " + fence + " after a larger one in " + before);
            }
            return before.and(proof);
        });
    }

    /** Adds a proof, whose value is the number of the term in its process. */
    void add(HistoryEvent proof) {
        add(proof.source().process(), (int) proof.value(), proof.lease().fence(), proof.start(), proof.end());
    }

    /** Adds the proofs of a process. The last line of a killed process may be incomplete, and is then ignored. */
    public void read(Path file) {
        try {
            String text = Files.readString(file);
            text.substring(0, text.lastIndexOf('\n') + 1)
                    .lines()
                    .map(line -> HistoryEvent.ofLine(line, same -> same))
                    .forEach(this::add);
        } catch (IOException ex) {
            throw new UncheckedIOException(ex);
        }
    }

    public List<String> violations() {
        List<String> all = new ArrayList<>(violations);
        List<Term> each = terms();
        for (int i = 0; i < each.size(); i++) {
            for (int j = i + 1; j < each.size(); j++) {
                compare(each.get(i), each.get(j), all);
            }
        }
        return all;
    }

    private static void compare(Term one, Term other, List<String> violations) {
        boolean oneFirst = one.mayBeBefore(other);
        boolean otherFirst = other.mayBeBefore(one);
        if (!oneFirst && !otherFirst) {
            violations.add("Two leaders at the same time: " + one + " and " + other);
        } else if (!(oneFirst && one.hasSmallerFencesThan(other)) && !(otherFirst && other.hasSmallerFencesThan(one))) {
            violations.add("Fences do not grow: " + one + " and " + other);
        }
    }

    public List<Term> terms() {
        return List.copyOf(terms.values());
    }

    public long proofs() {
        return proofs;
    }

    /** The time from a moment to the first proof in a new term. */
    public OptionalLong nanosToNextTerm(long moment) {
        return terms.values().stream()
                .mapToLong(Term::began)
                .filter(began -> began > moment)
                .map(began -> began - moment)
                .min();
    }
}
