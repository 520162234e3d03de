/** Measures the figures of docs/benchmarks.md. */
@NullMarked
package io.syncguard.benchmarks;

import org.jspecify.annotations.NullMarked;
