package io.syncguard.verification.matrix;

/**
 * One injection of a fault.
 *
 * @param from when the injection began
 * @param healed when the fault was over
 * @param recovered when every key had been used again
 */
record Round(Fault fault, long from, long healed, long recovered) {

    boolean overlaps(Gaps.Gap gap) {
        return gap.overlap(from, recovered) > 0;
    }
}
