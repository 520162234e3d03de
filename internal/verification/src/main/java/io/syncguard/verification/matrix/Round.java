package io.syncguard.verification.matrix;

/**
 * One injection of a fault.
 *
 * @param from its begin
 * @param healed when it was over
 * @param recovered when each key had been used again
 */
record Round(Fault fault, long from, long healed, long recovered) {

    boolean overlaps(Gaps.Gap gap) {
        return gap.overlap(from, recovered) > 0;
    }
}
